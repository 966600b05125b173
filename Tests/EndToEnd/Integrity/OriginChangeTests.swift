import Glibc
import PawlBase
import PawlTestKit
import Testing

/// Digests that change between runs, responses and sources.
@Suite(.ownThreads) struct OriginChangeTests {
    private static func digest(_ digests: OriginStage.Digests) -> String { "Repr-Digest: sha-256=:\(digests.sha):" }

    /// Kills a run after half of the content.
    private func interrupt(_ stage: OriginStage) throws {
        let half = Int64(stage.content.count / 2)
        stage.bench.origin.adjust("/d/f.iso") { $0.cut = .stall(at: half) }
        let process = try stage.bench.bench.start(stage.url, "-o", "f.iso", "-x", "1")
        let isThere = process.progress(reaches: half)
        process.send(SIGKILL)
        process.wait()
        try #require(isThere && stage.bench.folder.names == ["f.iso.part", "f.iso.pawl"])
        stage.bench.origin.waitUntilQuiet("/d/f.iso")
    }

    @Test func `content that changed between runs is noticed by its digest alone`() throws {
        let stage = try OriginStage(length: 3_000_000)
        var before = stage.content
        before[10] ^= 1
        let old = try OriginStage.digests(of: before, stage.bench)
        _ = stage.bench.origin.serve("/d/f.iso", Payload(before)) {
            $0.validators = .none
            $0.add(header: Self.digest(old))
        }
        try interrupt(stage)
        stage.serve(Self.digest(stage.right)) { $0.validators = .none }
        #expect(try stage.get([]) == "origin")
    }

    @Test func `a digest that was stale in the first run and is right in the second refuses nothing`() throws {
        let stage = try OriginStage(length: 3_000_000)
        stage.serve(Self.digest(stage.wrong))
        try interrupt(stage)
        stage.serve(Self.digest(stage.right))
        #expect(try stage.get([]) == "origin")
    }

    @Test func `a digest that is gone in the second run still counts`() throws {
        let stage = try OriginStage(length: 3_000_000)
        stage.serve(Self.digest(stage.wrong))
        try interrupt(stage)
        stage.serve()
        #expect(try stage.get([]) == "32")
        // It fails again without a request, until an option says otherwise.
        let count = stage.bench.origin.log.of("/d/f.iso").count
        #expect(try stage.get([]) == "32")
        #expect(stage.bench.origin.log.of("/d/f.iso").count == count)
        #expect(try stage.get(["--retry-corrupt"]) == "none")
    }

    @Test(arguments: [["-x", "1"], ["-x", "4"]]) func `a new digest in each response ends in a refusal`(
        options: [String]
    ) throws {
        let stage = try OriginStage(length: 3_000_000)
        stage.serve()
        stage.bench.origin.vary("/d/f.iso") { facts, behaviour in
            var digest = stage.wrong.sha256
            digest[0] = UInt8(truncatingIfNeeded: facts.ordinal)
            behaviour.add(header: "Repr-Digest: sha-256=:\(Base64.encode(digest)):")
            if facts.ordinal < 5 { behaviour.cut = .close(after: 1_000_000) }
        }
        let outcome = try stage.get(options)
        #expect(outcome == "32" || outcome == "8")
        #expect(stage.bench.origin.log.of("/d/f.iso").count < 40)
    }

    /// Not what RFC 9530 says, and done by servers that hash what they send.
    @Test(
        arguments: ["Repr-Digest: sha-256=:%:", "Digest: sha-256=%", "x-checksum-sha256: #"],
        [["-x", "1"], ["-x", "4"]]) func `digests of parts in fields of the whole refuse no right file`(
            field: String, options: [String]
        ) throws
    {
        let stage = try OriginStage(length: 6_000_000)
        stage.serve { $0.pace = 8_000_000 }
        stage.bench.origin.vary("/d/f.iso") { facts, behaviour in
            var digest = stage.right.sha256
            if facts.hasRange { digest[0] &+= 1 &+ UInt8(truncatingIfNeeded: facts.ordinal) }
            let coded = field.replacing("%", with: Base64.encode(digest))
            behaviour.add(header: coded.replacing("#", with: Hexadecimal.text(digest)))
            if facts.ordinal == 0, options == ["-x", "1"] { behaviour.cut = .close(after: 1_000_000) }
        }
        #expect(try stage.get(options) == "origin")
    }

    @Test(arguments: [["-x", "1"], ["-x", "4"]])
    func `the bytes of a lying mirror are fetched again from the honest one`(options: [String]) throws {
        let stage = try OriginStage(length: 3_000_000)
        var bad = stage.content
        bad[1_234] ^= 1
        _ = stage.bench.origin.serve("/d/f.iso", Payload(bad)) { $0.add(header: Self.digest(stage.right)) }
        let mirror = stage.serve(Self.digest(stage.right), at: "/m/f.iso")
        #expect(try stage.get(options + ["--mirror", mirror]) == "origin")
    }

    @Test(arguments: [["-x", "1"], ["-x", "4"]]) func `a mirror of other content with its own digest is left out`(
        options: [String]
    ) throws {
        let stage = try OriginStage(length: 3_000_000)
        stage.serve(Self.digest(stage.right))
        var bad = stage.content
        bad[1_234_567] ^= 1
        let other = try OriginStage.digests(of: bad, stage.bench)
        let mirror = stage.bench.origin.serve("/m/f.iso", Payload(bad)) { $0.add(header: Self.digest(other)) }
        #expect(try stage.get(options + ["--mirror", mirror]) == "origin")
    }

    @Test func `two lying mirrors publish nothing`() throws {
        let stage = try OriginStage(length: 3_000_000)
        var bad = stage.content
        bad[1_234] ^= 1
        let urls = ["/d/f.iso", "/m/f.iso"].map { path in
            stage.bench.origin.serve(path, Payload(bad)) { $0.add(header: Self.digest(stage.right)) }
        }
        let outcome = try stage.bench.bench.get([stage.url, "-o", "f.iso", "--mirror", urls[1]])
        #expect(outcome.code == 32 && !stage.bench.folder.names.contains("f.iso"), "\(outcome)")
    }
}
