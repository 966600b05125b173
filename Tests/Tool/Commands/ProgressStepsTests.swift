import Testing

@testable import Pawl
@testable import PawlTerminal

/// Progress where nothing can be redrawn.
@Suite struct ProgressStepsTests {
    private func snapshot(_ written: Int64, of total: Int64?) -> DownloadSnapshot {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: "http://h/f")
        snapshot.state = .transferring
        (snapshot.name, snapshot.written, snapshot.total) = ("f", written, total)
        snapshot.smoothedSpeed = 1024
        return snapshot
    }

    @Test func `there is a line for each tenth of the size, and none between`() {
        var steps = ProgressSteps()
        #expect(steps.line(of: snapshot(0, of: 1000), at: 0) == nil)
        #expect(steps.line(of: snapshot(99, of: 1000), at: 1_000) == nil)
        let line = steps.line(of: snapshot(105, of: 1000), at: 2_000)
        #expect(line == "f: 10%, 105/1000 B, 1.00 KiB/s")
        #expect(steps.line(of: snapshot(150, of: 1000), at: 3_000) == nil)
        #expect(steps.line(of: snapshot(450, of: 1000), at: 4_000)?.hasPrefix("f: 45%") == true)
        #expect(steps.line(of: snapshot(1000, of: 1000), at: 5_000) == nil, "its end is reported anyway")
    }

    @Test func `without a size, or without progress, there is a line each minute`() {
        var steps = ProgressSteps()
        #expect(steps.line(of: snapshot(5, of: nil), at: 0) == nil)
        #expect(steps.line(of: snapshot(50, of: nil), at: 59_999) == nil)
        #expect(steps.line(of: snapshot(60, of: nil), at: 60_000) == "f: 60 B, 1.00 KiB/s")
        #expect(steps.line(of: snapshot(70, of: nil), at: 61_000) == nil)
        #expect(steps.line(of: snapshot(70, of: nil), at: 120_000) != nil)
    }

    @Test func `a wait that a host requested is reported as it begins, once`() {
        var steps = ProgressSteps()
        var waiting = snapshot(5, of: 10)
        (waiting.waitsForHost, waiting.retryIn) = ("h", .seconds(3599))
        let line = "f: 50%, 5/10 B, waiting for h, which requested a wait: 59:59 left"
        #expect(steps.line(of: waiting, at: 0) == line)
        #expect(steps.line(of: waiting, at: 59_000) == nil && steps.line(of: waiting, at: 60_000) != nil)
        waiting.waitsForHost = nil
        #expect(steps.line(of: waiting, at: 61_000) == nil)
        (waiting.waitsForHost, waiting.retryIn) = ("h", .seconds(4))
        #expect(steps.line(of: waiting, at: 62_000) == nil, "a short one is not worth a line")
        #expect(steps.wait(of: waiting, atLeast: 3) != nil && steps.wait(of: waiting, atLeast: 3) == nil)
    }

    @Test func `a download that waits says so`() {
        var steps = ProgressSteps()
        var waiting = snapshot(5, of: 10)
        #expect(steps.line(of: waiting, at: 0) == nil)
        waiting.retryIn = .seconds(30)
        #expect(steps.line(of: waiting, at: 60_000) == "f: 50%, 5/10 B, retrying in 30 s")
        waiting.retryIn = nil
        waiting.state = .waitingForNetwork
        #expect(steps.line(of: waiting, at: 120_000) == "f: 50%, 5/10 B, waiting for network")
    }
}
