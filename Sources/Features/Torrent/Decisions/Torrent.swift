package import PawlBase
package import PawlCollections
import PawlDisk

/// The files of a torrent, and the digests of their pieces (BEP 3, BEP 52).
///
/// Of one that has both versions (BEP 52, hybrid) the second is read: there no piece has bytes of two files.
package struct Torrent: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        /// The names of its path, below ``Torrent/name`` where there is more than one file.
        package var names: [[UInt8]]
        /// In bytes.
        package var size: Int64
        /// Where its bytes begin among those of all files.
        package var start: Int64
        /// Zeros, which are in no file (BEP 47).
        package var isPadding = false
        /// The digests of its pieces, if it has a tree of its own (BEP 52).
        package var tree: PieceHashes?
        /// Why it cannot be downloaded.
        package var flaw: String?

        package var end: Int64 { start + size }
    }

    /// The first of its kind, in hexadecimal digits; see ``TorrentVersion``.
    package private(set) var infoHash: String
    /// The name of the only file, or of the folder of all.
    package let name: [UInt8]
    /// Whether `name` is a folder.
    package let hasFolder: Bool
    package let pieceLength: Int64
    /// In order, with those that are padding.
    package let files: [File]
    /// SHA-1 digests of pieces of all files as one (BEP 3); empty where files have trees.
    let digests: [UInt8]
    /// URLs of servers with the content (BEP 19), in order.
    package private(set) var webSeeds: [String] = []
    /// Servers that are not used: their protocol is not supported.
    package private(set) var unusable: [String] = []
    /// URLs of servers that have its pieces (BEP 17), in order.
    package private(set) var pieceServers: [WebAddress] = []
    /// What they know its pieces by; `nil` for a torrent without those of the first version.
    let plainPieces: PlainPieces?

    /// Why bytes are no usable torrent.
    package struct Fault: Error, Hashable, Sendable { package let words: String }

    package static let longest = Bencode.Limits.length
    static let mostFiles = 200_000
    private static let mostSeeds = 100

    package init(_ bytes: [UInt8]) throws(Fault) {
        let document: Bencode.Document
        do throws(Bencode.Fault) { document = try Bencode.document(bytes) } catch { throw Fault(words: error.words) }
        guard let info = document.root["info"], info.members != nil, let span = document.spans[Array("info".utf8)]
        else { throw Fault(words: "it is no torrent") }
        guard let name = info["name.utf-8"]?.bytes ?? info["name"]?.bytes, !name.isEmpty else {
            throw Fault(words: "it has no name")
        }
        self.name = name
        guard let pieceLength = info["piece length"]?.integer, pieceLength > 0, pieceLength <= Self.longestPiece else {
            throw Fault(words: "its pieces have an impossible length")
        }
        self.pieceLength = pieceLength
        let isTree = info["meta version"]?.integer == 2
        if let version = info["meta version"]?.integer, version != 2, info["pieces"] == nil {
            throw Fault(words: "its version \(version) is not supported")
        }
        if isTree {
            var reader = TorrentTree(pieceLength: pieceLength, layers: document.root["piece layers"])
            files = try reader.files(of: info)
            digests = []
            hasFolder = files.count != 1 || files[0].names != [name]
        } else {
            (files, digests) = try Self.plainFiles(of: info, name: name, pieceLength: pieceLength)
            hasFolder = info["files"] != nil
        }
        let written = Array(bytes[span])
        infoHash = Hexadecimal.text(ContentDigest.digest(isTree ? .sha256 : .sha1, of: written))
        plainPieces =
            info["pieces"] == nil
            ? nil
            : PlainPieces(
                infoHash: ContentDigest.digest(.sha1, of: written), files, by: isTree ? pieceLength : nil)
        takeServers(document.root)
    }

    /// Longer ones are in no torrent that programs write.
    static let longestPiece: Int64 = 256 << 20

    /// The bytes of all files.
    package var size: Int64 { files.reduce(0) { $0 + ($1.isPadding ? 0 : $1.size) } }

    /// Indices of what becomes files.
    package var content: [Int] { files.indices.filter { !files[$0].isPadding } }

    private mutating func takeServers(_ root: Bencode) {
        add(webSeeds: Self.texts(root["url-list"]))
        for url in Self.texts(root["httpseeds"]).prefix(Self.mostSeeds) where !url.isEmpty {
            guard plainPieces != nil, let address = try? WebAddress.parse(url).address,
                PieceServer(url: address) != nil
            else {
                unusable.append(Redaction.address(url))
                continue
            }
            if !pieceServers.contains(address) { pieceServers.append(address) }
        }
    }

    private static func texts(_ value: Bencode?) -> [String] {
        let texts: [[UInt8]] =
            switch value {
            case .bytes(let text): [text]
            case .list(let values): values.compactMap(\.bytes)
            case .integer, .dictionary, nil: []
            }
        return texts.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Adds servers that have the content.
    package mutating func add(webSeeds urls: [String]) {
        for url in urls.prefix(Self.mostSeeds) where !url.isEmpty {
            guard let address = try? WebAddress.parse(url).address,
                ["http", "https", "ftp", "ftps"].contains(address.scheme.name)
            else {
                unusable.append(Redaction.address(url))
                continue
            }
            if !webSeeds.contains(where: { $0.hasSameBytes(as: address.text) }) { webSeeds.append(address.text) }
        }
    }

    /// The path of a file below the user's folder; throws why it cannot be one.
    package func path(of file: Int) throws(EntryFlaw) -> String {
        if let flaw = files[file].flaw { throw EntryFlaw(why: flaw) }
        return try EntryName.path((hasFolder ? [name] : []) + files[file].names)
    }

    /// Where the servers have a file (BEP 19, BEP 17); none for a name that could lead elsewhere.
    package func addresses(of file: Int) -> [String] {
        guard (try? path(of: file)) != nil else { return [] }
        let names = (hasFolder ? [name] : []) + files[file].names
        let path = names.map { PercentCoding.reversible($0, keepingSlash: false) }.joined(separator: "/")
        let whole = webSeeds.map { seed in
            if seed.utf8.last == .slash { return seed + path }
            return hasFolder ? seed + "/" + path : seed
        }
        guard let plainPieces else { return whole }
        return whole
            + pieceServers.compactMap { url in
                PieceServer(
                    infoHash: plainPieces.infoHash, start: plainPieces.starts[file], length: files[file].size,
                    pieceLength: pieceLength, url: url)?.address?.text
            }
    }

    /// Why nothing can be downloaded; `nil` if something can.
    package var obstacle: String? {
        guard webSeeds.isEmpty, pieceServers.isEmpty else { return nil }
        guard unusable.isEmpty else { return "of its web seeds none can be used: \(unusable[0])" }
        return "it names no web seed, and there is no download from peers"
    }
}

/// The pieces of the first version, as servers of pieces number them.
struct PlainPieces: Hashable, Sendable {
    /// SHA-1.
    let infoHash: [UInt8]
    /// Where each file begins among the bytes of all.
    let starts: [Int64]

    /// `length`: that of pieces, if each file begins with one of its own (BEP 52, hybrid).
    init(infoHash: [UInt8], _ files: [Torrent.File], by length: Int64?) {
        self.infoHash = infoHash
        guard let length else {
            starts = files.map(\.start)
            return
        }
        var end: Int64 = 0
        starts = files.map { file in
            let start = (end + length - 1) / length * length
            end = start + file.size
            return start
        }
    }
}
