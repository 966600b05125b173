// What an origin was seen to allow.
//
// Evidence of a limit is only that it refuses a further connection while it serves others: one of the same file or of
// the same URL, or, repeatedly, at the level of TCP, or more URLs than it serves. Its limit is then what it served at
// once a short time ago, not what happens to be in use at that instant. A 429 or 503 to one URL is that URL's own; where
// one after another is refused and nothing is served, the whole origin is overloaded.
package import PawlBase

extension HostBudget {
    /// The time without a refusal after which one more connection is tried; doubled each time that it is refused, so
    /// that a host that allows two is not tried with a third every ten seconds.
    package static let recovery = Interval.seconds(10)
    /// The time without a refusal after which there is no limit.
    package static let forgiveness = Interval.seconds(600)
    private static let mostDoublings = 6
    /// How many refusals show a limit, where one alone may be chance.
    private static let shown = 2
    /// The number of URLs without a response in between whose refusal shows that the origin is overloaded.
    private static let everything = 2
    private static let mostTargets = 256

    /// The limit that the origin has shown in this run.
    package struct Limit: Hashable, Sendable {
        /// How many connections it is known to allow at once.
        package var connections: Int
        package var reason: HostNote.Reason
        package var since: UnixTime
        /// When one more is tried.
        var trialAt: Instant
        /// Who tries it.
        var trial: UInt64?
        var refusedAt: Instant
        var doublings = 0
        /// How often, in quick succession, a further connection was refused.
        var refusals = 1
        /// Connections were accepted beyond what was refused: it is no limit to be remembered.
        var isRefuted = false

        func places(now: Instant) -> Int { now >= trialAt ? connections + 1 : connections }

        package var note: HostNote {
            HostNote(connections: connections, reason: reason, since: since, isCertain: refusals >= HostBudget.shown)
        }
    }

    /// A limit that an earlier run has stored: the further connections of downloads whose number is automatic keep to
    /// it until more are served, or one more was tried.
    package struct Memory: Hashable, Sendable {
        package var note: HostNote
        var trialAt: Instant

        func places(now: Instant) -> Int { now >= trialAt ? note.connections + 1 : note.connections }
    }

    /// A URL that was refused.
    struct Target: Hashable, Sendable {
        var holdUntil: Instant?
        var refusedAt: Instant
    }

    /// Everything is refused: nothing is requested until then, and one request afterwards.
    struct Overload: Hashable, Sendable {
        var until: Instant
        var count: Int
    }

    /// Refusals that may be chance.
    struct Suspicion: Hashable, Sendable {
        var count: Int
        var at: Instant
        /// The most connections that the origin served then.
        var level: Int
    }

    /// How the origin has treated URLs in the present ten seconds.
    struct Balance: Hashable, Sendable {
        /// That many URLs have no 503 of their own by chance.
        private static let many = 3
        private static let most = 256

        private var since = Instant(nanoseconds: 0)
        private var served = 0
        private var refused: Set<UInt64> = []

        private mutating func refresh(now: Instant) {
            guard now - since >= HostBudget.recovery else { return }
            self = Balance()
            since = now
        }

        mutating func noteServed(now: Instant) {
            refresh(now: now)
            served += 1
        }

        /// Whether more URLs than were served, and several, have been refused.
        mutating func refuses(_ target: UInt64, now: Instant) -> Bool {
            refresh(now: now)
            if refused.count < Self.most { refused.insert(target) }
            return served > 0 && refused.count >= Self.many && refused.count > served
        }
    }

    /// The most accepted connections of the last ten to twenty seconds.
    struct RecentPeak: Hashable, Sendable {
        private var since: Instant?
        private var present = 0
        private var before = 0

        var value: Int { max(present, before) }

        mutating func note(_ serving: Int, now: Instant) {
            let age = since.map { now - $0 } ?? .seconds(3600)
            if age >= HostBudget.recovery {
                before = age < HostBudget.recovery * 2 ? present : 0
                (since, present) = (now, serving)
            }
            present = max(present, serving)
        }
    }

    /// What is to be stored of the origin.
    package enum Change: Hashable, Sendable {
        case note(HostNote)
        /// It allows more than was noted.
        case forget
    }

    // MARK: events

    /// The response to a connection's request for `target` was accepted.
    ///
    /// Returns what is to be noted of the origin.
    package mutating func accept(_ run: UInt64, _ target: UInt64, now: Instant) -> Change? {
        recentPeak.note(serving, now: now)
        serving += 1
        assert(serving <= inUse, "more connections serve than are in use")
        recentPeak.note(serving, now: now)
        balance.noteServed(now: now)
        served[target, default: 0] += 1
        refusedSince = []
        overload = nil
        if targets[target]?.holdUntil == nil { targets[target] = nil }
        if let suspicion, serving > suspicion.level { self.suspicion = nil }
        defer { advance(now: now) }
        return refute(run, now: now)
    }

    private mutating func refute(_ run: UInt64, now: Instant) -> Change? {
        var change: Change?
        if let memory, serving > memory.note.connections {
            self.memory = nil
            change = .forget
        }
        guard var limit, serving > limit.connections else { return change }
        limit.connections = serving
        // One that was requested before the refusal shows what the limit is; a later one that there is none.
        if limit.trial == run { (limit.trialAt, limit.trial, limit.isRefuted) = (now, nil, true) }
        self.limit = limit
        return limit.isRefuted ? .forget : .note(limit.note)
    }

    /// The origin has refused a connection, which is released already.
    ///
    /// Returns what is to be noted of the origin.
    package mutating func refused(_ refusal: HostRefusal, now: Instant, wallTime: UnixTime) -> Change? {
        refresh(now: now)
        recentPeak.note(serving, now: now)
        note(refusal, now: now)
        defer { advance(now: now) }
        let isBesideItself = refusal.isSameFile || served[refusal.target] != nil
        if let limit, inUse >= limit.connections, !isBesideItself || serving >= limit.connections {
            return confirm(limit, refusal, isBesideItself: isBesideItself, now: now)
        }
        // A short response is served between two refusals.
        let isMost = refusal.reason.mayBeOfMany && balance.refuses(refusal.target, now: now)
        guard serving > 0 || isMost && inUse > 0 else {
            if refusal.reason.isOverload { noteOverload(now: now) }
            return nil
        }
        guard isBesideItself || isMost || refusal.reason == .connection && isRepeated(now: now) else { return nil }
        return learn(refusal.reason, now: now, wallTime: wallTime)
    }

    /// The origin allows no further request for that long: its quota is used up.
    package mutating func hold(until: Instant) { quotaUntil = max(quotaUntil ?? until, until) }

    /// What is known of its limit is not valid any more.
    package mutating func forget(now: Instant) {
        limit = nil
        memory = nil
        suspicion = nil
        advance(now: now)
    }

    /// Whether more connections are in use than the origin is known to allow, as this run has seen: that alone may be
    /// why it denies one.
    package var isCrowded: Bool { limit.map { inUse > $0.connections } ?? false }

    private mutating func note(_ refusal: HostRefusal, now: Instant) {
        if targets.count >= HostBudget.mostTargets { targets = targets.filter { $0.value.holdUntil != nil } }
        var target = targets[refusal.target] ?? Target(refusedAt: now)
        target.refusedAt = now
        if let wait = refusal.retryAfter, wait > .zero {
            let until = now + min(wait, RetryAfter.longest)
            target.holdUntil = max(target.holdUntil ?? until, until)
        }
        targets[refusal.target] = target
        if refusal.reason.isOverload { refusedSince.insert(refusal.target) }
    }

    /// Whether it is no chance.
    private mutating func isRepeated(now: Instant) -> Bool {
        var present = suspicion ?? Suspicion(count: 0, at: now, level: recentPeak.value)
        if now - present.at >= HostBudget.recovery { present.count = 0 }
        present.count += 1
        (present.at, present.level) = (now, max(present.level, serving))
        suspicion = present
        return present.count >= HostBudget.shown
    }

    private mutating func learn(_ reason: HostNote.Reason, now: Instant, wallTime: UnixTime) -> Change? {
        let peak = isFlawed ? 1 : max(1, recentPeak.value)
        memory = nil
        suspicion = nil
        limit = Limit(
            connections: min(limit?.connections ?? .max, peak), reason: reason, since: wallTime,
            trialAt: now + HostBudget.recovery, refusedAt: now)
        return limit.map { .note($0.note) }
    }

    /// One more than the known limit was refused.
    private mutating func confirm(_ limit: Limit, _ refusal: HostRefusal, isBesideItself: Bool, now: Instant) -> Change?
    {
        var limit = limit
        // One more was allowed since, and was too many again.
        if now >= limit.trialAt { limit.doublings = min(limit.doublings + 1, HostBudget.mostDoublings) }
        limit.refusals = now - limit.refusedAt < HostBudget.recovery ? limit.refusals + 1 : 1
        limit.refusedAt = now
        limit.trial = nil
        limit.trialAt = now + HostBudget.recovery * Double(1 << limit.doublings)
        if isBesideItself { limit.isRefuted = false }
        self.limit = limit
        return limit.isRefuted ? nil : .note(limit.note)
    }

    private mutating func noteOverload(now: Instant) {
        guard inUse == 0, refusedSince.count >= HostBudget.everything else { return }
        let count = (overload?.count ?? 0) + 1
        let wait = min(RetryPolicy.longestWait, .seconds(Double(1 << min(count - 1, 16))))
        let requested = refusedSince.compactMap { targets[$0]?.holdUntil }.max()
        overload = Overload(until: max(now + wait, requested ?? now), count: count)
    }

    /// Ends what time has ended.
    mutating func refresh(now: Instant) {
        if let until = quotaUntil, now >= until { quotaUntil = nil }
        for (target, state) in targets {
            let isHeld = state.holdUntil.map { now < $0 } ?? false
            if !isHeld, state.holdUntil != nil { targets[target]?.holdUntil = nil }
            guard !isHeld, now - state.refusedAt >= HostBudget.forgiveness else { continue }
            targets[target] = nil
            refusedSince.remove(target)
        }
        if let limit, now - limit.refusedAt >= HostBudget.forgiveness * Double(1 << limit.doublings) {
            self.limit = nil
        }
    }
}
