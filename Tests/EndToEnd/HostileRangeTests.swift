import PawlBase
import PawlTestKit
import Testing

/// Servers that get ranges wrong: the file is correct in the end, whatever they respond.
@Suite(.ownThreads) struct HostileRangeTests {
    private static let payload = Payload(seed: 21, length: 6_000_000)
    private static let kept: Int64 = 2_500_000

    static let faults: [Behaviour.Ranges] = [
        .ignored, .refused(total: 6_000_000), .refused(total: nil), .refused(total: 1), .multipart, .shifted(by: 1),
        .shifted(by: -4096), .shifted(by: 65_536), .labelled(nil), .labelled("bytes"), .labelled("bytes 5-3/9"),
        .labelled("bytes 0-5999999/6000000"), .labelled("items 2500000-5999999/6000000"),
        .labelled("bytes 2500000-99999999999999999999/6000000"), .overlong(by: 1), .overlong(by: 500_000),
        .otherTotal(5_999_999), .otherTotal(6_000_001), .capped(700_000),
    ]

    @Test(arguments: faults)
    func `C6 E2 G1 a part file becomes the correct file although responses to ranges are wrong`(
        fault: Behaviour.Ranges
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload)
        try bench.leavePartial(of: "/file.bin", bytes: Self.kept)
        bench.origin.adjust("/file.bin") { $0.ranges = fault }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("file.bin", from: Self.payload) == nil, "\(outcome)")
        #expect(bench.folder.names == ["file.bin"])
    }

    @Test(arguments: faults) func `E2 G3 four connections give the correct file although responses to ranges are wrong`(
        fault: Behaviour.Ranges
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload) {
            $0.ranges = fault
            $0.pace = 12_000_000
        }
        let outcome = try bench.get(url, "-x", "4")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("file.bin", from: Self.payload) == nil, "\(outcome)")
        #expect(bench.folder.names == ["file.bin"])
    }

    @Test func `E2 one refusal of a valid range does not cost the part file`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload)
        try bench.leavePartial(of: "/file.bin", bytes: Self.kept)
        let before = bench.origin.ended("/file.bin").count
        bench.origin.vary("/file.bin") { request, behaviour in
            if request.ordinal == before { behaviour.ranges = .refused(total: 6_000_000) }
        }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("file.bin", from: Self.payload) == nil, "\(outcome)")
        #expect(bench.origin.ended("/file.bin").dropFirst(before).map(\.status) == [416, 206])
    }

    @Test func `E2 the part file outlives a server that refuses every range and never sends the whole`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload)
        try bench.leavePartial(of: "/file.bin", bytes: Self.kept)
        bench.origin.adjust("/file.bin") {
            $0.ranges = .refused(total: 6_000_000)
            $0.cut = .reset(after: 1_000_000)
        }
        let failed = try bench.get(url, "-x", "1")
        #expect(failed.code != 0, "\(failed)")
        #expect(bench.origin.ended("/file.bin").count < 20)
        bench.origin.adjust("/file.bin") {
            $0.ranges = .honoured
            $0.cut = nil
        }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.events("started").first?.number("resumedAt") == Self.kept)
        #expect(bench.folder.difference("file.bin", from: Self.payload) == nil, "\(outcome)")
    }

    @Test func `E1 a server that never responds to Range gets requests without it, and not again with it`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload)
        try bench.leavePartial(of: "/file.bin", bytes: Self.kept)
        bench.origin.adjust("/file.bin") { $0.ranges = .unresponsive }
        let before = bench.origin.log.of("/file.bin").count
        let outcome = try bench.get(url, "-x", "1", "--timeout", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("file.bin", from: Self.payload) == nil, "\(outcome)")
        let later = bench.origin.ended("/file.bin").dropFirst(before)
        #expect(later.first?.hasRange == true)
        let firstWhole = later.firstIndex { !$0.hasRange } ?? later.endIndex
        #expect(later[firstWhole...].allSatisfy { !$0.hasRange }, "\(later.map(\.range))")
    }

    @Test func `E3 the first request of a fresh file works for servers that fail on Range`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload) { $0.ranges = .unresponsive }
        let outcome = try bench.get(url, "-x", "1", "--timeout", "2")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("file.bin", from: Self.payload) == nil)
        #expect(bench.origin.ended("/file.bin").allSatisfy { !$0.hasRange })
    }

    @Test func `G1 a compressed response to a range is never written at the offset`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload)
        try bench.leavePartial(of: "/file.bin", bytes: Self.kept)
        bench.origin.adjust("/file.bin") { $0.coding = .gzipRanged }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("file.bin", from: Self.payload) == nil, "\(outcome)")
    }

    @Test func `E4 every request asks for identity coding, and a resume bypasses caches`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload)
        try bench.leavePartial(of: "/file.bin", bytes: Self.kept)
        try #expect(bench.get(url, "-x", "1").code == 0)
        let requests = bench.origin.ended("/file.bin")
        #expect(requests.allSatisfy { $0.request.header("Accept-Encoding") == "identity" })
        let resumed = try #require(requests.last)
        #expect(resumed.hasRange)
        #expect(resumed.request.header("Cache-Control")?.contains("no-cache") == true)
    }

    @Test(arguments: [
        ("0-99", ByteRange(0, 100)), ("100-199", ByteRange(100, 200)), ("5999000-", ByteRange(5_999_000, 6_000_000)),
        ("-100", ByteRange(5_999_900, 6_000_000)),
    ]) func `A1 B5 a user can request a range`(text: String, range: ByteRange) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/file.bin", Self.payload)
        let outcome = try bench.get(url, "--range", text, "-o", "part")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(FileSystem.contents(bench.folder.path("part")) == Self.payload.bytes(in: range))
        #expect(bench.folder.names == ["part"])
    }
}
