import Pawl
import PawlQueue
import PawlTestKit
import Testing

/// The order of downloads when a queue is opened again.
@Suite struct RestartOrderTests {
    /// // From now on no download ends before it was examined.
    private func hold(_ bench: ManagerBench) {
        for name in ["a", "b", "c"] { bench.origin.adjust("/" + name) { $0.delay = .untilReleased } }
    }

    @Test func `D8 a forced start is stored when the call returns, and outlives the program`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open(bench.slots(1))
        var urls: [String] = []
        for name in ["a", "b", "c"] { urls.append(bench.serveStalling("/" + name, seed: 941).url) }
        var ids: [Download.ID] = []
        for url in urls { ids.append(try await manager.add(bench.request(url)).id) }
        try await manager.start(now: ids[2])
        // The state that a kill at this moment would leave.
        #expect(bench.store.value("running") == ids[2].description)
        let forced = try #require(try await manager.download(withID: ids[2]))
        await forced.reaches(bytes: 1)
        await manager.shutDown()
        hold(bench)

        let again = try await bench.open(bench.slots(1))
        let running = try await again.running().map(\.id)
        #expect(running == [ids[2]])
        let line = try await again.waiting().map(\.id)
        #expect(line == [ids[0], ids[1]], "who made room is the next")
        await again.shutDown()
    }

    @Test func `D7 running downloads come first, whatever was added with a higher priority`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open(bench.slots(2))
        var ids: [Download.ID] = []
        for name in ["a", "b", "c"] {
            let (url, _) = bench.serveStalling("/" + name, seed: 942)
            ids.append(try await manager.add(bench.request(url) { $0.priority = name == "c" ? 9 : 0 }).id)
        }
        await manager.shutDown()
        hold(bench)
        let again = try await bench.open(bench.slots(2))
        #expect(Set(try await again.running().map(\.id)) == Set(ids.prefix(2)))
        await again.shutDown()
    }

    @Test(arguments: ["", "zz 0 -1", "ffffffffffffffffffff", "00 1 2 3"])
    func `D18 a stored value that is not a list of downloads is ignored`(text: String) async throws {
        let bench = try ManagerBench()
        try bench.store.apply([.value("running", text)])
        let manager = try await bench.open()
        #expect(try await manager.downloads().isEmpty)
        await manager.shutDown()
    }
}
