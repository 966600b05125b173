import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore

/// What one origin was seen to allow.
@Suite struct HostBudgetTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let wall = UnixTime(seconds: 1_700_000_000)

    private func request(
        _ run: UInt64, isFurther: Bool = false, obeysMemory: Bool = true, isForced: Bool = false
    ) -> HostBudget.Request {
        HostBudget.Request(run: run, isFurther: isFurther, target: run, obeysMemory: obeysMemory, isForced: isForced)
    }

    /// A budget of which the first connections, each of a download of its own, serve.
    private func serving(_ count: UInt64, asking: UInt64 = 0) -> HostBudget {
        var budget = HostBudget(now: start)
        for run in 0..<(count + asking) {
            let grant = budget.acquire(request(run), now: start)
            #expect(grant == .granted)
            if run < count { _ = budget.accept(run, run, now: start) }
        }
        return budget
    }

    @discardableResult private func refuse(
        _ budget: inout HostBudget, _ run: UInt64, _ reason: HostNote.Reason = .status(503), isSameFile: Bool = false,
        retryAfter: Interval? = nil, now: Instant
    ) -> HostBudget.Change? {
        budget.release(run, ended: nil, now: now)
        let refusal = HostRefusal(reason, target: run, isSameFile: isSameFile, retryAfter: retryAfter)
        return budget.refused(refusal, now: now, wallTime: wall)
    }

    @Test(arguments: [HostNote.Reason.status(503), .status(429), .status(403), .reset])
    func `the refusal of one URL says nothing of others while they are served`(reason: HostNote.Reason) {
        var budget = serving(3, asking: 1)
        for second in 0..<5 {
            let now = start + .seconds(Double(second))
            let change = refuse(&budget, 3, reason, now: now)
            #expect(change == nil && budget.limit == nil)
            let again = budget.acquire(request(3), now: now)
            #expect(again == .granted)
        }
        for run in UInt64(10)..<40 {
            let grant = budget.acquire(request(run), now: start + .seconds(5))
            #expect(grant == .granted)
        }
    }

    @Test func `Retry-After holds that URL alone while others are served`() {
        var budget = serving(1, asking: 1)
        refuse(&budget, 1, retryAfter: .seconds(20), now: start)
        let own = budget.acquire(request(1), now: start + .seconds(1))
        #expect(own == .hold(until: start + .seconds(20)))
        let other = budget.acquire(request(2), now: start + .seconds(1))
        #expect(other == .granted)
        #expect(budget.nextTurn(now: start + .seconds(1)) == start + .seconds(20))
        budget.advance(now: start + .seconds(20))
        #expect(budget.takeTurns() == [1])
    }

    @Test func `a refused further connection of one file leaves what was served a moment ago`() {
        var budget = serving(5, asking: 1)
        // Short files have ended, others begin: at this instant only one is served.
        for run in UInt64(1)..<5 { budget.release(run, ended: run, now: start + .seconds(3)) }
        let change = refuse(&budget, 5, isSameFile: true, now: start + .seconds(3))
        #expect(budget.limit?.connections == 5)
        let note = HostNote(connections: 5, reason: .status(503), since: wall, isCertain: false)
        #expect(change == .note(note))
    }

    @Test func `a peak of more than twenty seconds ago does not count`() {
        var budget = serving(5, asking: 1)
        for run in UInt64(1)..<5 { budget.release(run, ended: run, now: start) }
        let later = start + .seconds(21)
        refuse(&budget, 5, isSameFile: true, now: later)
        #expect(budget.limit?.connections == 1)
    }

    @Test func `the same URL over another connection is evidence as the same file is`() {
        var budget = serving(1)
        let again = budget.acquire(HostBudget.Request(run: 9, target: 0), now: start)
        #expect(again == .granted)
        budget.release(9, ended: nil, now: start)
        _ = budget.refused(HostRefusal(.status(429), target: 0), now: start, wallTime: wall)
        #expect(budget.limit?.connections == 1)
    }

    @Test func `one connection that TCP refuses may be chance, two in a row are not`() {
        var budget = serving(2, asking: 2)
        refuse(&budget, 3, .connection, now: start)
        #expect(budget.limit == nil)
        refuse(&budget, 2, .connection, now: start + .seconds(1))
        #expect(budget.limit?.connections == 2)
        var patient = serving(2, asking: 2)
        refuse(&patient, 3, .connection, now: start)
        refuse(&patient, 2, .connection, now: start + .seconds(60))
        #expect(patient.limit == nil, "far apart they have other reasons")
        var served = serving(2, asking: 3)
        refuse(&served, 4, .connection, now: start)
        _ = served.accept(3, 3, now: start)
        refuse(&served, 2, .connection, now: start)
        #expect(served.limit == nil, "more were served in between")
    }

    @Test func `a single refusal is noted for an hour, a repeated one for a day`() {
        var budget = serving(2, asking: 2)
        guard case .note(let first) = refuse(&budget, 3, isSameFile: true, now: start),
            case .note(let second) = refuse(&budget, 2, isSameFile: true, now: start)
        else {
            Issue.record("nothing was noted")
            return
        }
        #expect(!first.isCertain && second.isCertain && second.connections == 2)
    }

    @Test func `responses that were on their way raise a limit that was seen too low`() {
        var budget = serving(1, asking: 4)
        refuse(&budget, 4, isSameFile: true, now: start)
        #expect(budget.limit?.connections == 1)
        let change = budget.accept(2, 2, now: start)
        #expect(budget.limit?.connections == 2)
        guard case .note(let note) = change else {
            Issue.record("\(String(describing: change))")
            return
        }
        #expect(note.connections == 2)
    }

    @Test func `one more is tried after ten seconds, and if it is served, another one at once`() {
        var budget = serving(1, asking: 1)
        refuse(&budget, 1, isSameFile: true, now: start)
        for run in UInt64(2)..<5 {
            let grant = budget.acquire(request(run), now: start)
            #expect(grant == .full)
        }
        #expect(budget.nextTurn(now: start) == start + HostBudget.recovery)
        let later = start + HostBudget.recovery
        budget.advance(now: later)
        #expect(budget.takeTurns() == [2])
        let trial = budget.acquire(request(2), now: later)
        #expect(trial == .granted)
        let change = budget.accept(2, 2, now: later)
        #expect(change == .forget && budget.takeTurns() == [3])
    }

    @Test func `a host that refuses one more each time is tried less and less often`() {
        var budget = serving(1, asking: 1)
        refuse(&budget, 1, isSameFile: true, now: start)
        var now = start
        var waits: [Double] = []
        for _ in 0..<4 {
            let since = now
            _ = budget.acquire(request(2), now: now)
            while budget.takeTurns() != [2] {
                now = now + .seconds(1)
                budget.advance(now: now)
            }
            waits.append((now - since).seconds)
            _ = budget.acquire(request(2), now: now)
            #expect(budget.isCrowded)
            refuse(&budget, 2, .status(403), now: now)
            #expect(!budget.isCrowded)
        }
        #expect(waits == [10, 20, 40, 80])
    }

    @Test func `a limit is forgotten after a long time without a refusal`() {
        var budget = serving(1, asking: 1)
        refuse(&budget, 1, isSameFile: true, now: start)
        budget.release(0, ended: 0, now: start)
        let soon = budget.isForgettable(now: start + HostBudget.forgiveness + .seconds(-1))
        let late = budget.isForgettable(now: start + HostBudget.forgiveness)
        #expect(!soon && late && budget.limit == nil)
    }

    // MARK: more URLs are refused than served

    @Test(arguments: [HostNote.Reason.status(503), .status(429), .reset])
    func `where more URLs are refused than served, the limit is what was served`(reason: HostNote.Reason) {
        var budget = HostBudget(now: start)
        for run in UInt64(0)..<8 { _ = budget.acquire(request(run), now: start) }
        for run in UInt64(0)..<2 { _ = budget.accept(run, run, now: start) }
        for run in UInt64(2)..<4 { refuse(&budget, run, reason, now: start) }
        #expect(budget.limit == nil, "two of eight may be chance")
        refuse(&budget, 4, reason, now: start)
        #expect(budget.limit?.connections == 2)
    }

    @Test func `where most URLs are served, those that are refused say nothing of the others`() {
        var budget = HostBudget(now: start)
        for run in UInt64(0)..<20 {
            _ = budget.acquire(request(run), now: start)
            _ = budget.accept(run, run, now: start)
            if run > 0 { budget.release(run, ended: run, now: start) }
        }
        for run in UInt64(20)..<30 {
            _ = budget.acquire(request(run), now: start)
            refuse(&budget, run, now: start)
        }
        #expect(budget.limit == nil)
    }

    // MARK: everything is refused

    @Test func `where one URL after another is refused and nothing served, the host is left alone, then tried once`() {
        var budget = HostBudget(now: start)
        for run in UInt64(0)..<4 { _ = budget.acquire(request(run), now: start) }
        for run in UInt64(0)..<4 { refuse(&budget, run, .status(429), now: start) }
        let other = budget.acquire(request(9), now: start)
        #expect(other == .hold(until: start + .seconds(1)))
        for run in UInt64(0)..<4 { _ = budget.acquire(request(run), now: start) }
        let later = start + .seconds(1)
        budget.advance(now: later)
        #expect(budget.takeTurns() == [9], "one of them")
        _ = budget.acquire(request(9), now: later)
        refuse(&budget, 9, .status(429), now: later)
        budget.advance(now: later + .seconds(1.9))
        #expect(budget.takeTurns().isEmpty, "the wait is doubled")
        budget.advance(now: later + .seconds(2))
        #expect(budget.takeTurns() == [0])
        _ = budget.acquire(request(0), now: later + .seconds(2))
        _ = budget.accept(0, 0, now: later + .seconds(2))
        #expect(budget.takeTurns() == [1, 2, 3], "it serves again")
    }

    @Test func `the longest Retry-After of those refused counts for the host`() {
        var budget = HostBudget(now: start)
        for run in UInt64(0)..<2 { _ = budget.acquire(request(run), now: start) }
        refuse(&budget, 0, retryAfter: .seconds(5), now: start)
        let between = budget.acquire(request(7), now: start)
        #expect(between == .granted, "one URL says nothing of another")
        budget.release(7, ended: nil, now: start)
        refuse(&budget, 1, retryAfter: .seconds(30), now: start)
        let other = budget.acquire(request(9), now: start)
        #expect(other == .hold(until: start + .seconds(30)))
    }

    @Test func `refusals while another request is under way do not show that everything is refused`() {
        var budget = HostBudget(now: start)
        for run in UInt64(0)..<4 { _ = budget.acquire(request(run), now: start) }
        for run in UInt64(0)..<3 { refuse(&budget, run, now: start) }
        let other = budget.acquire(request(9), now: start)
        #expect(other == .granted)
    }

    @Test func `a quota that is used up holds every request to the origin`() {
        var budget = serving(1)
        budget.hold(until: start + .seconds(30))
        budget.hold(until: start + .seconds(3))
        let other = budget.acquire(request(9), now: start)
        #expect(other == .hold(until: start + .seconds(30)))
        budget.advance(now: start + .seconds(30))
        #expect(budget.takeTurns() == [9])
    }

    @Test(arguments: [Interval.zero, .seconds(-1), Interval(nanoseconds: .min), Interval(nanoseconds: .max)])
    func `no wait of a host exceeds a day, and none is zero`(requested: Interval) {
        let now = Instant(nanoseconds: .max / 2)
        var budget = HostBudget(now: now)
        _ = budget.acquire(request(1), now: now)
        refuse(&budget, 1, retryAfter: requested, now: now)
        let result = budget.acquire(request(1), now: now)
        #expect(result == .granted || result == .hold(until: now + RetryAfter.longest))
    }

    // MARK: what the user or the program gave

    @Test func `what the user or the program requests now is held by nothing but the user's limit`() {
        var budget = serving(2, asking: 1)
        refuse(&budget, 2, isSameFile: true, retryAfter: .seconds(100), now: start)
        budget.hold(until: start + .seconds(100))
        let forced = budget.acquire(request(2, isForced: true), now: start)
        #expect(forced == .granted)
        budget.change(most: 3, now: start)
        let beyond = budget.acquire(request(3, isForced: true), now: start)
        #expect(beyond == .full)
    }

    @Test func `the user's limit applies, and waiters go when it is raised`() {
        var budget = HostBudget(most: 2, now: start)
        let grants = (UInt64(0)..<4).map { budget.acquire(request($0), now: start) }
        #expect(grants == [.granted, .granted, .full, .full])
        budget.change(most: 3, now: start)
        #expect(budget.takeTurns() == [2])
        budget.change(most: 0, now: start)
        for run in UInt64(0)..<2 { budget.release(run, ended: nil, now: start) }
        #expect(budget.takeTurns().isEmpty, "one place is reserved already, and there is never none")
        budget.change(most: nil, now: start)
        #expect(budget.takeTurns() == [3])
    }

    private var remembered: HostBudget {
        HostBudget(remembered: HostNote(connections: 2, reason: .status(503), since: wall), now: start)
    }

    @Test func `a stored limit holds no first connection, and none of a download with a given number`() {
        var budget = remembered
        for run in UInt64(0)..<30 {
            let grant = budget.acquire(request(run), now: start)
            #expect(grant == .granted)
        }
        var explicit = remembered
        for _ in 0..<8 {
            let grant = explicit.acquire(request(0, isFurther: true, obeysMemory: false), now: start)
            #expect(grant == .granted)
        }
        var automatic = remembered
        let grants = (0..<3).map { automatic.acquire(request(0, isFurther: $0 > 0), now: start) }
        #expect(grants == [.granted, .granted, .full])
    }

    @Test func `a stored limit ends when more are served, or after ten seconds`() {
        var budget = remembered
        for run in UInt64(0)..<3 {
            _ = budget.acquire(request(run), now: start)
            let change = budget.accept(run, run, now: start)
            #expect(change == (run < 2 ? nil : .forget))
        }
        #expect(budget.memory == nil)
        var slow = remembered
        for run in UInt64(0)..<2 { _ = slow.acquire(request(run), now: start) }
        _ = slow.acquire(request(0, isFurther: true), now: start)
        #expect(slow.nextTurn(now: start) == start + HostBudget.recovery)
        slow.advance(now: start + HostBudget.recovery)
        #expect(slow.takeTurns() == [0])
    }

    @Test func `a stored limit is no evidence for a 403`() {
        var budget = remembered
        for run in UInt64(0)..<5 { _ = budget.acquire(request(run), now: start) }
        #expect(!budget.isCrowded)
    }

    @Test func `what was seen of a host can be forgotten, and its waiters go`() {
        var budget = serving(2, asking: 1)
        refuse(&budget, 2, isSameFile: true, now: start)
        _ = budget.acquire(request(5), now: start)
        budget.forget(now: start)
        #expect(budget.takeTurns() == [5] && budget.limit == nil)
    }

    // MARK: the rate

    @Test func `G4 a host's rate delays its next byte, and the debt is kept`() {
        var budget = HostBudget(now: start)
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
}
