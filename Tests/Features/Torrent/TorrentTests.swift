import PawlBase
import PawlCollections
import PawlDisk
import Testing

@testable import PawlTorrent

@Suite struct TorrentTests {
    private static func content(_ length: Int, _ seed: UInt8) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) ^ seed }
    }

    private static let files: [(path: String, content: [UInt8])] = [
        ("a", content(50, 1)), ("b/c", content(3, 2)), ("d", []), ("b/e", content(47, 3)),
    ]

    private static func fault(_ torrent: TorrentBytes) -> String? {
        do throws(Torrent.Fault) { _ = try Torrent(torrent.bytes) } catch { return error.words }
        return nil
    }

    @Test func `files have their paths, sizes and URLs`() throws {
        let torrent = try Torrent(TorrentBytes("n ä", Self.files, pieces: 20).bytes)
        #expect(torrent.content.map { try? torrent.path(of: $0) } == ["n ä/a", "n ä/b/c", "n ä/d", "n ä/b/e"])
        #expect(torrent.files.map(\.size) == [50, 3, 0, 47] && torrent.size == 100)
        #expect(torrent.addresses(of: 1) == ["http://host/n%20%C3%A4/b/c"])
        #expect(torrent.infoHash.utf8.count == 40 && torrent.obstacle == nil)
    }

    @Test func `pieces of several files are known by what each file has of them`() throws {
        let torrent = try Torrent(TorrentBytes("n", Self.files, pieces: 20).bytes)
        #expect(torrent.borders(of: 0) == [2] && torrent.borders(of: 1) == [2])
        #expect(torrent.borders(of: 2) == [] && torrent.borders(of: 3) == [2])
        let piece = torrent.border(2)
        #expect(piece.length == 20 && piece.parts.map(\.file) == [0, 1, 3])
        #expect(piece.parts.map(\.range) == [ByteRange(40, 50), ByteRange(0, 3), ByteRange(0, 7)])
        #expect(torrent.pieces(of: 0) == nil && torrent.pieces(of: 2) == nil)
        let (head, tail) = (ContentDigest.digest(.sha1, of: [1]), ContentDigest.digest(.sha1, of: [2]))
        let first = try #require(torrent.pieces(of: 0, with: [2: [0: tail]]))
        #expect(first.fits(50) && first.first == 20 && Array(first.digest(2)) == tail)
        #expect(Array(first.digest(1)) == ContentDigest.digest(.sha1, of: Array(Self.files[0].content[20..<40])))
        let last = try #require(torrent.pieces(of: 3, with: [2: [3: head]]))
        #expect(last.fits(47) && last.first == 7 && last.count == 3 && !last.isPadded)
        #expect(Array(last.digest(2)) == ContentDigest.digest(.sha1, of: Array(Self.files[3].content[27..<47])))
    }

    @Test func `padding makes no file, and the last piece before it is completed with zeros`() throws {
        let padded = [("a", Self.content(25, 1)), ("p", [UInt8](repeating: 0, count: 15)), ("b", Self.content(20, 2))]
        let torrent = try Torrent(TorrentBytes("n", padded, pieces: 20, padding: [1]).bytes)
        #expect(torrent.content == [0, 2] && torrent.borders(of: 0) == [] && torrent.borders(of: 2) == [])
        let pieces = try #require(torrent.pieces(of: 0))
        #expect(pieces.isPadded && pieces.padding(of: 1, in: 25) == 15 && pieces.padding(of: 0, in: 25) == 0)
        #expect(torrent.pieces(of: 2)?.isPadded == false)
        // Less of it is bytes of a piece that has another file's too.
        let short = [("a", Self.content(25, 1)), ("p", [0, 0]), ("b", Self.content(20, 2))]
        let other = try Torrent(TorrentBytes("n", short, pieces: 20, padding: [1]).bytes)
        #expect(other.borders(of: 0) == [1] && other.border(1).parts.map(\.file) == [0, nil, 2])
    }

    @Test func `names stay in the folder, and of two equal ones the first counts`() throws {
        for name in ["..", ".", "", "a/b", "a\u{0}", "a\nb", String(repeating: "x", count: 256)] {
            var torrent = TorrentBytes("n", [("a", [1]), ("b", [2])], pieces: 20)
            torrent.info["files"] = .list([
                .members(["length": .integer(1), "path": .list([.text(name)])]),
                .members(["length": .integer(1), "path": .list([.text("b")])]),
            ])
            let read = try Torrent(torrent.bytes)
            #expect(throws: EntryFlaw.self) { try read.path(of: 0) }
            #expect(read.addresses(of: 0).isEmpty, "\(name)")
            #expect(try read.path(of: 1) == "n/b")
        }
        let twins = try Torrent(TorrentBytes("n", [("a", [1]), ("a", [2])], pieces: 20).bytes)
        #expect(twins.files.map { $0.flaw == nil } == [true, false])
    }

    @Test func `a symbolic link is no file`() throws {
        var torrent = TorrentBytes("n", [("a", [1])], pieces: 20)
        let link = Bencode.members([
            "attr": .text("l"), "path": .list([.text("l")]), "symlink path": .list([.text("/etc/passwd")]),
        ])
        guard case .list(let files)? = torrent.info["files"] else { return }
        torrent.info["files"] = .list(files + [link])
        let read = try Torrent(torrent.bytes)
        #expect(read.files[1].flaw != nil && read.pieces(of: 1) == nil)
    }

    @Test func `what contradicts itself is refused in a sentence`() {
        let whole = TorrentBytes("n", Self.files, pieces: 20)
        #expect(Self.fault(whole) == nil)
        func changed(_ key: String, _ value: Bencode?) -> String? {
            var torrent = whole
            torrent.info[key] = value
            return Self.fault(torrent)
        }
        #expect(changed("piece length", .integer(0)) == "its pieces have an impossible length")
        #expect(changed("piece length", .integer(.max)) == "its pieces have an impossible length")
        #expect(changed("piece length", .integer(10)) == "it has digests of 5 pieces of 10 bytes for 100 bytes")
        #expect(changed("name", nil) == "it has no name")
        #expect(changed("pieces", .bytes([1])) == "it has no digests of pieces")
        #expect(changed("files", .list([])) == "it lists no file")
        let long = Bencode.members(["length": .integer(.max), "path": .list([.text("a")])])
        #expect(changed("files", .list([long, long])) == "its files are too long together")
        let negative = Bencode.members(["length": .integer(-1), "path": .list([.text("a")])])
        #expect(changed("files", .list([negative])) == "a file has no length")
        let nameless = Bencode.members(["length": .integer(1)])
        #expect(changed("files", .list([nameless])) == "a file has no path")
    }

    @Test func `without a server that can be used, it says why`() throws {
        func obstacle(_ seeds: Bencode?, scripts: Bencode? = nil) throws -> String? {
            var torrent = TorrentBytes("n", Self.files, pieces: 20)
            (torrent.root["url-list"], torrent.root["httpseeds"]) = (seeds, scripts)
            return try Torrent(torrent.bytes).obstacle
        }
        #expect(try obstacle(nil) == "it names no web seed, and there is no download from peers")
        #expect(try obstacle(.text("")) == "it names no web seed, and there is no download from peers")
        #expect(try obstacle(.list([.text("udp://a/"), .integer(1)]))?.hasSuffix("udp://a/") == true)
        #expect(try obstacle(nil, scripts: .list([.text("http://a/")])) == nil)
        #expect(try obstacle(nil, scripts: .list([.text("udp://a/")]))?.hasSuffix("udp://a/") == true)
        #expect(try obstacle(.list([.text("udp://a/"), .text("ftp://a/")])) == nil)
    }

    @Test func `of one file, a URL with a slash at its end is a folder`() throws {
        var torrent = TorrentBytes("n", [], pieces: 20)
        torrent.info["files"] = nil
        torrent.info["length"] = .integer(20)
        torrent.info["pieces"] = .bytes(TorrentBytes.digests(Self.content(20, 1), by: 20))
        torrent.root["url-list"] = .list([.text("http://a/x"), .text("http://a/y/"), .text("http://a/x")])
        let read = try Torrent(torrent.bytes)
        #expect(read.addresses(of: 0) == ["http://a/x", "http://a/y/n"])
        #expect(try read.path(of: 0) == "n" && read.pieces(of: 0)?.count == 1)
    }
}

@Suite struct TorrentTreeTests {
    private static let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }

    @Test func `a file has the digests of its tree`() throws {
        let torrent = try Torrent(TorrentBytes(tree: "f", Self.content, pieces: 32 << 10).bytes)
        let pieces = try #require(torrent.pieces(of: 0))
        #expect(!torrent.hasFolder && torrent.infoHash.utf8.count == 64 && torrent.borders(of: 0) == [])
        #expect(pieces.count == 4 && pieces.isPadded && pieces.algorithm == .sha256Tree)
        let small = try Torrent(TorrentBytes(tree: "f", Self.content, pieces: 128 << 10).bytes)
        #expect(try #require(small.pieces(of: 0)).isPadded == false)
    }

    @Test func `digests that do not belong to the root are refused`() throws {
        var torrent = TorrentBytes(tree: "f", Self.content, pieces: 32 << 10)
        guard case .dictionary(let layers)? = torrent.root["piece layers"] else { return }
        func read(_ layers: Bencode?) throws -> String? {
            torrent.root["piece layers"] = layers
            return try Torrent(torrent.bytes).files[0].flaw
        }
        #expect(try read(.dictionary(layers)) == nil)
        #expect(try read(nil) != nil)
        #expect(try Torrent(torrent.bytes).borders(of: 0) == [])
        #expect(try read(.dictionary(layers.mapValues { .bytes(Array(($0.bytes ?? []).dropLast(32))) })) != nil)
        #expect(try read(.dictionary(layers.mapValues { .bytes(($0.bytes ?? []).reversed()) })) != nil)
    }

    @Test func `a tree that is none is refused`() {
        func fault(_ change: (inout TorrentBytes) -> Void) -> String? {
            var torrent = TorrentBytes(tree: "f", Self.content, pieces: 32 << 10)
            change(&torrent)
            do throws(Torrent.Fault) { _ = try Torrent(torrent.bytes) } catch { return error.words }
            return nil
        }
        #expect(fault { _ in } == nil)
        #expect(fault { $0.info["piece length"] = .integer(48 << 10) }?.contains("power of two") == true)
        #expect(fault { $0.info["file tree"] = .text("x") } == "it has no file tree")
        #expect(fault { $0.info["file tree"] = .members([:]) } == "it lists no file")
        #expect(fault { $0.info["file tree"] = .members(["f": .integer(1)]) }?.contains("neither") == true)
        let both = Bencode.members(["": .members(["length": .integer(0)]), "g": .members([:])])
        #expect(fault { $0.info["file tree"] = .members(["f": both]) }?.contains("a folder too") == true)
        let deep = (0..<70).reduce(Bencode.members([:])) { tree, _ in .members(["d": tree]) }
        #expect(fault { $0.info["file tree"] = deep } == "its folders are nested too deeply")
        #expect(fault { $0.info["meta version"] = .integer(3) } == "its version 3 is not supported")
    }
}
