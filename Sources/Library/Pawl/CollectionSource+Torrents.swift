#if Features
package import PawlBase
import PawlTorrent

// Torrents: their bytes are in the queue, as no URL leads to them.
extension CollectionSource {
    /// The files of a torrent; throws code 28 for what cannot be used.
    ///
    /// `place`: its path or URL, for messages.
    package init(torrent bytes: [UInt8], at place: String) throws(Failure) {
        do throws(Torrent.Fault) { self = .torrent(try Torrent(bytes), at: place) } catch {
            throw Failure(
                .badOption, "cannot use", at: Redaction.printable(place),
                because: .init(stringLiteral: error.words))
        }
    }

    /// Bytes of a torrent that are read.
    package static let longestTorrent = Torrent.longest

    static let torrentMark = "torrent://"

    /// `torrent://NAME?BASE64`, in place of a URL: in messages it ends behind the name.
    package static func text(ofTorrent bytes: [UInt8], named name: String) -> String {
        torrentMark + PercentCoding.reversible(name.utf8, keepingSlash: false) + "?" + Base64.encode(bytes)
    }

    /// How messages name a source: the torrent in a text by its name, any other by its URL.
    package static func shown(_ source: String) -> String {
        nameOfTorrent(in: source).map { Redaction.printable($0) } ?? Redaction.address(source)
    }

    /// The name of the torrent in a text; `nil` for any other.
    static func nameOfTorrent(in text: String) -> String? {
        guard text.utf8.starts(with: torrentMark.utf8) else { return nil }
        let name = text.utf8.dropFirst(torrentMark.utf8.count).prefix { $0 != .questionMark }
        return String(decoding: PercentCoding.decoded(name), as: UTF8.self)
    }

    static func torrent(in text: String) throws(Failure) -> CollectionSource {
        let place = nameOfTorrent(in: text) ?? ""
        let rest = text.utf8.drop { $0 != .questionMark }
        guard let bytes = Base64.decode(rest.dropFirst()) else {
            throw Failure(
                .badOption, "cannot use", at: Redaction.printable(place), because: "it is not Base64")
        }
        return try CollectionSource(torrent: bytes, at: place)
    }
}
#endif
