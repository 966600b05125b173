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

    // MARK: bounds of protocols

    private func granted(_ requests: [HostBudget.Request], _ budget: inout HostBudget) -> Int {
        var count = 0
        for request in requests where budget.acquire(request, now: start) == .granted { count += 1 }
        return count
    }

    private func requests(_ runs: Range<UInt64>, mayShare: Bool) -> [HostBudget.Request] {
        runs.map { HostBudget.Request(run: $0, target: $0, mayShare: mayShare) }
    }

    @Test(arguments: [(HostBounds.web, 16), (.files, 4)])
    func `a host gets no more than its protocol's connections, unless it is forced`(bounds: HostBounds, most: Int) {
        var budget = HostBudget(bounds: bounds, now: start)
        #expect(granted(requests(0..<300, mayShare: true), &budget) == most)
        #expect(budget.waiting == 300 - most)
        #expect(budget.acquire(HostBudget.Request(run: 999, isForced: true), now: start) == .granted)
        var free = HostBudget(now: start)
        #expect(granted(requests(0..<300, mayShare: true), &free) == 300)
    }

    @Test func `one with streams gets many requests, and as many connections beside them as before`() {
        let most = HostBounds.web.streams
        var budget = HostBudget(bounds: .web, now: start)
        _ = granted(requests(0..<20, mayShare: true), &budget)
        let isNew = budget.learn(hasStreams: true, now: start)
        #expect(isNew)
        #expect(budget.takeTurns().count == 4 && budget.waiting == 0)
        #expect(granted(requests(16..<UInt64(most - 20), mayShare: true), &budget) == most - 36)
        #expect(granted(requests(1000..<1030, mayShare: false), &budget) == 16)
        #expect(granted(requests(2000..<2010, mayShare: true), &budget) == 4)
        for run in 0..<20 as Range<UInt64> { budget.release(run, ended: nil, now: start) }
        #expect(budget.inUse == most - 20 && budget.line.count(where: \.isInvited) == 6)
        // It has fallen back to HTTP/1.1.
        _ = budget.learn(hasStreams: false, now: start)
        #expect(granted(requests(3000..<3001, mayShare: true), &budget) == 0)
    }

    @Test func `further connections have the same bound, unless the user has given their number`() {
        for (isAutomatic, count) in [(true, 16), (false, 40)] {
            var budget = HostBudget(bounds: .web, now: start)
            let requests = (0..<40).map { index in
                HostBudget.Request(run: 1, isFurther: index > 0, obeysMemory: isAutomatic)
            }
            #expect(granted(requests, &budget) == count)
        }
    }

    @Test func `the next request of a download keeps its place at the bound`() {
        var budget = HostBudget(bounds: .web, now: start)
        _ = granted(requests(0..<16, mayShare: false), &budget)
        let next = budget.replace(ended: nil, by: request(3), now: start)
        #expect(next == .granted && budget.inUse == 16)
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
