import PawlTestKit
import Testing

/// A rate limit protects the line: the server sends the file and little more.
@Suite(.ownThreads) struct `Traffic under a limit` {
    private static let size: Int64 = 2 << 20

    @Test(arguments: ["300K", "1M"], ["1", "4", "8"]) func `the origin sends the file once`(
        rate: String, count: String
    ) throws {
        let bench = try Bench()
        let payload = Payload(seed: 71, length: Self.size)
        let url = bench.origin.serve("/a.bin", payload)
        let outcome = try bench.get(url, "--limit-rate", rate, "-x", count, "--timeout", "30")
        #expect(outcome.code == 0, "\(outcome)")
        let records = bench.origin.ended("/a.bin")
        let sent = records.reduce(0) { $0 + $1.bodySent }
        #expect(sent <= Self.size + Int64(records.count) * 65_536, "\(records.count) requests, \(sent) bytes")
        #expect(records.count <= 2)
        #expect(FileSystem.contents(bench.folder.path("a.bin")) == payload.bytes)
    }

    @Test func `with as many connections as it likes the origin still sends the file once`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/a.bin", Payload(seed: 72, length: Self.size))
        let outcome = try bench.get(url, "--limit-rate", "400K", "--timeout", "30")
        #expect(outcome.code == 0, "\(outcome)")
        let sent = bench.origin.ended("/a.bin").reduce(0) { $0 + $1.bodySent }
        #expect(sent <= Self.size + 65_536)
    }
}
