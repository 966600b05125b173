import PawlCore
import Testing

@Suite struct HostBudgetTests {
    private let start = Instant(nanoseconds: 0)

    @Test func `G4 a rejection leaves one connection less, and time restores it`() {
        var budget = HostBudget()
        for _ in 0..<4 { #expect(budget.acquire(now: start) == .granted) }
        budget.release()
        budget.throttled(retryAfter: nil, now: start)
        #expect(budget.limit == 3)
        #expect(budget.acquire(now: start) == .full)
        budget.release()
        #expect(budget.acquire(now: start) == .granted)
        #expect(budget.acquire(now: start + .seconds(9)) == .full)
        #expect(budget.acquire(now: start + HostBudget.recovery) == .granted)
        #expect(budget.limit == 4)
        for _ in 0..<4 { budget.release() }
        #expect(budget.inUse == 0)
    }

    @Test func `G4 a limit that is set or changed during transfers applies from then on`() {
        var budget = HostBudget()
        let limits = HostLimits(rate: 1_000_000)
        budget.charge(5_000_000, rate: nil, now: start)
        #expect(budget.delay(rate: nil, now: start) == .zero)
        budget.charge(5_000_000, rate: limits.rate, now: start)
        let wait = budget.delay(rate: limits.rate, now: start)
        #expect(wait > .seconds(1))
        #expect(limits.connections == nil)
    }

    @Test func `G4 Retry-After applies to every connection, the longest wins`() {
        var budget = HostBudget()
        budget.throttled(retryAfter: .seconds(5), now: start)
        budget.throttled(retryAfter: .seconds(2), now: start)
        #expect(budget.acquire(now: start) == .hold(until: start + .seconds(5)))
        #expect(budget.acquire(now: start + .seconds(5)) == .granted)
        #expect(budget.limit == 1)
    }

    @Test func `G4 an old rejection expires, and then the budget has no limit`() {
        var budget = HostBudget()
        let isNew = budget.isForgettable(now: start)
        #expect(isNew)
        #expect(budget.acquire(now: start) == .granted)
        budget.throttled(retryAfter: .seconds(5), now: start)
        budget.release()
        let isSoon = budget.isForgettable(now: start + HostBudget.forgiveness + .seconds(-1))
        #expect(!isSoon)
        let isLate = budget.isForgettable(now: start + HostBudget.forgiveness)
        #expect(isLate)
        #expect(budget.limit == nil)
    }

    @Test func `G4 the user's own connection limit applies in addition to the origin's`() {
        var budget = HostBudget()
        #expect(budget.acquire(most: 2, now: start) == .granted)
        #expect(budget.acquire(most: 2, now: start) == .granted)
        #expect(budget.acquire(most: 2, now: start) == .full)
        #expect(budget.acquire(most: 3, now: start) == .granted)
        #expect(budget.acquire(most: 0, now: start) == .full, "never none at all")
        budget.throttled(retryAfter: nil, now: start)
        for _ in 0..<3 { budget.release() }
        #expect(budget.acquire(most: 0, now: start) == .granted)
    }

    @Test func `G4 a host's rate delays its next byte, and the debt is kept`() {
        var budget = HostBudget()
        let before = budget.delay(rate: 1000, now: start)
        #expect(before == .zero)
        budget.charge(3000, rate: 1000, now: start)
        let debt = budget.delay(rate: 1000, now: start)
        #expect(debt == .seconds(3))
        let isForgettable = budget.isForgettable(now: start)
        #expect(!isForgettable)
        let faster = budget.delay(rate: 3000, now: start)
        #expect(faster == .seconds(1))
        let lifted = budget.delay(rate: nil, now: start)
        #expect(lifted == .zero)
    }

    @Test func `a host's limit is shown by the connections that it keeps serving`() {
        var budget = HostBudget()
        budget.throttled(retryAfter: nil, now: start)
        #expect(budget.learntLimit == nil, "with nothing else in use it proves nothing")
        budget = HostBudget()
        for _ in 0..<3 { _ = budget.acquire(now: start) }
        budget.release()
        budget.throttled(retryAfter: nil, now: start)
        #expect(budget.learntLimit == 2 && budget.limit == 2)
    }

    @Test func `repeated responses for one file show no limit for a day`() {
        var budget = HostBudget()
        for _ in 0..<4 { _ = budget.acquire(now: start) }
        budget.release()
        budget.throttled(retryAfter: nil, isFirst: true, now: start)
        budget.throttled(retryAfter: nil, isFirst: false, now: start + .seconds(1))
        #expect(budget.learntLimit == 3 && !budget.isLearntLimitCertain)
        budget.throttled(retryAfter: nil, isFirst: true, now: start + .seconds(2))
        #expect(budget.isLearntLimitCertain)
    }

    @Test func `the rejection of one file is withdrawn when it was the file's own`() {
        var budget = HostBudget()
        for _ in 0..<4 { _ = budget.acquire(now: start) }
        budget.release()
        budget.connectionRefused(isSameFile: false, now: start)
        #expect(budget.limit == 3)
        budget.withdrawRefusal()
        #expect(budget.limit == nil && budget.learntLimit == nil)
        budget.connectionRefused(isSameFile: true, now: start)
        budget.withdrawRefusal()
        #expect(budget.limit == 3, "the same file was served meanwhile")
    }

    @Test func `a throttling response limits a host whatever a rejection before it meant`() {
        for others in [0, 1] {
            var budget = HostBudget()
            for _ in 0..<2 { _ = budget.acquire(now: start) }
            budget.release()
            budget.connectionRefused(isSameFile: false, now: start)
            for _ in others..<1 { budget.release() }
            budget.throttled(retryAfter: nil, now: start)
            budget.withdrawRefusal()
            #expect(budget.limit == 1, "\(others)")
        }
    }

    @Test func `a rejection that time has forgiven is withdrawn without effect`() {
        var budget = HostBudget(learntLimit: 3, now: start)
        for _ in 0..<3 { _ = budget.acquire(now: start) }
        budget.release()
        budget.connectionRefused(isSameFile: false, now: start)
        for _ in 0..<2 { budget.release() }
        let late = start + HostBudget.forgiveness * 64
        #expect(budget.acquire(now: late) == .granted && budget.limit == nil)
        budget.withdrawRefusal()
        #expect(budget.limit == nil)
    }

    @Test func `one denied file beside others may be chance, two in a row are not`() {
        var budget = HostBudget()
        for _ in 0..<3 { _ = budget.acquire(now: start) }
        budget.release()
        budget.connectionRefused(isSameFile: false, now: start)
        #expect(budget.learntLimit == nil && budget.limit == 2)
        budget.release()
        budget.connectionRefused(isSameFile: false, now: start)
        #expect(budget.learntLimit == 1 && budget.limit == 1 && budget.isLearntLimitCertain)
        var patient = HostBudget()
        for _ in 0..<2 { _ = patient.acquire(now: start) }
        patient.connectionRefused(isSameFile: false, now: start)
        patient.connectionRefused(isSameFile: false, now: start + .seconds(60))
        #expect(patient.learntLimit == nil)
    }

    @Test
    func `one rejection beside a connection for the same file shows the limit, a second makes it certain`() {
        var budget = HostBudget()
        for _ in 0..<3 { _ = budget.acquire(now: start) }
        budget.release()
        budget.connectionRefused(isSameFile: true, now: start)
        #expect(budget.learntLimit == 2 && budget.limit == 2 && !budget.isLearntLimitCertain)
        budget.connectionRefused(isSameFile: true, now: start + .seconds(1))
        #expect(budget.learntLimit == 2 && budget.isLearntLimitCertain)
    }

    @Test func `an origin that serves more than is stored for it has no stored limit`() {
        var budget = HostBudget(learntLimit: 1, now: start)
        _ = budget.acquire(now: start)
        let isMore = budget.accept()
        #expect(!isMore)
        let later = start + HostBudget.recovery * 8
        #expect(budget.acquire(now: later) == .granted)
        let serves = budget.accept()
        #expect(serves && budget.learntLimit == nil)
        budget.release(served: true)
        budget.connectionRefused(isSameFile: true, now: later)
        #expect(budget.learntLimit == 1, "a later rejection counts again")
    }

    @Test func `a host that rejects one more each time is tried less and less often`() {
        var budget = HostBudget()
        var now = start
        _ = budget.acquire(now: now)
        var waits: [Double] = []
        for _ in 0..<5 {
            let since = now
            while budget.acquire(now: now) != .granted { now = now + .seconds(1) }
            waits.append((now - since).seconds)
            budget.release()
            budget.throttled(retryAfter: nil, now: now)
        }
        #expect(waits == [0, 10, 20, 40, 80])
    }

    @Test func `a limit learnt by an earlier run applies from the first connection on`() {
        var budget = HostBudget(learntLimit: 2, now: start)
        #expect(budget.acquire(now: start) == .granted)
        #expect(budget.acquire(now: start) == .granted)
        #expect(budget.acquire(now: start + .seconds(30)) == .full)
        #expect(HostBudget(learntLimit: -3, now: start).limit == 1)
    }

    @Test func `until a host with a stored limit serves a connection, earlier ones may still count`() {
        var fresh = HostBudget()
        _ = fresh.acquire(now: start)
        #expect(!fresh.isCrowded)
        var budget = HostBudget(learntLimit: 1, now: start)
        _ = budget.acquire(now: start)
        #expect(budget.isCrowded)
        _ = budget.accept()
        #expect(!budget.isCrowded)
        budget.release(served: true)
        _ = budget.acquire(now: start)
        #expect(!budget.isCrowded, "a denial is the server's decision again")
    }

    @Test(arguments: [Interval.zero, .seconds(-1), Interval(nanoseconds: .min), Interval(nanoseconds: .max)])
    func `no wait of a host exceeds a day, and none is zero`(requested: Interval) {
        var budget = HostBudget()
        let now = Instant(nanoseconds: .max / 2)
        budget.throttled(retryAfter: requested, now: now)
        let result = budget.acquire(now: now)
        #expect(result == .granted || result == .hold(until: now + RetryAfter.longest))
    }
}
