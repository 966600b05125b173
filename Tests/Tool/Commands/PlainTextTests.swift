import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlGet

@Suite struct PlainTextTests {
    private func line(_ kind: Report.Kind, name: String? = "f.iso") -> String {
        PlainText.line(Report(id: 1, source: "http://h/f.iso", name: name, kind: kind))
    }

    @Test func `every change is one plain line`() {
        let error = PawlError(Failure(.timeout, "no response from", at: "h", because: "silence"))
        #expect(line(.started(total: 2048, resumedAt: 0)) == "f.iso: started, 2.00 KiB")
        #expect(line(.started(total: nil, resumedAt: 0)) == "f.iso: started, size unknown")
        #expect(line(.started(total: 2048, resumedAt: 1024)) == "f.iso: resuming at 1.00 KiB of 2.00 KiB")
        #expect(line(.notice("started over"), name: nil) == "f.iso: started over")
        #expect(line(.retry(error, delay: 1.2)) == "f.iso: no response from h: silence; retrying in 2 s")
        var cut = error
        cut.retryAfter = .seconds(86_400)
        #expect(
            line(.retry(cut, delay: 3600))
                == "f.iso: no response from h: silence; retrying in 1:00:00, the longest wait that --max-retry-after allows"
        )
        #expect(line(.retry(cut, delay: 86_400)).hasSuffix("retrying in 1d 0h"))
        #expect(line(.waitingForNetwork) == "f.iso: no network connection; resumes when it is back")
        #expect(line(.verifying) == "f.iso: verifying")
        #expect(line(.paused) == "f.iso: paused")
        #expect(line(.failed(error)) == "pawl: no response from h: silence")
    }

    @Test func `the last line has the path, the size, the time and the speed`() {
        var file = DownloadedFile(path: "d/f.iso", length: 4096, received: 2048, duration: .seconds(2), wasThere: false)
        #expect(line(.finished(file)) == "d/f.iso: finished, 4.00 KiB in 2.0s (1.00 KiB/s)")
        let report = Report(id: 1, source: "http://h/f.iso", name: "f.iso", kind: .finished(file))
        for (width, rest) in [(80, " in 2.0s (1.00 KiB/s)"), (40, " in 2.0s"), (30, "")] {
            #expect(PlainText.line(report, width: width) == "d/f.iso: finished, 4.00 KiB" + rest)
        }
        file.duration = .milliseconds(10)
        #expect(line(.finished(file)) == "d/f.iso: finished, 4.00 KiB in 0.0s")
        file.wasThere = true
        #expect(line(.finished(file)) == "d/f.iso: already complete")
    }

    @Test func `a server's text cannot control the terminal`() {
        #expect(line(.notice("\u{1B}[2J\n"), name: "a\u{9B}") == "a\u{FFFD}: \u{FFFD}[2J\u{FFFD}")
    }

    @Test func `several files end with a summary`() {
        var ledger = RunLedger()
        for id: UInt64 in 1...3 { ledger.add(id, source: "s") }
        let file = DownloadedFile(path: "f", length: 1024, received: 0, duration: .seconds(1), wasThere: false)
        _ = ledger.apply(.finished(file), of: 1)
        #expect(PlainText.summary(ledger, unfinished: 0, seconds: 61) == "1 finished, 1.00 KiB in 1:01")
        _ = ledger.apply(.state(.paused), of: 2)
        _ = ledger.apply(.failed(PawlError(Failure(.timeout, "x", at: "y", because: "z"))), of: 3)
        #expect(
            PlainText.summary(ledger, unfinished: 1, seconds: 2)
                == "1 finished, 1 failed, 1 unfinished, 1.00 KiB in 2.0s")
    }
}
