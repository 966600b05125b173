package import PawlBase
import PawlIntegrity

/// What a text or file is that somebody drops, pastes or gives as a list: recognized by its content, not by its name.
package enum DroppedContent: Hashable, Sendable {
    /// Downloads with their mirrors, digests and header fields.
    case entries([InputEntry])
    /// An input file, with its options as written.
    case list([InputEntry])
    case torrent
    /// Text in which URLs are to be looked for.
    case text(String)

    /// `name` is that of the file in messages.
    ///
    /// Throws code 28 for what is no list of downloads.
    package init(_ bytes: [UInt8], named name: String) throws(Failure) {
        let content = UnicodeText.utf8(bytes)
        if Self.isTorrent(bytes[...]) {
            self = .torrent
            return
        }
        if Self.isMetalink(content[...]) {
            self = .entries(try Self.entries(ofMetalink: content, named: name))
            return
        }
        guard let text = Self.text(content[...]) else {
            throw Self.refusal(name, .init("not-a-list", "it is neither a list of URLs nor a Metalink"))
        }
        // An option of a list may have the name of a program.
        if InputFile.hasOptions(content) {
            self = .list(try InputFile.parse(content, name: Redaction.printable(name)))
            return
        }
        if let entries = try TransferCommand.found(in: text) {
            self = .entries(entries)
            return
        }
        if content.count <= SumsFile.longest, !text.contains("://"), SumsFile(content, named: name.utf8) != nil {
            throw Self.refusal(
                name,
                .init(
                    "only-checksums",
                    "it has checksums, but no URLs; add the URL of a file, with its digest of this list as the checksum"
                ))
        }
        self = .text(text)
    }

    /// A dictionary in Bencode: `d8:announce…`.
    private static func isTorrent(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: "d") else { return false }
        let digits = bytes.dropFirst().prefix { $0.isDigit }
        guard (1...3).contains(digits.count), let length = Int(String(decoding: digits, as: UTF8.self)) else {
            return false
        }
        let rest = bytes[digits.endIndex...]
        return rest.first == UInt8(ascii: ":") && length > 0 && rest.count > length
    }

    /// `nil` for what is no text: control characters are at its beginning.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        let isBinary = bytes.prefix(4096).contains { $0 < 9 || (14..<32).contains($0) && $0 != 27 }
        return isBinary ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// XML whose first element is `metalink`.
    package static func isMetalink(_ bytes: ArraySlice<UInt8>) -> Bool {
        let text = (text(bytes) ?? "").utf8.prefix(64 << 10)
        guard text.first(where: { !$0.isWhiteSpace }) == .less else { return false }
        // Behind declarations and comments.
        let tags = text.split(separator: .less).lazy.drop { tag in
            tag.allSatisfy(\.isWhiteSpace)
                || tag.first.map { [UInt8(ascii: "?"), UInt8(ascii: "!")].contains($0) } == true
        }
        let name = tags.first?.prefix { !$0.isWhiteSpace && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        return name?.split(separator: UInt8(ascii: ":")).last.map { $0.elementsEqual("metalink".utf8) } ?? false
    }

    /// One entry for each file of a Metalink.
    package static func entries(ofMetalink bytes: [UInt8], named name: String) throws(Failure) -> [InputEntry] {
        let metalink: Metalink
        do throws(Metalink.Fault) { metalink = try Metalink(bytes) } catch {
            throw Failure(.badOption, "cannot use the Metalink", at: name, because: error.words)
        }
        return metalink.files.map { file in
            var entry = InputEntry(addresses: file.sources.map(\.address.text), line: 0)
            func add(_ name: String, _ value: String) {
                entry.options.append(InputOption(name: name, value: value, line: 0))
            }
            add("output", (file.folders + [file.name]).joined(separator: "/"))
            for checksum in file.checksums { add("checksum", checksum.text) }
            if let size = file.size { add("length", String(size)) }
            entry.pieces = file.pieces
            return entry
        }
    }

    static let noTorrents = LocalizableMessage("torrents-unsupported", "torrents are not supported")

    private static func refusal(_ name: String, _ why: LocalizableMessage) -> Failure {
        Failure(.badOption, "cannot use", at: Redaction.printable(name), because: why)
    }
}
