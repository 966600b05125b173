import Testing

@testable import PawlServer

@Suite struct SpeedHistoryTests {
    @Test func `means cover the last seconds, and pauses count as zero`() {
        var history = SpeedHistory()
        #expect(history.means(of: 1, count: 3, until: 100) == [])
        history.add(10, at: 100)
        history.add(30, at: 101)
        // Two seconds without a value.
        history.add(50, at: 104)
        #expect(history.means(of: 1, count: 10, until: 104) == [10, 30, 0, 0, 50])
        #expect(history.means(of: 1, count: 10, until: 107) == [10, 30, 0, 0, 50, 0, 0, 0])
        #expect(history.means(of: 5, count: 2, until: 104) == [18])
    }

    @Test func `a value that is a second late leaves no gap, before it comes and after`() {
        var history = SpeedHistory()
        history.add(10, at: 100)
        #expect(history.means(of: 1, count: 10, until: 102) == [10])
        history.add(30, at: 102)
        #expect(history.means(of: 1, count: 10, until: 102) == [10, 30, 30])
    }

    @Test func `only an hour is kept`() {
        var history = SpeedHistory()
        for second in 0..<8000 as Range<Int64> { history.add(second, at: second) }
        #expect(history.means(of: 3600, count: 2, until: 7999) == [(4400 + 7999) / 2])
        history.add(7, at: 20_000)
        #expect(history.means(of: 1, count: 3600, until: 20_000) == [7])
    }

    @Test func `a clock that was set back changes nothing that is kept`() {
        var history = SpeedHistory()
        history.add(5, at: 1000)
        history.add(9, at: 10)
        history.add(6, at: 1001)
        #expect(history.means(of: 1, count: 5, until: 1001) == [5, 6])
        history.add(.max, at: .max)
        _ = history.means(of: 10, count: 360, until: .max)
    }
}

/// Sampling ends when no download runs, and misses no start.
@Suite struct SamplerRunTests {
    @Test func `a download that starts while the running ones are asked for is sampled`() {
        var run = SamplerRun()
        let starts = [run.wake(), run.wake()]
        #expect(starts == [true, false])
        run.begin()
        let startsMeanwhile = run.wake()
        let continues = run.continues(running: false)
        #expect(!startsMeanwhile && continues)
        run.begin()
        let continuesIdle = run.continues(running: false)
        let startsAgain = run.wake()
        #expect(!continuesIdle && startsAgain)
    }

    @Test func `it goes on while downloads run, until it is ended`() {
        var run = SamplerRun()
        _ = run.wake()
        var continued: [Bool] = []
        for _ in 0..<3 {
            run.begin()
            continued.append(run.continues(running: true))
        }
        run.begin()
        run.end()
        continued += [run.continues(running: true), run.wake()]
        #expect(continued == [true, true, true, false, false])
    }
}
