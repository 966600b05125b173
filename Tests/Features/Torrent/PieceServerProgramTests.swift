import PawlBase
import PawlDisk
import PawlTestKit
import Testing

@testable import PawlTorrent

/// The program with servers of pieces (BEP 17).
@Suite(.serialized, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct PieceServerProgramTests {
    private typealias Files = [(path: String, content: [UInt8])]

    private static func content(_ length: Int, seed: UInt64) -> [UInt8] {
        Payload(seed: seed, length: Int64(length)).bytes(in: ByteRange(0, Int64(length)))
    }

    private static let files: Files = [
        ("a.bin", content(300_000, seed: 1)), ("sub/b.txt", content(3, seed: 2)), ("empty", []),
        ("c.bin", content(100_001, seed: 3)),
    ]
    private static let pieceLength = 65_536
    private static let all = files.flatMap(\.content)

    private struct Site {
        let origin: OriginServer
        let folder: TemporaryFolder
        var torrent = TorrentBytes("n", PieceServerProgramTests.files, pieces: PieceServerProgramTests.pieceLength)

        init() throws {
            origin = try OriginServer()
            folder = try TemporaryFolder()
            torrent.root["url-list"] = nil
        }

        /// Serves the pieces of the torrent; `change` may answer a request otherwise.
        func servePieces(
            at path: String = "/seed", honoursRanges: Bool = true,
            _ change: @escaping @Sendable (RequestFacts, inout Behaviour.SubstituteResponse) -> Void = { _, _ in }
        ) -> String {
            let url = origin.serve(path, Payload([]))
            let hash = Self.infoHash(of: torrent)
            origin.vary(path) { facts, behaviour in
                var answer = Behaviour.SubstituteResponse.status(404)
                if let bytes = Self.bytes(of: facts.request, hash, honoursRanges: honoursRanges) {
                    answer = Behaviour.SubstituteResponse(200)
                    answer.body = bytes
                }
                change(facts, &answer)
                behaviour.instead = answer
            }
            return url
        }

        private static func infoHash(of torrent: TorrentBytes) -> String {
            ContentDigest.digest(.sha1, of: Bencode.members(torrent.info).written).map {
                "%" + Hexadecimal.text([$0])
            }.joined()
        }

        /// What a server of pieces sends; `nil` for a request that is none for bytes of one piece.
        private static func bytes(of request: Request, _ hash: String, honoursRanges: Bool) -> [UInt8]? {
            guard request.header("Range") == nil, request.header("X-Secret") == nil else { return nil }
            let fields = request.target.drop { $0 != "?" }.dropFirst().split(separator: "&").reduce(
                into: [Substring: Substring]()
            ) { fields, field in
                let parts = field.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { fields[parts[0]] = parts[1] }
            }
            guard fields["info_hash"].map(String.init) == hash, let piece = fields["piece"].flatMap({ Int($0) }) else {
                return nil
            }
            let start = piece * PieceServerProgramTests.pieceLength
            guard start < PieceServerProgramTests.all.count else { return nil }
            let bytes = PieceServerProgramTests.all[start...].prefix(PieceServerProgramTests.pieceLength)
            guard honoursRanges, let ranges = fields["ranges"] else { return Array(bytes) }
            let ends = ranges.split(separator: "-").compactMap { Int($0) }
            guard ends.count == 2, ends[0] <= ends[1], ends[1] < bytes.count else { return nil }
            return Array(bytes[(start + ends[0])...(start + ends[1])])
        }

        mutating func write(pieces: [String], whole: [String] = []) throws {
            torrent.root["httpseeds"] = .list(pieces.map { .text($0) })
            if !whole.isEmpty { torrent.root["url-list"] = .list(whole.map { .text($0) }) }
            try FileSystem.write(torrent.bytes, to: folder.path("t.torrent"))
        }

        func pawl(_ arguments: String...) throws -> (code: Int32?, text: String) {
            let process = try PawlProcess(
                PawlBinary.path, arguments, environment: ["HOME": folder.path], folder: folder.path)
            guard case .code(let code) = process.wait(atMost: .patience) else { return (nil, process.errors) }
            return (code, process.lines.joined(separator: "\n") + process.errors)
        }

        var hasAll: Bool {
            PieceServerProgramTests.files.allSatisfy { FileSystem.contents(folder.path("n/\($0.path)")) == $0.content }
        }
    }

    @Test(arguments: [true, false]) func `files come from a server of pieces`(honoursRanges: Bool) throws {
        var site = try Site()
        try site.write(pieces: [site.servePieces(honoursRanges: honoursRanges)])
        let run = try site.pawl("get", "--header", "X-Secret: x", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
        let records = site.origin.log.records
        #expect(records.count >= 7 && records.allSatisfy { $0.status == 200 })
        let again = try site.pawl("get", "t.torrent")
        #expect(again.code == 0 && site.origin.log.records.count == records.count, "\(again)")
    }

    @Test func `a busy server is asked again, after the time that it states`() throws {
        var site = try Site()
        let url = site.servePieces { facts, answer in
            if facts.ordinal % 3 == 1 { answer = Behaviour.SubstituteResponse(503, body: "1") }
        }
        try site.write(pieces: [url])
        let run = try site.pawl("get", "-x", "1", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
        #expect(site.origin.log.records.contains { $0.status == 503 })
    }

    @Test func `what a server of pieces has wrong comes from a web seed`() throws {
        var site = try Site()
        let url = site.servePieces { _, answer in
            if !answer.body.isEmpty { answer.body[answer.body.count / 2] ^= 0xFF }
        }
        for file in Self.files { site.origin.serve("/whole/n/\(file.path)", Payload(file.content)) }
        try site.write(pieces: [url], whole: [site.origin.url("/whole/")])
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
    }

    @Test func `where a web seed lacks a file, a server of pieces has it`() throws {
        var site = try Site()
        let url = site.servePieces()
        site.origin.serve("/whole/n/c.bin", Payload(Self.files[3].content))
        try site.write(pieces: [url], whole: [site.origin.url("/whole/")])
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
    }

    @Test func `wrong pieces make no file, and a page in place of a piece says what is wrong`() throws {
        var site = try Site()
        let url = site.servePieces { _, answer in
            if !answer.body.isEmpty { answer.body[answer.body.count / 2] ^= 0xFF }
        }
        try site.write(pieces: [url])
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 32 && FileSystem.names(in: site.folder.path("n")) == ["empty"], "\(run)")
        let page = site.servePieces(at: "/page") { _, answer in answer = .loginPage }
        try site.write(pieces: [page])
        let other = try site.pawl("get", "--retry-delay", "0.01", "-d", "other", "t.torrent")
        #expect(other.code == 23 || other.text.contains("does not send the bytes of the piece alone"), "\(other)")
    }

    @Test func `a redirect of a server of pieces is followed, piece by piece`() throws {
        var site = try Site()
        _ = site.servePieces(at: "/moved")
        let url = site.servePieces { facts, answer in
            let query = facts.request.target.drop { $0 != "?" }
            answer = .redirect(to: "/moved\(query)")
        }
        try site.write(pieces: [url])
        let run = try site.pawl("get", "--retry-delay", "0.01", "t.torrent")
        #expect(run.code == 0 && site.hasAll, "\(run)")
    }
}
