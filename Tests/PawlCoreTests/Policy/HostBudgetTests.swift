import PawlCore
import Testing

@Suite struct HostBudgetTests {
    @Test func `G4 a complaint leaves one connection less, and time brings it back`() {
        var budget = HostBudget()
        let start = Moment(nanoseconds: 0)
        for _ in 0..<4 { #expect(budget.acquire(now: start) == .granted) }
        budget.release()
        budget.complain(retryAfter: nil, now: start)
        #expect(budget.limit == 3)
        #expect(budget.acquire(now: start) == .full)
        budget.release()
        #expect(budget.acquire(now: start) == .granted)
        #expect(budget.acquire(now: start + .seconds(9)) == .full)
        #expect(budget.acquire(now: start + HostBudget.recovery) == .granted)
        #expect(budget.limit == 4 && !budget.isIdle)
        for _ in 0..<4 { budget.release() }
        #expect(budget.inUse == 0)
    }

    @Test func `G4 Retry-After holds every connection, the longest wins`() {
        var budget = HostBudget()
        let start = Moment(nanoseconds: 0)
        #expect(budget.isIdle)
        budget.complain(retryAfter: .seconds(5), now: start)
        budget.complain(retryAfter: .seconds(2), now: start)
        #expect(budget.acquire(now: start) == .hold(until: start + .seconds(5)))
        #expect(budget.acquire(now: start + .seconds(5)) == .granted)
        #expect(budget.limit == 1)
    }
}
