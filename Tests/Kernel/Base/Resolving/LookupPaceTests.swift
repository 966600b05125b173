import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

/// The number of lookups a second.
@Suite struct LookupPaceTests {
    private var pace = LookupPace()
    private var now = Instant(nanoseconds: 1_000_000_000_000)

    private mutating func end(_ count: Int, isResolved: Bool = true, attempts: Int = 1, after delay: Interval = .zero) {
        for _ in 0..<count {
            now = now + .milliseconds(2)
            let start = now
            pace.started(at: now)
            now = now + delay
            if isResolved {
                pace.resolved(attempts: attempts, since: start, at: now)
            } else {
                pace.failed(since: start, at: now)
            }
        }
    }

    @Test mutating func `a resolver that responds gets all lookups at once`() {
        end(1_000)
        #expect(pace.spacing == .zero && pace.nextStart <= now)
    }

    @Test mutating func `names whose own servers are broken slow nothing down`() {
        for _ in 0..<100 {
            end(2)
            end(1, isResolved: false, attempts: 4)
        }
        #expect(pace.spacing == .zero)
    }

    @Test(arguments: [(attempts: 2, delay: Interval.zero), (attempts: 1, delay: .seconds(5))])
    mutating func `results after failures, and late ones, slow the lookups down`(attempts: Int, delay: Interval) {
        for _ in 0..<4 {
            end(7)
            end(1, attempts: attempts, after: delay)
        }
        #expect(pace.spacing == .zero, "an eighth is no sign of overload")
        for _ in 0..<16 {
            end(1)
            end(1, attempts: attempts, after: delay)
        }
        #expect(pace.spacing > .zero && pace.spacing <= .milliseconds(100))
    }

    @Test mutating func `a resolver that fails at once is left alone, then the pace grows again`() {
        end(64, isResolved: false)
        let slow = pace.spacing
        #expect(slow > .zero)
        end(1_000)
        #expect(pace.spacing > .zero && pace.spacing < slow)
        end(100_000)
        #expect(pace.spacing == .zero)
    }

    @Test mutating func `lookups that began before the last decision do not count`() {
        let start = now
        end(32, isResolved: false)
        let spacing = pace.spacing
        for _ in 0..<200 { pace.resolved(attempts: 3, since: start, at: now) }
        #expect(pace.spacing == spacing)
    }

    /// A resolver that sustains some lookups a second, and fails beyond that.
    @Test mutating func `the pace settles near what the resolver sustains`() {
        let limit = 100.0
        var cache = HostCache()
        var dice = Dice(seed: 3)
        var tokens = 10.0
        var requested = 0
        var resolved = 0
        var refused = 0
        let start = now
        while resolved < 3_000 {
            while requested < resolved + 128 {
                _ = cache.ask(HostQuery("h\(requested).example"), for: UInt64(requested), at: now)
                requested += 1
            }
            guard let query = cache.next(at: now) else {
                let step = max(Interval(nanoseconds: 1), (cache.deadline ?? now) - now)
                now = now + step
                tokens = min(10, tokens + step.seconds * limit)
                continue
            }
            let isSustained = tokens >= 1
            if isSustained { tokens -= 1 } else { refused += 1 }
            let result = isSustained ? HostResult.addresses(["192.0.2.1"]) : .unavailable
            guard let end = cache.ended(query, result, at: now, dice: &dice) else { continue }
            if end.result != .unavailable { resolved += end.waiters.count }
            if end.result == .unavailable, let waiter = end.waiters.first {
                // The download asks again.
                _ = cache.ask(query, for: waiter, at: now)
            }
        }
        let seconds = (now - start).seconds
        #expect(seconds < 3_000 / limit * 2, "\(seconds) s")
        #expect(refused < 1_000, "\(refused) of 3,000 lookups")
    }
}
