import PawlQueue
import Testing

/// The downloads that a process was starting when it crashed are known to the next one.
@Suite struct StartLedgerTests {
    private let one = QueueID(rawValue: 1)
    private let other = QueueID(rawValue: 0xFFFF_FFFF_FFFF_FFFF)

    @Test func `two crashes during a start set a download aside`() {
        var ledger = StartLedger()
        ledger.begin(one)
        ledger.begin(other)
        ledger.end(other)
        var next = StartLedger(leftBy: ledger.text)
        #expect(next.suspects.isEmpty)
        next.begin(one)
        next.begin(other)
        let last = StartLedger(leftBy: next.text)
        #expect(last.suspects == [one])
    }

    @Test func `a crash while it waits is not attributed to it`() {
        var ledger = StartLedger()
        ledger.begin(one)
        for _ in 1...5 { ledger = StartLedger(leftBy: ledger.text) }
        #expect(ledger.suspects.isEmpty)
        ledger.begin(one)
        #expect(StartLedger(leftBy: ledger.text).suspects == [one])
    }

    @Test func `a start that was survived resets the count`() {
        var ledger = StartLedger()
        for _ in 1...5 {
            ledger.begin(one)
            ledger = StartLedger(leftBy: ledger.text)
            ledger.begin(one)
            ledger.end(one)
            ledger = StartLedger(leftBy: ledger.text)
            #expect(ledger.text.isEmpty)
        }
    }

    @Test(arguments: [
        "", " ", ":", "1", "1:", "1:+", "0:1+", "z:1+", "1:-1+", "1:3+", "1:99999999999999999999+", "1:1:1+", "+",
        "10000000000000000:1+", "1:1", "\u{0}:1+",
    ]) func `an invalid text is ignored`(text: String) { #expect(StartLedger(leftBy: text).suspects.isEmpty) }

    @Test func `a text of any length is parsed`() {
        let text = Array(repeating: "1:1+", count: 100_000).joined(separator: " ")
        #expect(StartLedger(leftBy: text).suspects == [one])
    }
}
