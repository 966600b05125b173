import PawlBase
import PawlTestKit
import Testing

/// The pieces of a Metalink during a download.
@Suite(.ownThreads) struct PieceTests {
    private static let content = Payload(seed: 181, length: 3_000_000).bytes(in: ByteRange(0, 3_000_000))
    private static let pieceLength = 256 << 10

    /// The content with one wrong byte in each of these pieces.
    private static func damaged(_ pieces: [Int]) -> Payload {
        var bytes = content
        for piece in pieces { bytes[piece * pieceLength + 1_000] ^= 0xFF }
        return Payload(bytes)
    }

    @Test(arguments: [["-x", "1"], ["-x", "4"]])
    func `bad pieces of one mirror come from the other one, and the liar is left out`(options: [String]) throws {
        let bench = try IntegrityBench()
        let bad = bench.origin.serve("/bad/f", Self.damaged([1, 3, 5, 7, 9]))
        let good = bench.origin.serve("/good/f", Payload(Self.content)) { $0.validators = .weakTagOnly }
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [bad, good])
        try bench.write("f.meta4", Array(text.utf8))
        let run = try bench.run(
            PawlBinary.path, ["get", "--json", "--retry-delay", "0.01", "--metalink", "f.meta4"] + options)
        #expect(run.code == 0, "\(run)")
        #expect(bench.contents("f") == Self.content)
        #expect(bench.folder.names == ["f", "f.meta4"])
        #expect(run.lines.contains { $0.contains("fetching it again") }, "\(run)")
        #expect(run.lines.contains { $0.contains("left out") && $0.contains("/bad/f") }, "\(run)")
        #expect(bench.origin.log.records.contains { $0.request.path == "/good/f" })
    }

    /// `nil`: the file is recognized; else `--if-exists`.
    @Test(arguments: [nil, "skip"]) func `a finished file is kept only if its pieces are right`(policy: String?) throws
    {
        let bench = try IntegrityBench()
        let url = bench.origin.serve("/f", Self.damaged([3]))
        try #expect(bench.pawl("get", url).code == 0)
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url])
        for hasSize in [true, false] {
            let shown = hasSize ? text : text.replacing(try Regex("<size>.*</size>"), with: "")
            try bench.write("f.meta4", Array(shown.utf8))
            let options = policy.map { ["--if-exists", $0] } ?? []
            let run = try bench.run(PawlBinary.path, ["get", "--metalink", "f.meta4"] + options)
            #expect(run.code == 32, "\(run)")
            #expect(run.errors.contains("of its piece at \(3 * Self.pieceLength)"), "\(run)")
        }
        try bench.write("f", Self.content)
        let right = try bench.pawl("get", "--metalink", "f.meta4", "--if-exists", "skip")
        #expect(right.code == 0 && bench.folder.names == ["f", "f.meta4"], "\(right)")
    }

    @Test func `a bad piece is fetched again and nothing else`() throws {
        let bench = try IntegrityBench()
        // The damage is in the first response only.
        let versions = [Self.damaged([4]), Payload(Self.content)]
        let url = bench.origin.serve("/f", versions: versions, changing: .afterRequests(1)) { $0.validators = .none }
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url])
        try bench.write("f.meta4", Array(text.utf8))
        let run = try bench.pawl("get", "--json", "-x", "1", "--metalink", "f.meta4")
        #expect(run.code == 0, "\(run)")
        #expect(bench.contents("f") == Self.content)
        #expect(bench.sent(of: "/f") <= Int64(Self.content.count + 2 * Self.pieceLength), "\(run)")
    }

    @Test func `a source that always sends a wrong piece fails with code 32, and nothing is published`() throws {
        let bench = try IntegrityBench()
        let url = bench.origin.serve("/f", Self.damaged([2]))
        let text = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url])
        try bench.write("f.meta4", Array(text.utf8))
        let run = try bench.pawl("get", "--json", "--metalink", "f.meta4")
        #expect(run.code == 32, "\(run)")
        #expect(!bench.folder.names.contains("f"))
        // With a source that has it, the next run continues.
        let good = bench.origin.serve("/good", Payload(Self.content))
        let better = try bench.metalink("f", Self.content, piece: Self.pieceLength, sources: [url, good])
        try bench.write("f.meta4", Array(better.utf8))
        let again = try bench.pawl("get", "--json", "--metalink", "f.meta4")
        #expect(again.code == 0, "\(again)")
        #expect(bench.contents("f") == Self.content)
    }
}
