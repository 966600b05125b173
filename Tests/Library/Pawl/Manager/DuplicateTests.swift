import Pawl
import PawlJournal
import PawlTestKit
import Testing

/// Several downloads of one URL in one folder.
@Suite struct DuplicateTests {
    @Test func `D14 removing a second download of a URL leaves the first one's part file alone`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/f", seed: 925)
        let first = try await manager.add(bench.request(url))
        await first.reaches(bytes: 2_000_000)
        try await manager.pause(first.id)
        await first.reaches(.paused)
        let second = try await manager.add(
            bench.request(url) {
                $0.start = .paused
                $0.allowsDuplicate = true
            })
        #expect(second.id != first.id)
        #expect(try await manager.remove(second.id))
        #expect(bench.root.names.contains("f.part"))
        // The stalled connection stays stalled: it may not have received the pause yet.
        bench.origin.adjust("/f") { $0.cut = nil }
        try await manager.resume(first.id)
        #expect(try await first.file.received < payload.length)
        #expect(bench.root.difference("f", from: payload) == nil)
        await manager.shutDown()
    }

    @Test func `A7 a second download of a URL never takes the first one's part file, paused or running`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/f", seed: 926)
        let first = try await manager.add(bench.request(url))
        await first.reaches(bytes: 2_000_000)
        let second = try await manager.add(bench.request(url) { $0.allowsDuplicate = true })
        await second.reaches(bytes: 2_000_000)
        #expect(second.snapshot.name == "f (1)")
        try await manager.pause(first.id)
        await first.reaches(.paused)
        let third = try await manager.add(bench.request(url) { $0.allowsDuplicate = true })
        await third.reaches(bytes: 2_000_000)
        #expect(third.snapshot.name == "f (2)")
        // A URL that differs only in its query may have the same content, but belongs to another download.
        let fourth = try await manager.add(bench.request(url + "?sig=2"))
        await fourth.reaches(bytes: 2_000_000)
        #expect(fourth.snapshot.name == "f (3)")
        bench.origin.adjust("/f") { $0.cut = nil }
        bench.origin.release("/f")
        try await manager.resume(first.id)
        for download in [first, second, third, fourth] { _ = try await download.file }
        #expect(bench.root.names == ["f", "f (1)", "f (2)", "f (3)"])
        for name in bench.root.names { #expect(bench.root.difference(name, from: payload) == nil) }
        #expect(try await first.file.received < payload.length, "it continued with its own")
        await manager.shutDown()
    }

    @Test(arguments: [Behaviour.Validators.strong, .none])
    func `a second download of a URL gets a file of its own beside the finished one`(
        validators: Behaviour.Validators
    ) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let payload = Payload(seed: 927, length: 100_000)
        let url = bench.origin.serve("/f", payload) { $0.validators = validators }
        var files: [String] = []
        for _ in 0..<3 {
            let download = try await manager.add(bench.request(url) { $0.allowsDuplicate = true })
            files.append(try await download.file.path)
        }
        #expect(Set(files).count == 3)
        #expect(bench.root.names == ["f", "f (1)", "f (2)"])
        for name in bench.root.names { #expect(bench.root.difference(name, from: payload) == nil) }
        await manager.shutDown()
    }
}
