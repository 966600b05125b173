import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Downloads that wait for their next attempt, over real connections.
@Suite struct RetryMethodTests {
    private let payload = Payload(seed: 14, length: 70_000)

    /// Adds a download that waits as long as its server demands.
    private func addWaiting(_ bench: ServiceBench) async throws -> (id: String, url: String) {
        let url = bench.origin.serve("/a.bin", payload) { $0.instead = .status(503, retryAfter: "3000") }
        let added = try await bench.result("pawl.add", [[.string(url)]])
        let id = try #require(added.array?.first?["id"]?.string)
        let known = try #require(try await bench.service.manager.ids(withPrefix: id).first)
        let download = try #require(try await bench.service.manager.download(withID: known))
        for await snapshot in download.updates where snapshot.retryIn != nil { break }
        return (id, url)
    }

    @Test func `resuming a download that waits makes its next attempt at once`() async throws {
        let bench = try await ServiceBench()
        let (id, _) = try await addWaiting(bench)
        let details = try await bench.result("pawl.show", [.string(id)])
        #expect(try #require(Double(details["retryIn"]?.text ?? "")) > 2000)

        bench.origin.adjust("/a.bin") { $0.instead = nil }
        #expect(try await bench.result("pawl.resume", [.string(id)])[id] == .bool(true))
        try await bench.finish(id)
        #expect(FileSystem.difference(of: bench.root + "/a.bin", from: payload) == nil)
        #expect(try await bench.result("pawl.show", [.string(id)])["retryIn"] == .null)
        #expect(try await bench.result("pawl.resume", [.string(id)])[id] == .bool(false))
        await bench.close()
    }

    @Test func `adding the URL of a download that waits does not end its wait`() async throws {
        let bench = try await ServiceBench()
        let (id, url) = try await addWaiting(bench)

        // Another attempt would keep its connection.
        bench.origin.adjust("/a.bin") {
            $0.instead = nil
            $0.delay = .untilReleased
        }
        let again = try await bench.result("pawl.add", [[.string(url)]])
        #expect(again.array?.first?["id"]?.string == id)
        let details = try await bench.result("pawl.show", [.string(id)])
        #expect(details["lanes"]?.array?.isEmpty == true)
        #expect(try #require(Double(details["retryIn"]?.text ?? "")) > 2000)
        await bench.close()
    }

    @Test func `a download that receives data has nothing to resume`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/a.bin", payload) { $0.cut = .stall(after: 10_000) }
        let added = try await bench.result("pawl.add", [[.string(url)]])
        let id = try #require(added.array?.first?["id"]?.string)
        try await bench.begin(id)
        #expect(try await bench.result("pawl.show", [.string(id)])["retryIn"] == .null)
        #expect(try await bench.result("pawl.resume", [.string(id)])[id] == .bool(false))
        await bench.close()
    }
}
