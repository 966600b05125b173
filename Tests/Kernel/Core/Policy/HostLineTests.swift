import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

/// The line of those who wait for a connection to one origin.
@Suite struct HostLineTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func request(_ run: UInt64, isFurther: Bool = false) -> HostBudget.Request {
        HostBudget.Request(run: run, isFurther: isFurther, target: run)
    }

    private func full(_ places: Int) -> HostBudget {
        var budget = HostBudget(most: places, now: start)
        for run in 0..<UInt64(places) { _ = budget.acquire(request(run), now: start) }
        return budget
    }

    @Test func `who came first goes first, and nobody gets the place that is reserved`() {
        var budget = full(1)
        for run in UInt64(1)..<4 { _ = budget.acquire(request(run), now: start) }
        budget.release(0, ended: nil, now: start)
        #expect(budget.takeTurns() == [1])
        let late = budget.acquire(request(9), now: start)
        #expect(late == .full)
        let first = budget.acquire(request(1), now: start)
        #expect(first == .granted)
        budget.release(1, ended: nil, now: start)
        #expect(budget.takeTurns() == [2])
    }

    @Test func `who asks again keeps its place in the line`() {
        var budget = full(1)
        for run in [1, 2, 1, 1] as [UInt64] { _ = budget.acquire(request(run), now: start) }
        budget.release(0, ended: nil, now: start)
        #expect(budget.takeTurns() == [1])
    }

    @Test func `who goes away passes the turn on, invited or not`() {
        var budget = full(1)
        for run in UInt64(1)..<4 { _ = budget.acquire(request(run), now: start) }
        budget.leave(1, now: start)
        budget.release(0, ended: nil, now: start)
        #expect(budget.takeTurns() == [2])
        budget.leave(2, now: start)
        #expect(budget.takeTurns() == [3])
        budget.pass(3, now: start)
        budget.pass(3, now: start)
        #expect(budget.line.isEmpty)
        let late = budget.acquire(request(9), now: start)
        #expect(late == .granted)
    }

    @Test func `a further connection waits behind every first one, also if it was there before`() {
        var budget = full(2)
        _ = budget.acquire(request(0, isFurther: true), now: start)
        _ = budget.acquire(request(5), now: start)
        budget.release(1, ended: nil, now: start)
        #expect(budget.takeTurns() == [5])
    }

    @Test func `a download that waited for a further connection and lost its last one waits for a first one`() {
        var budget = full(2)
        _ = budget.acquire(request(0, isFurther: true), now: start)
        _ = budget.acquire(request(5), now: start)
        budget.release(0, ended: nil, now: start)
        #expect(budget.takeTurns() == [5])
        _ = budget.acquire(request(0), now: start)
        _ = budget.acquire(request(1, isFurther: true), now: start)
        budget.release(1, ended: nil, now: start)
        #expect(budget.takeTurns() == [0])
    }

    @Test func `the next request of a download has its place, unless it is a further one and others wait`() {
        var budget = full(2)
        _ = budget.acquire(request(5), now: start)
        let next = budget.replace(ended: nil, by: request(0), now: start)
        #expect(next == .granted && budget.inUse == 2 && budget.takeTurns().isEmpty)
        let further = budget.replace(ended: nil, by: request(1, isFurther: true), now: start)
        #expect(further == .full && budget.takeTurns() == [5])
    }

    // MARK: every course of events

    private static func below(_ limit: Int, _ dice: inout Dice) -> Int { Int(dice.next() % UInt64(limit)) }
    private static func chance(_ odds: Double, _ dice: inout Dice) -> Bool { dice.fraction() < odds }

    /// A budget with an independent record of what happened to it.
    private struct Course {
        var budget: HostBudget
        var now: Instant
        var used: [(run: UInt64, isServed: Bool)] = []
        var invited: Set<UInt64> = []
        /// The most connections served at once, by the second.
        var served: [(at: Instant, count: Int)] = []
        var log: [String] = []

        static let runs = UInt64(0)..<5

        mutating func act(_ dice: inout Dice) -> String? {
            let run = HostLineTests.below(Int(Course.runs.upperBound), &dice)
            let id = UInt64(run)
            let holds = used.contains { $0.run == id }
            let before = budget
            log.append("\(now.nanoseconds / 1_000_000)")
            switch HostLineTests.below(10, &dice) {
            case 0, 1, 2:
                log[log.count - 1] += " acquire \(id)"
                let request = HostBudget.Request(run: id, isFurther: holds, target: id % 3)
                if budget.acquire(request, now: now) == .granted {
                    used.append((id, false))
                    invited.remove(id)
                }
            case 3, 4:
                guard let index = used.firstIndex(where: { $0.run == id }) else { return nil }
                log[log.count - 1] += " release \(id)"
                let place = used.remove(at: index)
                budget.release(id, ended: place.isServed ? id % 3 : nil, now: now)
            case 5, 6:
                guard let index = used.firstIndex(where: { $0.run == id && !$0.isServed }) else { return nil }
                log[log.count - 1] += " accept \(id)"
                used[index].isServed = true
                _ = budget.accept(id, id % 3, now: now)
            case 7:
                guard let index = used.firstIndex(where: { $0.run == id && !$0.isServed }) else { return nil }
                used.remove(at: index)
                let isSame = used.contains { $0.run == id && $0.isServed }
                let reason: HostNote.Reason = [.status(503), .connection, .reset][HostLineTests.below(3, &dice)]
                log[log.count - 1] += " refuse \(id) \(reason) \(isSame)"
                budget.release(id, ended: nil, now: now)
                let wait: Interval? = HostLineTests.chance(0.3, &dice) ? .seconds(3) : nil
                let refusal = HostRefusal(reason, target: id % 3, isSameFile: isSame, retryAfter: wait)
                _ = budget.refused(refusal, now: now, wallTime: UnixTime(seconds: 0))
            case 8:
                log[log.count - 1] += " leave \(id)"
                budget.leave(id, now: now)
                invited.remove(id)
            case _:
                now = now + .milliseconds([1, 900, 10_000, 30_000][HostLineTests.below(4, &dice)])
                budget.advance(now: now)
            }
            served.append((now, used.count { $0.isServed }))
            for turn in budget.takeTurns() { invited.insert(turn) }
            return brokenLaw(before)
        }

        private func brokenLaw(_ before: HostBudget) -> String? {
            if budget.inUse != used.count { return "it counts \(budget.inUse) of \(used.count)" }
            if budget.serving != used.count(where: \.isServed) { return "it counts \(budget.serving) served" }
            let reserved = Set(budget.line.filter(\.isInvited).map(\.request.run))
            if !reserved.isSubset(of: invited) { return "\(reserved) are not called to their places" }
            return idlePlace ?? lostTurn ?? overtaken(before) ?? shrunk(before)
        }

        private func isHeld(_ waiter: HostBudget.Waiter) -> Bool {
            let target = budget.targets[waiter.request.target]?.holdUntil
            return [target, budget.overload?.until].contains { $0.map { now < $0 } ?? false }
        }

        /// No place is free while somebody may use it.
        private var idlePlace: String? {
            let taken = budget.inUse + budget.line.count(where: \.isInvited)
            let places = min(budget.most ?? .max, budget.limit?.connections ?? .max, budget.overload == nil ? .max : 1)
            let remembered = budget.memory?.places(now: now) ?? .max
            let able = budget.line.filter {
                !$0.isInvited && !isHeld($0) && !($0.request.isFurther && taken >= remembered)
            }
            return taken < places && !able.isEmpty ? "\(able) wait, \(taken) of \(places) are taken" : nil
        }

        /// Where nothing is in use, time brings the next turn.
        private var lostTurn: String? {
            let waits = budget.line.contains { !$0.isInvited }
            let isIdle = budget.inUse == 0 && !budget.line.contains(where: \.isInvited)
            return waits && isIdle && budget.nextTurn(now: now) == nil ? "nobody is called any more" : nil
        }

        /// A first connection gets its place after all that came before it, except those that are held.
        private func overtaken(_ before: HostBudget) -> String? {
            let firsts = budget.line.filter { !$0.request.isFurther }
            let known = Set(before.line.filter { !$0.isInvited }.map(\.request.run))
            guard let last = firsts.lastIndex(where: { $0.isInvited && known.contains($0.request.run) }) else {
                return nil
            }
            let passed = firsts[..<last].filter {
                !$0.isInvited && known.contains($0.request.run) && !isHeld($0)
                    && budget.targets[$0.request.target] == nil
            }
            return passed.isEmpty ? nil : "\(firsts[last]) overtakes \(passed)"
        }

        /// A limit is at least what was served in the last ten seconds.
        private func shrunk(_ before: HostBudget) -> String? {
            guard let limit = budget.limit, limit.connections < before.limit?.connections ?? .max else { return nil }
            let recent = served.filter { now - $0.at < HostBudget.recovery }.map(\.count).max() ?? 0
            let allowed = min(recent, before.limit?.connections ?? .max)
            return limit.connections < allowed ? "\(recent) were served, \(limit.connections) are left" : nil
        }
    }

    private func firstBreach(flaw: HostBudget.Flaw?, seeds: UInt64) -> String? {
        for seed in 0..<seeds {
            var dice = Dice(seed: seed)
            let most: Int? = HostLineTests.chance(0.5, &dice) ? HostLineTests.below(3, &dice) + 1 : nil
            let note = HostNote(connections: 1, reason: .reset, since: UnixTime(seconds: 0))
            let remembered: HostNote? = HostLineTests.chance(0.3, &dice) ? note : nil
            var course = Course(
                budget: HostBudget(remembered: remembered, most: most, flaw: flaw, now: start), now: start)
            for _ in 0..<60 { if let text = course.act(&dice) { return "seed \(seed): \(text)\n\(course.log)" } }
        }
        return nil
    }

    @Test func `in every course of events places go to who waits, in order, and limits are what was served`() {
        #expect(firstBreach(flaw: nil, seeds: 5_000) == nil)
    }

    @Test(arguments: [HostBudget.Flaw.wakesNobody, .shrinksToOne]) func `the laws of the line notice a flaw`(
        flaw: HostBudget.Flaw
    ) { #expect(firstBreach(flaw: flaw, seeds: 2_000) != nil) }
}
