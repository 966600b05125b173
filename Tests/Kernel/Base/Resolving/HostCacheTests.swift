import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

@Suite struct `Host names` {
    private static let start = Instant(nanoseconds: 1_000_000_000_000)
    private let found = HostResult.addresses(["192.0.2.1", "2001:db8::1"])
    private let query = HostQuery("a.example")

    /// A cache, its time, and dice.
    private struct Stage {
        var cache = HostCache()
        var now = start
        var dice = Dice(seed: 7)

        mutating func ask(_ query: HostQuery, _ waiter: HostCache.Waiter) -> HostResult? {
            cache.ask(query, for: waiter, at: now)
        }

        mutating func next() -> HostQuery? { cache.next(at: now) }

        mutating func end(_ query: HostQuery, _ result: HostResult) -> (waiters: [UInt64], result: HostResult)? {
            cache.ended(query, result, at: now, dice: &dice)
        }

        /// Looks the name up for the waiter; returns what is notified.
        mutating func lookUp(_ query: HostQuery, _ result: HostResult) -> HostResult? {
            guard ask(query, 99) == nil, next() == query else { return nil }
            return end(query, result)?.result
        }
    }

    @Test func `requests for a name wait for one lookup and all get every address`() {
        var stage = Stage()
        #expect(stage.ask(query, 1) == nil && stage.ask(query, 2) == nil)
        #expect(stage.next() == query && stage.next() == nil)
        #expect(stage.ask(query, 3) == nil && stage.next() == nil, "it is under way")
        let notified = stage.end(query, found)
        #expect(notified?.waiters == [1, 2, 3] && notified?.result == found)
        #expect(stage.ask(query, 4) == found)
        #expect(stage.ask(HostQuery("a.example", .v6), 5) == nil, "another question")
    }

    @Test(arguments: [HostResult.addresses(["192.0.2.1"]), .missing])
    func `a result is kept for a minute, also that there is no such name`(result: HostResult) {
        var stage = Stage()
        #expect(stage.lookUp(query, result) == result)
        stage.now = Self.start + .seconds(59)
        #expect(stage.ask(query, 1) == result)
        stage.now = Self.start + .seconds(60)
        #expect(stage.ask(query, 2) == nil)
        #expect(stage.next() == query)
    }

    @Test func `a resolver that does not respond gets the request again after growing delays`() {
        var stage = Stage()
        #expect(stage.ask(query, 1) == nil)
        var delays: [Double] = []
        while stage.next() == query {
            guard stage.end(query, .unavailable) == nil else { break }
            guard let due = stage.cache.deadline else { break }
            #expect(stage.next() == nil, "not before it is due")
            delays.append((due - stage.now).seconds)
            stage.now = due
        }
        #expect(delays.count == HostCache.attempts - 1)
        #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 < $1 } && delays.allSatisfy { $0 < 2 })
        #expect(stage.cache.count == 0, "nothing is known, and nothing kept")
    }

    @Test func `a lookup that succeeds after failures tells who waited`() throws {
        var stage = Stage()
        #expect(stage.ask(query, 1) == nil && stage.next() == query)
        #expect(stage.end(query, .unavailable) == nil)
        #expect(stage.ask(query, 2) == nil && stage.next() == nil, "its delay holds for others too")
        stage.now = try #require(stage.cache.deadline)
        #expect(stage.next() == query)
        let notified = stage.end(query, found)
        #expect(notified?.waiters == [1, 2] && notified?.result == found)
    }

    @Test func `old addresses are used while the resolver does not respond, for some time`() {
        var stage = Stage()
        #expect(stage.lookUp(query, found) == found)
        stage.now = Self.start + .seconds(61)
        #expect(stage.lookUp(query, .unavailable) == found)
        stage.now = Self.start + .seconds(70)
        #expect(stage.ask(query, 1) == found, "the resolver is left alone for a while")
        stage.now = Self.start + .seconds(72)
        #expect(stage.lookUp(query, .unavailable) == found)
        stage.now = Self.start + HostCache.lifetime + HostCache.longestUse
        #expect(stage.ask(query, 2) == nil && stage.next() == query)
        #expect(stage.end(query, .unavailable) == nil, "they are too old")
    }

    @Test func `at most 64 lookups are under way, in the order of the requests`() {
        var stage = Stage()
        let queries = (0..<200).map { HostQuery("h\($0).example") }
        for (index, query) in queries.enumerated() { _ = stage.ask(query, UInt64(index)) }
        #expect(stage.cache.ready(at: stage.now) == 64)
        #expect((0..<200).compactMap { _ in stage.next() } == Array(queries.prefix(64)))
        #expect(stage.end(queries[7], found)?.waiters == [7])
        #expect(stage.next() == queries[64] && stage.next() == nil)
        #expect(stage.end(queries[8], .unavailable) == nil)
        #expect(stage.next() == queries[65] && stage.next() == nil, "a delay is no lookup")
    }

    @Test func `a name that nobody waits for any more is not looked up`() {
        var stage = Stage()
        #expect(stage.ask(query, 1) == nil && stage.ask(query, 2) == nil)
        stage.cache.withdraw(1, from: query)
        stage.cache.withdraw(2, from: query)
        #expect(stage.next() == nil && stage.cache.count == 0)
        #expect(stage.ask(query, 3) == nil)
        #expect(stage.next() == query && stage.next() == nil, "once, although it was queued twice")
        stage.cache.withdraw(3, from: query)
        #expect(stage.end(query, .unavailable)?.waiters == [], "it is not tried again")
        #expect(stage.cache.deadline == nil)
    }

    @Test func `names whose servers are silent do not delay others and never have all lookups`() {
        var stage = Stage()
        let silent = (0..<HostCache.mostLookups).map { HostQuery("silent\($0).example") }
        for (number, name) in silent.enumerated() { #expect(stage.ask(name, UInt64(number)) == nil) }
        #expect(silent.allSatisfy { $0 == stage.next() }, "nothing is known of them yet")
        stage.now = stage.now + .seconds(2)
        for name in silent { #expect(stage.end(name, .unavailable) == nil) }
        stage.now = stage.now + .seconds(2)
        #expect(stage.ask(query, 1_000) == nil)
        var running = [stage.next(), stage.next()].compactMap(\.self)
        #expect(running.contains(query), "although it has waited for less time")
        #expect(stage.cache.ready(at: stage.now) == HostCache.mostSilent - 1)
        while let name = stage.next() { running.append(name) }
        #expect(running.count == HostCache.mostSilent + 1)
        #expect(stage.cache.ready(at: stage.now) == 0)
        let other = HostQuery("b.example")
        #expect(stage.ask(other, 1_001) == nil && stage.next() == other)
        for name in running where name != query { #expect(stage.end(name, found)?.result == found) }
        let last = stage.next()
        #expect(last.map { silent.contains($0) && !running.contains($0) } == true, "the others follow")
    }

    @Test func `a name whose lookup failed at once comes first`() {
        var stage = Stage()
        #expect(stage.lookUp(query, .unavailable) == nil)
        stage.now = stage.now + .seconds(1)
        let other = HostQuery("b.example")
        #expect(stage.ask(other, 1) == nil)
        #expect(stage.next() == query && stage.next() == other)
    }

    @Test func `a silent name stays one for later requests, until it responds`() {
        var stage = Stage()
        #expect(stage.ask(query, 1) == nil)
        while stage.next() == query {
            stage.now = stage.now + .seconds(2)
            guard stage.end(query, .unavailable) == nil, let due = stage.cache.deadline else { break }
            stage.now = max(stage.now, due)
        }
        #expect(stage.cache.count == 1 && stage.cache.deadline == nil)
        let other = HostQuery("b.example")
        #expect(stage.ask(query, 2) == nil && stage.ask(other, 3) == nil)
        #expect(stage.next() == other && stage.next() == query)
        #expect(stage.end(query, found)?.result == found)
        stage.now = stage.now + .seconds(3600)
        #expect(stage.ask(query, 4) == nil && stage.ask(HostQuery("c.example"), 5) == nil)
        #expect(stage.next() == query)
    }

    @Test func `lookups without a response slow no others down, and those that fail at once do`() {
        for delay in [Interval.seconds(2), .milliseconds(500)] {
            var stage = Stage()
            for number in 0..<64 { #expect(stage.ask(HostQuery("h\(number).example"), UInt64(number)) == nil) }
            let started = (0..<64).compactMap { _ in stage.next() }
            stage.now = stage.now + delay
            for name in started { #expect(stage.end(name, .unavailable) == nil) }
            #expect(stage.ask(query, 64) == nil && stage.ask(HostQuery("b.example"), 65) == nil)
            #expect(stage.next() == query)
            #expect((stage.next() == nil) == (delay < HostCache.silence))
        }
    }

    @Test func `memory is bounded whatever the number of names`() {
        var stage = Stage()
        var missing = 0
        for number in 0..<HostCache.mostNames + 500
        where stage.lookUp(HostQuery("h\(number).example"), .missing) == .missing { missing += 1 }
        #expect(missing == HostCache.mostNames + 500)
        #expect(stage.cache.count == HostCache.mostNames)
        #expect(stage.ask(HostQuery("h500.example"), 1) == .missing)
        #expect(stage.ask(HostQuery("h499.example"), 2) == nil, "the oldest are gone")
        stage.cache.withdraw(2, from: HostQuery("h499.example"))
        stage.now = stage.now + .seconds(3600)
        #expect(stage.lookUp(query, found) == found)
        #expect(stage.cache.count == 1, "and so is what is too old to be used")
    }

    @Test(arguments: [
        ("example.org", true), ("a.localhost.example", true), ("localhost", false), ("a.localhost", false),
        ("192.0.2.1", false), ("2001:db8::1", false), (String(repeating: "a.", count: 127), false), ("", false),
    ]) func `only names are looked up`(host: String, needsLookup: Bool) {
        #expect(HostQuery(host).needsLookup == needsLookup)
    }

    // MARK: every reachable state

    private struct State: Hashable {
        var cache = HostCache()
        var now = start
        var requested: UInt64 = 0
        var waits = 0
        var running: Set<HostQuery> = []
        /// The waiters that have not been notified, and for what they wait.
        var owed: [UInt64: HostQuery] = [:]
    }

    /// The states that one event leads to.
    private func successors(of state: State, _ queries: [HostQuery], waits: Int) -> [State] {
        var states: [State] = []
        func add(_ change: (inout State) -> Void) {
            var next = state
            change(&next)
            states.append(next)
        }
        for query in queries where state.requested < 3 {
            add { state in
                state.requested += 1
                if state.cache.ask(query, for: state.requested, at: state.now) == nil {
                    state.owed[state.requested] = query
                }
            }
        }
        for (waiter, query) in state.owed {
            add { state in
                state.cache.withdraw(waiter, from: query)
                state.owed[waiter] = nil
            }
        }
        add { state in
            guard let query = state.cache.next(at: state.now) else { return }
            #expect(state.running.insert(query).inserted, "one lookup of a name at a time")
        }
        for query in state.running {
            for result in [found, .missing, .unavailable] {
                add { state in
                    state.running.remove(query)
                    var dice = Dice(seed: 1)
                    guard let end = state.cache.ended(query, result, at: state.now, dice: &dice) else { return }
                    #expect(result == .unavailable || end.result == result)
                    for waiter in end.waiters {
                        #expect(state.owed.removeValue(forKey: waiter) == query, "notified once, of its own name")
                    }
                    #expect(!state.owed.values.contains(query), "all are notified")
                }
            }
        }
        if state.waits < waits {
            for time in [state.cache.deadline, state.now + .seconds(61)].compactMap(\.self) where time > state.now {
                add { state in
                    state.waits += 1
                    state.now = time
                }
            }
        }
        return states
    }

    @Test(arguments: [(names: ["a.example"], waits: 4), (["a.example", "b.example"], 1)])
    func `in every reachable state who waits is notified in the end`(names: [String], waits: Int) {
        let queries = names.map { HostQuery($0) }
        var seen: Set<State> = []
        var open = [State()]
        while let state = open.popLast() {
            guard seen.insert(state).inserted else { continue }
            let isMoving = !state.running.isEmpty || state.cache.deadline != nil
            #expect(state.owed.isEmpty || isMoving, "they wait for nothing")
            open += successors(of: state, queries, waits: waits)
        }
        #expect(seen.count > 1_000)
    }
}
