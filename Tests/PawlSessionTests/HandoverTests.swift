import Glibc
import Pawl
import PawlTestKit
import Testing

@testable import PawlSession

/// The owner of a session: a program, the service, or no process.
@Suite struct HandoverTests {
    private func root(_ bench: SessionBench) -> SessionRoot {
        SessionRoot(of: "films", in: bench.folder.path("state"))
    }

    /// The service's share of it.
    private func adopted(_ bench: SessionBench) async throws -> DownloadManager {
        let notes = Notes()
        let session = bench.session(notes, identifier: "films", slots: 5)
        #expect(await session.allTasks.isEmpty)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        let other = try await DownloadManager(root: bench.folder.path("service"))
        try await other.limit(to: 5_000)
        let manager = try await DownloadManager(goingOnIn: root(bench).path, beside: other)
        #expect(try await manager.bounds().slots == 5)
        #expect(try await manager.bounds().rateLimit == 5_000)
        try await other.limit(to: 6_000)
        #expect(try await manager.bounds().rateLimit == 6_000)
        await other.shutDown()
        return manager
    }

    @Test func `A2 a session waits until the service has released its queue, and keeps no limit of it`()
        async throws
    {
        let bench = try SessionBench()
        let service = try await adopted(bench)
        let notes = Notes()
        let session = bench.session(notes, identifier: "films")
        let task = session.downloadTask(with: bench.origin.serve("/f", Payload(seed: 770, length: 1_000)))
        task.resume()
        let root = root(bench)
        // The service notices that a program holds the session.
        await aside { while root.leftBy != nil { sched_yield() } }
        #expect(bench.origin.log.of("/f").isEmpty)
        await service.shutDown()
        #expect(await notes.until("complete 0"))
        session.finishTasksAndInvalidate()
        #expect(await notes.until("over 0"))
        #expect(root.leftBy != nil)
        let manager = try await DownloadManager(root: root.path)
        let bounds = try await manager.bounds()
        #expect(bounds.slots == 3 && bounds.rateLimit == nil)
        await manager.shutDown()
    }

    @Test func `A2 a session whose queue is never released fails with a remedy`() async throws {
        let bench = try SessionBench()
        let service = try await adopted(bench)
        let notes = Notes()
        var configuration = bench.configuration("films")
        configuration.handoverPatience = 0
        let session = DownloadSession(configuration: configuration, delegate: notes)
        #expect(await notes.until("over 11"))
        #expect(session.downloadTask(with: bench.origin.url("/f")).state == .completed)
        await service.shutDown()
    }

    @Test func `only folders that nobody else can have created are sessions`() async throws {
        let folder = try TemporaryFolder()
        let state = folder.path("state")
        for name in ["own", "shared", ".partials", "real"] {
            unsafe mkdir(folder.path("state"), 0o700)
            unsafe mkdir("\(state)/\(name)", 0o700)
        }
        unsafe symlink("\(state)/real", "\(state)/link")
        unsafe chmod("\(state)/shared", 0o777)
        try FileSystem.write([], to: "\(state)/file")
        #expect(Set(SessionRoot.all(in: state).map(\.name)) == ["own", "real"])
        #expect(SessionRoot.all(in: state).allSatisfy { $0.leftBy == nil }, "no program had them")
        unsafe chmod(state, 0o777)
        #expect(SessionRoot.all(in: state).isEmpty)
    }
}
