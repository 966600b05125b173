import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlSession

/// The owner of a session: a program, the service, or no process.
@Suite struct HandoverTests {
    private func root(_ bench: SessionBench) -> SessionRoot { SessionRoot(of: "films", in: bench.folder.path("state")) }

    /// The service's share of it.
    private func adopted(_ bench: SessionBench) async throws -> DownloadManager {
        let notes = Notes()
        let session = bench.session(notes, identifier: "films", slots: 5)
        #expect(await session.allTasks.isEmpty)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        let other = try await DownloadManager(root: bench.folder.path("service"))
        try await other.limit(to: 5_000)
        let manager = try await DownloadManager(resumingIn: root(bench).path, beside: other)
        #expect(try await manager.limits().maximumConcurrentDownloads == 5)
        #expect(try await manager.limits().rateLimit == 5_000)
        try await other.limit(to: 6_000)
        #expect(try await manager.limits().rateLimit == 6_000)
        await other.shutDown()
        return manager
    }

    @Test func `A2 a session waits until the service has released its queue, and keeps no limit of it`() async throws {
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
        let bounds = try await manager.limits()
        #expect(bounds.maximumConcurrentDownloads == 3 && bounds.rateLimit == nil)
        await manager.shutDown()
    }

    @Test func `the threads of a session block the process's signals`() async throws {
        let bench = try SessionBench()
        let service = try await adopted(bench)
        let notes = Notes()
        let session = bench.session(notes, identifier: "films")
        let names = ["pawl-session", "pawl-handover"]
        // The second one waits for the service.
        let masks = await aside { () -> [String: [UInt64]] in
            let end = ContinuousClock.now + .patience
            while ContinuousClock.now < end {
                let masks = Self.blockedSignals()
                if names.allSatisfy({ masks[$0] != nil }) { return masks }
                sched_yield()
            }
            return [:]
        }
        for name in names {
            let blocked = try #require(masks[name], "no thread \(name)")
            for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] {
                #expect(blocked.allSatisfy { $0 >> UInt64(number - 1) & 1 == 1 }, "\(name), signal \(number)")
            }
        }
        await service.shutDown()
        #expect(await session.allTasks.isEmpty)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    /// The masks of this process's threads, by their names.
    private static func blockedSignals() -> [String: [UInt64]] {
        var masks: [String: [UInt64]] = [:]
        for thread in FileSystem.names(in: "/proc/self/task") {
            let status = FileSystem.contents("/proc/self/task/\(thread)/status") ?? []
            let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
            var fields: [Substring: Substring] = [:]
            for line in lines {
                let parts = line.split(separator: ":\t", maxSplits: 1)
                if parts.count == 2 { fields[parts[0]] = parts[1] }
            }
            guard let name = fields["Name"], let mask = fields["SigBlk"].flatMap({ UInt64($0, radix: 16) }) else {
                continue
            }
            masks[String(name), default: []].append(mask)
        }
        return masks
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
