/// Decides which host names are looked up, when again, and how long the results are kept.
///
/// Requests for a name that is being looked up wait for the same lookup. A resolver that is overloaded, or does not respond, is
/// requested again with a growing delay, and old addresses are better than none (RFC 8767).
package struct HostCache: Hashable, Sendable {
    /// A request that waits for a lookup; never used twice.
    package typealias Waiter = UInt64

    /// The maximum number of lookups under way.
    package static let mostLookups = 64
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
        /// When the first of them began.
        var start = Instant(nanoseconds: .min)
        var waiters: [Waiter] = []
    }

    private struct Name: Hashable {
        /// The last result, never `unavailable`.
        var result: HostResult?
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
    /// Names to be looked up again, sorted by time; some may have been withdrawn.
    private var delayed: [Timed] = []
    /// The results in the order of their last use; some were replaced.
    private var results = FIFO<Timed>()
    private var running = 0
    private var pace = LookupPace()

    package init() {}

    /// The result; `nil` when the name has to be looked up first, which is what the waiter then waits for.
    package mutating func ask(_ query: HostQuery, for waiter: Waiter?, at now: Instant) -> HostResult? {
        var name = names[query] ?? Name()
        if let result = name.result, name.freshUntil > now { return result }
        if name.lookup == nil {
            name.lookup = Lookup()
            queue.append(query)
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
        names[query] = name.lookup == nil && name.result == nil ? nil : name
    }

    /// Starts the next lookup; `nil` when none is due, or enough are under way.
    package mutating func next(at now: Instant) -> HostQuery? {
        let due = delayed.prefix { $0.time <= now }
        for entry in due where names[entry.query]?.lookup?.phase == .delayed(entry.time) {
            names[entry.query]?.lookup?.phase = .queued
            queue.append(entry.query)
        }
        delayed.removeFirst(due.count)
        guard running < HostCache.mostLookups, pace.nextStart <= now else { return nil }
        while let query = queue.popFirst() {
            guard names[query]?.lookup?.phase == .queued else { continue }
            names[query]?.lookup?.phase = .running
            if names[query]?.lookup?.attempts == 0 { names[query]?.lookup?.start = now }
            names[query]?.lookup?.attempts += 1
            pace.started(at: now)
            running += 1
            assert(running <= HostCache.mostLookups, "a lookup has a thread")
            return query
        }
        return nil
    }

    /// A lookup has ended; returns which waiters to notify what, and `nil` when the name is looked up again.
    package mutating func ended(
        _ query: HostQuery,
        _ result: HostResult,
        at now: Instant,
        dice: inout Dice
    ) -> (waiters: [Waiter], result: HostResult)? {
        guard var name = names[query], let lookup = name.lookup, lookup.phase == .running else {
            preconditionFailure("a lookup that was not started has ended")
        }
        running -= 1
        assert(running >= 0 && lookup.attempts > 0, "a lookup that has ended was counted")
        let isResolved = result != .unavailable
        pace.ended(isResolved: isResolved, attempts: lookup.attempts, since: lookup.start, at: now)
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
            names[query] = nil
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
            }
        }
    }

    /// When the next lookup is due; `nil` when there is none, or it waits for the end of another.
    package var deadline: Instant? {
        let paced = queue.count > 0 && running < HostCache.mostLookups ? pace.nextStart : nil
        guard let delayed = delayed.first?.time else { return paced }
        return paced.map { min($0, delayed) } ?? delayed
    }

    /// The number of lookups that can be started now.
    package func ready(at now: Instant) -> Int {
        guard pace.nextStart <= now else { return 0 }
        return min(queue.count, pace.spacing == .zero ? HostCache.mostLookups - running : 1)
    }

    /// The number of names that something is known of, or that are looked up.
    package var count: Int { names.count }
}
