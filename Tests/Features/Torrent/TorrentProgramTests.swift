import PawlBase
import PawlTestKit
import Testing

@testable import PawlTorrent

/// The program with torrents, and servers that have their files.
@Suite(.serialized, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct TorrentProgramTests {
    private static func content(_ length: Int, seed: UInt64) -> [UInt8] {
        Payload(seed: seed, length: Int64(length)).bytes(in: ByteRange(0, Int64(length)))
    }

    private static let files: [(path: String, content: [UInt8])] = [
        ("a.bin", content(300_000, seed: 1)), ("sub/b.txt", content(3, seed: 2)), ("empty", []),
        ("c.bin", content(100_001, seed: 3)),
    ]
    private static let pieceLength = 65_536

    /// A folder to work in, and a server.
    private struct Site {
        let origin: OriginServer
        let folder: TemporaryFolder

        init() throws {
            origin = try OriginServer()
            folder = try TemporaryFolder()
        }

        /// Serves the files below `/NAME/n/`; returns the URL of the web seed.
        func seed(_ name: String, _ files: [(path: String, content: [UInt8])] = TorrentProgramTests.files) -> String {
            for file in files { origin.serve("/\(name)/n/\(file.path)", Payload(file.content)) }
            return origin.url("/\(name)/")
        }

        func write(_ torrent: TorrentBytes, seeds: [String]) throws {
            var torrent = torrent
            torrent.root["url-list"] = .list(seeds.map { .text($0) })
            try FileSystem.write(torrent.bytes, to: folder.path("t.torrent"))
        }

        func pawl(_ arguments: String...) throws -> (code: Int32?, text: String) {
            let process = try PawlProcess(
                PawlBinary.path, arguments, environment: ["HOME": folder.path], folder: folder.path)
            guard case .code(let code) = process.wait(atMost: .patience) else { return (nil, process.errors) }
            return (code, process.lines.joined(separator: "\n") + process.errors)
        }

        func contents(_ path: String) -> [UInt8]? { FileSystem.contents(folder.path(path)) }

        var hasAll: Bool { TorrentProgramTests.files.allSatisfy { contents("n/\($0.path)") == $0.content } }
        var requests: Int { origin.log.records.count }
    }

    private static var torrent: TorrentBytes { TorrentBytes("n", files, pieces: pieceLength) }

    private static func damaged(_ path: String, at offset: Int) -> [(path: String, content: [UInt8])] {
        files.map { file in
            guard file.path == path else { return file }
            var content = file.content
            content[offset] ^= 0xFF
            return (path, content)
        }
    }

    @Test func `files come from a web seed, and are not requested again`() throws {
        let site = try Site()
        try site.write(Self.torrent, seeds: [site.seed("s")])
        let listed = try site.pawl("list-remote", "t.torrent")
        #expect(listed.code == 0 && listed.text.contains("n/sub/b.txt") && site.requests == 0, "\(listed)")
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
        let count = site.requests
        let again = try site.pawl("get", "t.torrent")
        #expect(again.code == 0 && again.text.contains("4 are there already") && site.requests == count, "\(again)")
    }

    @Test func `a file with a tree of digests is checked by it`() throws {
        let site = try Site()
        let content = Self.files[0].content
        let bad = Self.damaged("a.bin", at: 299_999)[0].content
        let seeds = [site.origin.serve("/bad", Payload(bad)), site.origin.serve("/good", Payload(content))]
        try site.write(TorrentBytes(tree: "f", content, pieces: Self.pieceLength), seeds: seeds)
        let run = try site.pawl("get", "--retry-delay", "0.01", "-x", "1", "t.torrent")
        #expect(run.code == 0 && site.contents("f") == content, "\(run)")
        #expect(run.text.contains("fetching it again"), "\(run)")
    }

    @Test(arguments: [("a.bin", 1_000), ("a.bin", 299_000), ("sub/b.txt", 1), ("c.bin", 100_000)])
    func `what one web seed has wrong comes from another`(path: String, offset: Int) throws {
        let site = try Site()
        try site.write(
            Self.torrent, seeds: [site.seed("bad", Self.damaged(path, at: offset)), site.seed("good")])
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
    }

    @Test func `where no web seed is right, no file with the piece is made, and the message names it`() throws {
        let site = try Site()
        try site.write(Self.torrent, seeds: [site.seed("bad", Self.damaged("sub/b.txt", at: 1))])
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 32 && run.text.contains("piece 4 of t.torrent"), "\(run)")
        #expect(site.folder.names.contains("n") && FileSystem.names(in: site.folder.path("n")) == ["empty"], "\(run)")
    }

    @Test func `names that lead elsewhere are refused, and the rest is downloaded`() throws {
        let site = try Site()
        var torrent = TorrentBytes("n", [("a", [1])], pieces: 16_384)
        let outside = Bencode.members(["length": .integer(0), "path": .list([.text(".."), .text("x")])])
        guard case .list(let files)? = torrent.info["files"] else { return }
        torrent.info["files"] = .list(files + [outside])
        site.origin.serve("/s/n/a", Payload([1]))
        try site.write(torrent, seeds: [site.origin.url("/s/")])
        let run = try site.pawl("get", "t.torrent")
        #expect(run.code == 28 && site.contents("n/a") == [1] && site.folder.names == ["n", "t.torrent"], "\(run)")
    }

    @Test func `a web seed without ranges is enough`() throws {
        let site = try Site()
        try site.write(Self.torrent, seeds: [site.seed("s")])
        for file in Self.files { site.origin.adjust("/s/n/\(file.path)") { $0.ranges = .ignored } }
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
    }

    @Test func `of many small files in one piece, each is requested once for it and once for itself`() throws {
        let site = try Site()
        let files = (0..<200).map { (path: "f\($0)", content: Self.content(11, seed: UInt64($0))) }
        try site.write(TorrentBytes("n", files, pieces: Self.pieceLength), seeds: [site.seed("s", files)])
        let run = try site.pawl("get", "-q", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && files.allSatisfy { site.contents("n/\($0.path)") == $0.content }, "\(run)")
        #expect(site.requests <= 2 * files.count, "\(site.requests)")
        let right = try site.pawl("verify", "--torrent", "t.torrent", "n")
        #expect(right.code == 0, "\(right)")
    }

    @Test func `aria2c takes further web seeds, and leaves out what can be no file`() throws {
        let site = try Site()
        var torrent = Self.torrent
        let outside = Bencode.members(["length": .integer(0), "path": .list([.text(".."), .text("x")])])
        guard case .list(let files)? = torrent.info["files"] else { return }
        torrent.info["files"] = .list(files + [outside])
        try site.write(torrent, seeds: [])
        let run = try site.pawl("aria2c", "-T", "t.torrent", site.seed("s"))
        #expect(run.code == 0 && site.hasAll, "\(run)")
        #expect(run.text.contains("../x"), "\(run)")
    }

    @Test func `without web seeds nothing is requested`() throws {
        let site = try Site()
        try site.write(Self.torrent, seeds: [])
        let run = try site.pawl("get", "t.torrent")
        #expect(run.code == 28 && run.text.contains("it names no web seed"), "\(run)")
        let magnet = try site.pawl("get", "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a")
        #expect(magnet.code == 28 && magnet.text.contains("magnet links need peers"), "\(magnet)")
    }

    @Test func `a damaged file is found by verify, and repaired from a web seed`() throws {
        let site = try Site()
        try site.write(Self.torrent, seeds: [site.seed("s")])
        #expect(try site.pawl("get", "-q", "t.torrent").code == 0)
        let right = try site.pawl("verify", "--torrent", "t.torrent", "n")
        #expect(right.code == 0, "\(right)")
        for offset in [5, 299_999] {
            let bad = Self.damaged("a.bin", at: offset)[0].content
            try FileSystem.write(bad, to: site.folder.path("n/a.bin"))
            let wrong = try site.pawl("verify", "--torrent", "t.torrent", "n/a.bin")
            #expect(wrong.code == 32, "\(wrong)")
            let sent = site.origin.log.bodySent("/s/n/a.bin")
            let repaired = try site.pawl("repair", "--torrent", "t.torrent", "n/a.bin")
            #expect(repaired.code == 0 && site.hasAll, "\(repaired)")
            site.origin.waitUntilQuiet("/s/n/a.bin")
            #expect(site.origin.log.bodySent("/s/n/a.bin") - sent <= 2 * Int64(Self.pieceLength))
        }
    }
}
