import PawlCore
import Testing

@testable import Pawl
@testable import PawlCommands

@Suite struct RosterTests {
    private let file = DownloadedFile(path: "./f", length: 90, received: 40, duration: 2, wasThere: false)

    private func error(_ code: Failure.Code) -> PawlError {
        PawlError(Failure(code, "failed", at: "http://h/f", because: "so"))
    }

    @Test func `all finished gives 0, and the sums are kept`() {
        var roster = Roster()
        for id: UInt64 in 1...3 {
            roster.add(id, source: "s")
            _ = roster.apply(.finished(file), of: id)
        }
        #expect(roster.active.isEmpty)
        #expect((roster.finished, roster.finishedBytes, roster.receivedBytes) == (3, 270, 120))
        #expect(roster.exitCode(isUnfinished: false) == 0)
    }

    @Test func `the code is that of the last that failed`() {
        var roster = Roster()
        for id: UInt64 in 1...3 { roster.add(id, source: "s") }
        _ = roster.apply(.failed(error(.notFound)), of: 2)
        _ = roster.apply(.failed(error(.timeout)), of: 1)
        _ = roster.apply(.finished(file), of: 3)
        #expect(roster.exitCode(isUnfinished: false) == 2)
        #expect(roster.refuse(error(.badOption)).id == nil)
        #expect(roster.exitCode(isUnfinished: false) == 28)
        #expect(roster.failed == 3)
    }

    @Test func `an interruption that left something undone gives 7 whatever failed`() {
        var roster = Roster()
        roster.add(1, source: "s")
        _ = roster.apply(.failed(error(.notFound)), of: 1)
        #expect(roster.exitCode(isUnfinished: true) == 7)
    }

    @Test func `D9 a paused download has ended for this command, with 7`() {
        var roster = Roster()
        roster.add(1, source: "s")
        #expect(roster.apply(.state(.paused), of: 1)?.kind == .paused)
        #expect(roster.active.isEmpty)
        #expect(roster.exitCode(isUnfinished: false) == 7)
    }

    @Test func `A9 the end is told once, what comes late is not told`() {
        var roster = Roster()
        roster.add(1, source: "s")
        #expect(roster.apply(.failed(error(.timeout)), of: 1) != nil)
        #expect(roster.apply(.failed(error(.timeout)), of: 1) == nil)
        #expect(roster.apply(.state(.failed), of: 1) == nil)
        #expect(roster.apply(.finished(file), of: 9) == nil)
        #expect((roster.failed, roster.finished) == (1, 0))
    }

    @Test func `a state is told when it changes, and only when nothing else tells it`() {
        var roster = Roster()
        roster.add(1, source: "s")
        #expect(roster.apply(.state(.probing), of: 1) == nil)
        #expect(roster.apply(.state(.transferring), of: 1) == nil)
        #expect(roster.apply(.state(.waitingForNetwork), of: 1)?.kind == .waitingForNetwork)
        #expect(roster.apply(.state(.waitingForNetwork), of: 1) == nil)
        #expect(roster.apply(.state(.verifying), of: 1)?.kind == .verifying)
        #expect(roster.apply(.state(.publishing), of: 1) == nil)
        #expect(roster.apply(.state(.finished), of: 1) == nil)
        #expect(roster.active[1]?.state == .finished)
    }

    @Test func `a notice that belongs to no download is told`() {
        var roster = Roster()
        #expect(
            roster.apply(.notice(DownloadNotice("the disk is slow")), of: 0)
                == Report(id: nil, source: "pawl", name: nil, kind: .notice("the disk is slow"))
        )
    }

    @Test func `the name is known from the start on, and retrying ends there`() {
        var roster = Roster()
        roster.add(1, source: "http://h/f")
        let retry = roster.apply(.retry(error(.network), delay: 1), of: 1)
        #expect(retry?.name == nil)
        #expect(retry?.source == "http://h/f")
        #expect(roster.active[1]?.isRetrying == true)
        let started = roster.apply(.started(name: "f.iso", total: 5, resumedAt: 2), of: 1)
        #expect(
            started
                == Report(id: 1, source: "http://h/f", name: "f.iso", kind: .started(total: 5, resumedAt: 2))
        )
        #expect(roster.active[1]?.isRetrying == false)
        #expect(roster.apply(.finished(file), of: 1)?.name == "f.iso")
    }
}
