import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlSystem

/// Downloads that are paused until a time, and a timetable that pauses all.
@Suite struct ScheduleTests {
    private let content = Payload(seed: 4902, length: 50_001)
    private var now: Int64 { SystemClock().wallTime.seconds }

    @Test func `a scheduled download is paused until its time, also over a restart`() async throws {
        let bench = try ManagerBench()
        let url = bench.origin.serve("/f", content)
        let manager = try await bench.open()
        let time = now + 3600
        let download = try await manager.add(bench.request(url) { $0.startAt = time })
        #expect(try await manager.snapshot(of: download.id)?.startAt == time)
        #expect(try await !manager.isIdle())
        await manager.shutDown()

        let again = try await bench.open()
        let snapshot = try #require(try await again.snapshot(of: download.id))
        #expect(snapshot.state == .paused && snapshot.startAt == time)
        // The time comes.
        #expect(try await again.perform(.schedule(download.id, now)).isChange)
        #expect(try await again.download(withID: download.id)?.file.length == content.length)
        #expect(try await again.snapshot(of: download.id)?.startAt == nil)
        #expect(try await again.isIdle())
        await again.shutDown()
    }

    @Test func `resuming, starting and pausing end the wait`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        for (number, command) in [QueueCommand.Kind.resume, .start, .pause, .pauseAll, .resumeAll].enumerated() {
            let url = bench.origin.serve("/\(number)", content)
            let id = try await manager.add(bench.request(url) { $0.startAt = now + 3600 }).id
            switch command {
            case .resume: try await manager.resume(id)
            case .start: try await manager.start(now: id)
            case .pause: #expect(try await manager.pause(id))
            case .pauseAll: try await manager.perform(.pauseAll)
            case _: try await manager.perform(.resumeAll())
            }
            #expect(try await manager.snapshot(of: id)?.startAt == nil, "\(command)")
            let isPaused = try await manager.snapshot(of: id)?.state == .paused
            #expect(isPaused == [.pause, .pauseAll].contains(command), "\(command)")
        }
        await manager.shutDown()
    }

    @Test func `a running download can be put off, and a finished one cannot`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, _) = bench.serveStalling("/slow", seed: 4903)
        let download = try await manager.add(bench.request(url))
        await download.reaches(bytes: 1)
        #expect(try await manager.perform(.schedule(download.id, now + 3600)).isChange)
        #expect(try await manager.snapshot(of: download.id)?.state == .paused)
        #expect(try await manager.perform(.schedule(download.id, nil)).isChange)
        #expect(try await manager.snapshot(of: download.id)?.startAt == nil)
        let done = try await manager.add(bench.request(bench.origin.serve("/f", content)))
        _ = try await done.file
        #expect(try await !manager.perform(.schedule(done.id, now + 3600)).isChange)
        await manager.shutDown()
    }

    @Test func `a timetable can pause all downloads, and forced ones run`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/slow", seed: 4904)
        let download = try await manager.add(bench.request(url))
        await download.reaches(bytes: 1)
        try await manager.change(timetable: "00:00-24:00 pause")
        await download.reaches(.waiting)
        let limits = try await manager.limits()
        #expect(limits.isPaused && limits.pausedUntil == nil && limits.rateLimit == nil)
        let other = try await manager.add(bench.request(bench.origin.serve("/f", content)))
        #expect(other.snapshot.state == .waiting)
        #expect(try await manager.counts().running == 0)
        #expect(try await !manager.isIdle())
        try await manager.start(now: other.id)
        #expect(try await other.file.length == content.length)
        #expect(try await manager.counts().running == 0)
        bench.origin.adjust("/slow") { $0.cut = nil }
        await manager.shutDown()

        let again = try await bench.open()
        #expect(try await again.counts().running == 0, "it pauses from the start")
        try await again.change(timetable: nil)
        #expect(try await again.download(withID: download.id)?.file.length == payload.length)
        #expect(try await !again.limits().isPaused)
        await again.shutDown()
    }
}
