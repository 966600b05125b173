import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCommands
@testable import PawlGet
@testable import PawlSystem

@Suite struct RunLedgerTests {
    private let file = DownloadedFile(path: "./f", length: 90, received: 40, duration: .seconds(2), wasThere: false)

    private func error(_ code: Failure.Code) -> PawlError {
        PawlError(Failure(code, "failed", at: "http://h/f", because: "so"))
    }

    @Test func `all finished gives 0, and the totals are kept`() {
        var ledger = RunLedger()
        for id: UInt64 in 1...3 {
            ledger.add(id, source: "s")
            _ = ledger.apply(.finished(file), of: id)
        }
        #expect(ledger.active.isEmpty)
        #expect((ledger.finished, ledger.finishedBytes, ledger.receivedBytes) == (3, 270, 120))
        #expect(ledger.exitCode(isUnfinished: false) == 0)
    }

    @Test func `the exit code is that of the last failure`() {
        var ledger = RunLedger()
        for id: UInt64 in 1...3 { ledger.add(id, source: "s") }
        _ = ledger.apply(.failed(error(.notFound)), of: 2)
        _ = ledger.apply(.failed(error(.timeout)), of: 1)
        _ = ledger.apply(.finished(file), of: 3)
        #expect(ledger.exitCode(isUnfinished: false) == 2)
        #expect(ledger.refuse(error(.badOption), of: "s").id == nil)
        #expect(ledger.exitCode(isUnfinished: false) == 28)
        #expect(ledger.failed == 3)
    }

    @Test func `what was refused is reported with its URL, without secrets, whatever the error names`() {
        var ledger = RunLedger()
        let refusal = PawlError(Failure(refusing: .fileName, "..", because: "it is no name"))
        let report = ledger.refuse(refusal, of: "http://u:p@h/f?token=1")
        #expect(report.source == "http://…@h/f?…" && report.kind == .failed(refusal))
    }

    @Test func `an interruption that leaves downloads unfinished gives 7 regardless of failures`() {
        var ledger = RunLedger()
        ledger.add(1, source: "s")
        _ = ledger.apply(.failed(error(.notFound)), of: 1)
        #expect(ledger.exitCode(isUnfinished: true) == 7)
    }

    @Test func `a name that the user chose is known before the first response`() {
        var ledger = RunLedger()
        ledger.add(1, source: "http://h/f", name: "chosen")
        #expect(ledger.apply(.retry(error(.timeout), delay: .seconds(1)), of: 1)?.name == "chosen")
        #expect(ledger.apply(.started(name: "chosen (1)", total: 5, resumedAt: 0), of: 1)?.name == "chosen (1)")
        #expect(ledger.apply(.state(.paused), of: 1)?.name == "chosen (1)")
    }

    @Test func `D9 a paused download has ended for this command, with 7`() {
        var ledger = RunLedger()
        ledger.add(1, source: "s")
        #expect(ledger.apply(.state(.paused), of: 1)?.kind == .paused)
        #expect(ledger.active.isEmpty)
        #expect(ledger.exitCode(isUnfinished: false) == 7)
    }

    @Test func `A9 the end is reported once, late events are not reported`() {
        var ledger = RunLedger()
        ledger.add(1, source: "s")
        #expect(ledger.apply(.failed(error(.timeout)), of: 1) != nil)
        #expect(ledger.apply(.failed(error(.timeout)), of: 1) == nil)
        #expect(ledger.apply(.state(.failed), of: 1) == nil)
        #expect(ledger.apply(.finished(file), of: 9) == nil)
        #expect((ledger.failed, ledger.finished) == (1, 0))
    }

    @Test func `a state is reported when it changes, and only if no other event reports it`() {
        var ledger = RunLedger()
        ledger.add(1, source: "s")
        #expect(ledger.apply(.state(.probing), of: 1) == nil)
        #expect(ledger.apply(.state(.transferring), of: 1) == nil)
        #expect(ledger.apply(.state(.waitingForNetwork), of: 1)?.kind == .waitingForNetwork)
        #expect(ledger.apply(.state(.waitingForNetwork), of: 1) == nil)
        #expect(ledger.apply(.state(.verifying), of: 1)?.kind == .verifying)
        #expect(ledger.apply(.state(.publishing), of: 1) == nil)
        #expect(ledger.apply(.state(.finished), of: 1) == nil)
        #expect(ledger.active[1]?.state == .finished)
    }

    @Test func `a notice without a download is reported`() {
        var ledger = RunLedger()
        #expect(
            ledger.apply(.notice(DownloadNotice(.init("test", "the disk is slow"))), of: 0)
                == Report(id: nil, source: "pawl", name: nil, kind: .notice("the disk is slow")))
    }

    @Test func `the name is known from the start event on, which also ends retrying`() {
        var ledger = RunLedger()
        ledger.add(1, source: "http://h/f")
        let retry = ledger.apply(.retry(error(.network), delay: .seconds(1)), of: 1)
        #expect(retry?.name == nil)
        #expect(retry?.source == "http://h/f")
        #expect(ledger.active[1]?.isRetrying == true)
        let started = ledger.apply(.started(name: "f.iso", total: 5, resumedAt: 2), of: 1)
        #expect(started == Report(id: 1, source: "http://h/f", name: "f.iso", kind: .started(total: 5, resumedAt: 2)))
        #expect(ledger.active[1]?.isRetrying == false)
        #expect(ledger.apply(.finished(file), of: 1)?.name == "f.iso")
    }
}
