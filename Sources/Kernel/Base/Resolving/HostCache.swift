/// Decides which host names are looked up, when again, and how long the results are kept.
///
/// Requests for a name that is being looked up wait for the same lookup. A resolver that is overloaded, or does not respond, is
/// requested again with a growing delay, and old addresses are better than none (RFC 8767). Names whose servers are silent take
/// a lookup for seconds: others come before them in three of four turns, and always have some of the lookups.
package struct HostCache: Hashable, Sendable {
    /// A request that waits for a lookup; never used twice.
    package typealias Waiter = UInt64

    /// The maximum number of lookups under way.
    package static let mostLookups = 64
    /// The maximum number of those of names without a response until now.
    package static let mostSilent = 48
    /// The number of other names between two of them.
    private static let mostTurns = 3
    /// A lookup that fails later got no response.
    package static let silence = Interval.seconds(1)
    /// How often a resolver is requested that does not respond.
    package static let attempts = 4
    /// The system's resolver does not report the lifetime of a result.
    package static let lifetime = Interval.seconds(60)
    /// How long addresses may be used after their lifetime, while the resolver does not respond.
    package static let longestUse = Interval.seconds(600)
    /// When the resolver gets the request again after old addresses had to be used.
    package static let pause = Interval.seconds(10)
    package static let mostNames = 10_000

    private static let retries = RetryPolicy(retries: attempts, delay: .milliseconds(250))

    private struct Lookup: Hashable {
        enum Phase: Hashable {
            case queued
            case running
            /// Until then.
            case delayed(Instant)
        }

        var phase = Phase.queued
        var attempts = 0
        /// Whether it is one of a silent name.
        var isSilent = false
        /// When the first of them began, and the last one.
        var start = Instant(nanoseconds: .min)
        var lastStart = Instant(nanoseconds: .min)
        var waiters: [Waiter] = []
    }

    private struct Name: Hashable {
        /// The last result, never `unavailable`.
        var result: HostResult?
        /// Whether the last lookup got no response.
        var isSilent = false
        /// When a request needs another result.
        var freshUntil = Instant(nanoseconds: .min)
        /// When it is no longer used even if there is no other result.
        var usableUntil = Instant(nanoseconds: .min)
        var lookup: Lookup?
    }

    private struct Timed: Hashable {
        var time: Instant
        var query: HostQuery
    }

    private var names: [HostQuery: Name] = [:]
    /// Names to be looked up, some of which may have been withdrawn.
    private var queue = FIFO<HostQuery>()
    /// The same for names whose last lookup failed at once.
    ///
    /// They come first: what becomes of them says how many lookups the resolver bears.
    private var repeated = FIFO<HostQuery>()
    /// The same for silent names.
    private var silent = FIFO<HostQuery>()
    /// The number of names from `queue` since one of the silent ones had its turn.
    private var turns = 0
    /// Names to be looked up again, sorted by time; some may have been withdrawn.
    private var delayed: [Timed] = []
    /// The results, also that a name is silent, in the order of their last use; some were replaced.
    private var results = FIFO<Timed>()
    private var running = 0
    /// The number of those of silent names.
    private var runningSilent = 0
    private var pace = LookupPace()

    package init() {}

    /// The result; `nil` when the name has to be looked up first, which is what the waiter then waits for.
    package mutating func ask(_ query: HostQuery, for waiter: Waiter?, at now: Instant) -> HostResult? {
        var name = names[query] ?? Name()
        if let result = name.result, name.freshUntil > now { return result }
        if name.lookup == nil {
            name.lookup = Lookup()
            if name.isSilent { silent.append(query) } else { queue.append(query) }
        }
        assert(waiter.map { name.lookup?.waiters.contains($0) != true } ?? true, "a waiter waits once")
        if let waiter { name.lookup?.waiters.append(waiter) }
        names[query] = name
        return nil
    }

    /// The waiter needs no result any more.
    package mutating func withdraw(_ waiter: Waiter, from query: HostQuery) {
        guard var name = names[query], var lookup = name.lookup else { return }
        lookup.waiters.removeAll { $0 == waiter }
        let isNeeded = !lookup.waiters.isEmpty || lookup.phase == .running
        name.lookup = isNeeded ? lookup : nil
        names[query] = name.lookup == nil && name.result == nil && !name.isSilent ? nil : name
    }

    /// Starts the next lookup; `nil` when none is due, or enough are under way.
    package mutating func next(at now: Instant) -> HostQuery? {
        let due = delayed.prefix { $0.time <= now }
        for entry in due where names[entry.query]?.lookup?.phase == .delayed(entry.time) {
            names[entry.query]?.lookup?.phase = .queued
            if names[entry.query]?.isSilent == true { silent.append(entry.query) } else { repeated.append(entry.query) }
        }
        delayed.removeFirst(due.count)
        guard running < HostCache.mostLookups, pace.nextStart <= now else { return nil }
        while let query = popFirst() {
            guard let name = names[query], var lookup = name.lookup, lookup.phase == .queued else { continue }
            lookup.phase = .running
            lookup.isSilent = name.isSilent
            if lookup.isSilent { runningSilent += 1 }
            if lookup.attempts == 0 { lookup.start = now }
            lookup.lastStart = now
            lookup.attempts += 1
            names[query]?.lookup = lookup
            pace.started(at: now)
            running += 1
            assert(running <= HostCache.mostLookups, "a lookup has a thread")
            return query
        }
        return nil
    }

    private mutating func popFirst() -> HostQuery? {
        if let query = repeated.popFirst() { return query }
        if turns >= HostCache.mostTurns, let query = popSilent() {
            turns = 0
            return query
        }
        guard let query = queue.popFirst() else { return popSilent() }
        turns = min(turns + 1, HostCache.mostTurns)
        return query
    }

    private mutating func popSilent() -> HostQuery? { runningSilent < HostCache.mostSilent ? silent.popFirst() : nil }

    /// The number of names whose lookup may start.
    private var startable: Int {
        repeated.count + queue.count + min(silent.count, max(0, HostCache.mostSilent - runningSilent))
    }

    /// A lookup has ended; returns which waiters to notify what, and `nil` when the name is looked up again.
    package mutating func ended(
        _ query: HostQuery, _ result: HostResult, at now: Instant, dice: inout Dice
    ) -> (waiters: [Waiter], result: HostResult)? {
        guard var name = names[query], let lookup = name.lookup, lookup.phase == .running else {
            preconditionFailure("a lookup that was not started has ended")
        }
        running -= 1
        if lookup.isSilent { runningSilent -= 1 }
        assert(running >= runningSilent && runningSilent >= 0, "a lookup that has ended was counted")
        name.isSilent = result == .unavailable && now - lookup.lastStart >= HostCache.silence
        if result != .unavailable {
            pace.resolved(attempts: lookup.attempts, since: lookup.start, at: now)
        } else if !name.isSilent {
            pace.failed(since: lookup.start, at: now)
        }
        guard result == .unavailable else {
            name.result = result
            name.lookup = nil
            name.freshUntil = now + HostCache.lifetime
            name.usableUntil = name.freshUntil + HostCache.longestUse
            names[query] = name
            results.append(Timed(time: name.usableUntil, query: query))
            forget(at: now)
            return (lookup.waiters, result)
        }
        if let old = name.result, old != .missing, name.usableUntil > now {
            name.lookup = nil
            name.freshUntil = min(now + HostCache.pause, name.usableUntil)
            names[query] = name
            return (lookup.waiters, old)
        }
        guard lookup.attempts < HostCache.attempts, !lookup.waiters.isEmpty else {
            name.result = nil
            name.lookup = nil
            name.usableUntil = now + HostCache.longestUse
            names[query] = name.isSilent ? name : nil
            if name.isSilent { results.append(Timed(time: name.usableUntil, query: query)) }
            forget(at: now)
            return (lookup.waiters, .unavailable)
        }
        let due = now + HostCache.retries.wait(attempt: lookup.attempts, retryAfter: nil, dice: &dice)
        name.lookup?.phase = .delayed(due)
        names[query] = name
        let index = delayed.lastIndex { $0.time <= due }.map { $0 + 1 } ?? 0
        delayed.insert(Timed(time: due, query: query), at: index)
        assert(index + 1 == delayed.count || due < delayed[index + 1].time, "the next lookup is the first")
        return nil
    }

    /// Removes results that are no longer used, and the oldest of too many.
    private mutating func forget(at now: Instant) {
        while let oldest = results.first, oldest.time <= now || results.count > HostCache.mostNames {
            _ = results.popFirst()
            guard let name = names[oldest.query], name.usableUntil == oldest.time else { continue }
            if name.lookup == nil {
                names[oldest.query] = nil
            } else {
                names[oldest.query]?.result = nil
                names[oldest.query]?.isSilent = false
            }
        }
    }

    /// When the next lookup is due; `nil` when there is none, or it waits for the end of another.
    package var deadline: Instant? {
        let paced = startable > 0 && running < HostCache.mostLookups ? pace.nextStart : nil
        guard let delayed = delayed.first?.time else { return paced }
        return paced.map { min($0, delayed) } ?? delayed
    }

    /// The number of lookups that can be started now.
    package func ready(at now: Instant) -> Int {
        guard pace.nextStart <= now else { return 0 }
        return min(startable, pace.spacing == .zero ? HostCache.mostLookups - running : 1)
    }

    /// The number of names that something is known of, or that are looked up.
    package var count: Int { names.count }
}
