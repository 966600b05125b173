import Pawl
import PawlBase
import PawlQueue
import PawlTestKit
import Testing

/// A download that crashes the program does not affect the next one.
@Suite struct StartTests {
    private func id(_ download: Download) -> String { String(download.id.rawValue, radix: 16) }

    @Test func `a start is stored before, and cleared when the download runs`() async throws {
        let bench = try ManagerBench()
        let url = bench.origin.serve("/f", Payload(seed: 961, length: 2_000_000)) { $0.delay = .untilReleased }
        let manager = try await bench.open()
        let download = try await manager.add(bench.request(url))
        #expect(bench.origin.wait(held: 1, of: "/f"))
        #expect(bench.store.value("starting") == "\(id(download)):0+")
        bench.origin.adjust("/f") { $0.delay = .none }
        bench.origin.release("/f")
        _ = try await download.file
        #expect(bench.store.value("starting") == nil)
        await manager.shutDown()
    }

    @Test func `a clean stop does not count as a crash`() async throws {
        let bench = try ManagerBench()
        let url = bench.origin.serve("/f", Payload(seed: 962, length: 2_000_000)) { $0.delay = .untilReleased }
        for _ in 1...4 {
            let manager = try await bench.open()
            _ = try await manager.add(bench.request(url))
            #expect(bench.origin.wait(held: 1, of: "/f"))
            await manager.shutDown()
            #expect(bench.store.value("starting") == nil)
        }
    }

    @Test func `after two crashes it is paused with the reason, and resuming it tries again`() async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 963, length: 200_000)
        let url = bench.origin.serve("/f", payload)
        let first = try await bench.open()
        let added = try await first.add(bench.request(url) { $0.start = .paused })
        let other = try await first.add(bench.request(bench.origin.serve("/g", payload)) { $0.start = .paused })
        await first.shutDown()
        for record in bench.store.all {
            var waiting = record
            waiting.state = .waiting
            try bench.store.apply([.put(waiting)])
        }
        try bench.store.apply([.value("starting", "\(id(added)):1+ \(id(other)):0+")])

        let manager = try await bench.open()
        let download = try #require(try await manager.download(withID: added.id))
        let snapshot = try #require(try await manager.snapshot(of: added.id))
        #expect(snapshot.state == .paused)
        #expect(snapshot.error?.description.contains("ended 2 times while") == true, "\(snapshot)")
        #expect(snapshot.error?.cause?.id == "program-ended-while-starting")
        let innocent = try #require(try await manager.download(withID: other.id))
        _ = try await innocent.file
        #expect(bench.origin.log.of("/f").isEmpty)
        try await manager.resume(added.id)
        _ = try await download.file
        #expect(try await manager.snapshot(of: added.id)?.error == nil)
        await manager.shutDown()
    }
}
