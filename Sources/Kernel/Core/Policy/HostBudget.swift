package import PawlBase

/// The budget of one origin: who may open a connection to it, who waits for one, and what the origin was seen to
/// allow.
///
/// Shared by all downloads of a process. Who finds no place stands in ``line`` and is given one in its order: a place
/// that is free is reserved for the first waiter that may use it (``takeTurns()``), so nobody who comes later gets it.
/// What limits the origin is in `HostBudget+Evidence.swift`.
package struct HostBudget: Hashable, Sendable {
    package enum Grant: Hashable, Sendable {
        case granted
        /// Every connection allowed by the origin or the user is in use: it stands in the line.
        case full
        /// The origin requested no request until then: it stands in the line.
        case hold(until: Instant)
    }

    /// Who wants a connection, and for what.
    package struct Request: Hashable, Sendable {
        /// The number of the download's run.
        package var run: UInt64
        /// Whether the download has another connection already: the first ones of others come before it.
        package var isFurther: Bool
        /// Identifies the requested URL.
        package var target: UInt64
        /// Whether a limit that was stored by an earlier run applies to it: the user has given no number.
        package var obeysMemory: Bool
        /// The user or the program has requested it for now: only the user's own limit applies.
        package var isForced: Bool
        /// Whether it may be one of many over an HTTP/2 connection.
        package var mayShare: Bool

        package init(
            run: UInt64, isFurther: Bool = false, target: UInt64 = 0, obeysMemory: Bool = true, isForced: Bool = false,
            mayShare: Bool = false
        ) {
            self.run = run
            self.isFurther = isFurther
            self.target = target
            self.obeysMemory = obeysMemory
            self.isForced = isForced
            self.mayShare = mayShare
        }
    }

    /// One place in the line.
    package struct Waiter: Hashable, Sendable {
        package var request: Request
        /// A place is reserved for it.
        package var isInvited = false
    }

    /// A defect introduced on purpose by a simulated world.
    package enum Flaw: Hashable, Sendable {
        /// Waiters are not called when a place is free.
        case wakesNobody
        /// A refusal leaves one connection, whatever was served.
        case shrinksToOne
    }

    /// Connections in use.
    package private(set) var inUse = 0
    /// Those whose response was accepted.
    package internal(set) var serving = 0
    /// Who waits, in the order of arrival.
    package private(set) var line: [Waiter] = []
    private var invited = 0
    /// Those invited since the last ``takeTurns()``.
    private var turns: [UInt64] = []
    /// The connections of each download.
    private var holders: [UInt64: Int] = [:]
    /// The user's limit.
    package private(set) var most: Int?
    private let bounds: HostBounds?
    /// Whether responses came over HTTP/2.
    package private(set) var hasStreams = false
    /// Whether its 304s lack the validators that show which content is unchanged.
    package var hidesValidators = false
    /// The downloads whose first request may share a connection.
    private var sharers: Set<UInt64> = []
    private var limiter = RateLimiter(rate: nil)
    private let flaw: Flaw?

    // What the origin was seen to allow.
    package internal(set) var limit: Limit?
    package internal(set) var memory: Memory?
    var recentPeak = RecentPeak()
    /// The accepted connections of each URL.
    var served: [UInt64: Int] = [:]
    var targets: [UInt64: Target] = [:]
    /// The URLs that were refused for overload since a response was accepted.
    var refusedSince: Set<UInt64> = []
    var overload: Overload?
    var quotaUntil: Instant?
    var suspicion: Suspicion?
    var balance = Balance()

    /// `remembered`: what an earlier run has stored.
    package init(
        remembered: HostNote? = nil, most: Int? = nil, bounds: HostBounds? = nil, flaw: Flaw? = nil, now: Instant
    ) {
        self.most = most
        self.bounds = bounds
        self.flaw = flaw
        memory = remembered.map { Memory(note: $0, trialAt: now + HostBudget.recovery) }
    }

    var isFlawed: Bool { flaw == .shrinksToOne }

    // MARK: connections

    /// A connection for `request`, or a place in the line for it, which it keeps until ``leave(_:)`` or a grant.
    package mutating func acquire(_ request: Request, now: Instant) -> Grant {
        refresh(now: now)
        if line.isEmpty, mayGo(request, now: now) {
            begin(request)
            noteTrial(of: request.run)
            return .granted
        }
        let index = stand(request)
        invite(now: now)
        guard line[index].isInvited else { return hold(of: request, now: now).map { .hold(until: $0) } ?? .full }
        // It is here already.
        turns.removeAll { $0 == request.run }
        line.remove(at: index)
        invited -= 1
        begin(request)
        return .granted
    }

    /// Continues with another request in the place of a connection that has ended, if nobody has a better right to it.
    ///
    /// `ended`: the URL of the ended one if its response had been accepted.
    package mutating func replace(ended: UInt64?, by request: Request, now: Instant) -> Grant {
        refresh(now: now)
        end(ended, now: now)
        let used = inUse + invited
        let isWanted = request.isFurther && line.contains { !$0.request.isFurther && !$0.isInvited }
        if !isWanted, hold(of: request, now: now) == nil, used <= places(for: request, tier: .trial, now: now),
            isWithinBounds(request, instead: 1)
        {
            note(request)
            leave(request.run, now: now)
            return .granted
        }
        finish(request.run)
        return acquire(request, now: now)
    }

    /// A connection has ended; `ended` is its URL if its response had been accepted.
    package mutating func release(_ run: UInt64, ended: UInt64?, now: Instant) {
        end(ended, now: now)
        finish(run)
        invite(now: now)
    }

    /// The download wants no connection any more; a place that was reserved for it goes to the next one.
    package mutating func leave(_ run: UInt64, now: Instant) {
        guard let index = line.firstIndex(where: { $0.request.run == run }) else { return }
        if line.remove(at: index).isInvited { invited -= 1 }
        turns.removeAll { $0 == run }
        invite(now: now)
    }

    /// Gives up a reserved place that the download did not use; without one it stays in the line.
    package mutating func pass(_ run: UInt64, now: Instant) {
        if line.contains(where: { $0.request.run == run && $0.isInvited }) { leave(run, now: now) }
    }

    /// Changes the user's limit.
    package mutating func change(most: Int?, now: Instant) {
        self.most = most
        invite(now: now)
    }

    /// Lets waiters go whose time has come.
    package mutating func advance(now: Instant) {
        refresh(now: now)
        invite(now: now)
    }

    /// The downloads for which places were reserved since the last call: each is to acquire its connection.
    package mutating func takeTurns() -> [UInt64] {
        defer { turns = [] }
        return flaw == .wakesNobody ? [] : turns
    }

    /// When a waiter may go without any other event.
    package func nextTurn(now: Instant) -> Instant? {
        guard line.count > invited else { return nil }
        var times = [quotaUntil, overload?.until, limit?.trialAt, memory?.trialAt].compactMap { $0 }
        if !targets.isEmpty {
            times += line.lazy.filter { !$0.isInvited }.compactMap { targets[$0.request.target]?.holdUntil }
        }
        return times.filter { $0 > now }.min()
    }

    private mutating func begin(_ request: Request) {
        inUse += 1
        holders[request.run, default: 0] += 1
        note(request)
    }

    private mutating func note(_ request: Request) {
        guard bounds != nil, !request.isFurther else { return }
        if request.mayShare { sharers.insert(request.run) } else { sharers.remove(request.run) }
    }

    private mutating func finish(_ run: UInt64) {
        guard let count = holders[run] else { preconditionFailure("a connection was released that was not acquired") }
        inUse -= 1
        holders[run] = count > 1 ? count - 1 : nil
        if count == 1 { sharers.remove(run) }
    }

    private mutating func end(_ target: UInt64?, now: Instant) {
        guard let target else { return }
        recentPeak.note(serving, now: now)
        assert(serving > 0, "a response was accepted that was not counted")
        serving -= 1
        served[target] = served[target].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    // MARK: the line

    /// What kind of place a waiter may get; the earlier ones are given first.
    enum Tier: CaseIterable {
        /// One that the origin is known to allow.
        case first
        /// One more than the origin is known to allow.
        case trial
        /// The same for one whose URL was refused before: that it is again would prove nothing.
        case lastTrial
        case further
    }

    /// Puts the download into the line, where it keeps its place if it has one; its place's index.
    private mutating func stand(_ request: Request) -> Int {
        if let index = line.firstIndex(where: { $0.request.run == request.run }) {
            // Others were there before it wanted a first connection.
            guard line[index].request.isFurther, !request.isFurther else {
                if line[index].isInvited, request.target != line[index].request.target {
                    line[index].isInvited = false
                    invited -= 1
                }
                line[index].request = request
                return index
            }
            if line.remove(at: index).isInvited { invited -= 1 }
        }
        line.append(Waiter(request: request))
        return line.count - 1
    }

    /// Reserves the free places, and none for those whose time the origin has put off.
    private mutating func invite(now: Instant) {
        for index in line.indices where line[index].isInvited && hold(of: line[index].request, now: now) != nil {
            line[index].isInvited = false
            invited -= 1
            turns.removeAll { $0 == line[index].request.run }
        }
        guard line.count > invited else { return }
        for tier in Tier.allCases {
            for index in line.indices where !line[index].isInvited && mayGo(line[index].request, tier, now: now) {
                line[index].isInvited = true
                invited += 1
                turns.append(line[index].request.run)
                noteTrial(of: line[index].request.run)
            }
        }
    }

    private mutating func noteTrial(of run: UInt64) {
        if let limit, inUse + invited > limit.connections { self.limit?.trial = run }
    }

    private func mayGo(_ request: Request, now: Instant) -> Bool {
        for tier in Tier.allCases where mayGo(request, tier, now: now) { return true }
        return false
    }

    private func mayGo(_ request: Request, _ tier: Tier, now: Instant) -> Bool {
        switch tier {
        case .first, .trial: if request.isFurther { return false }
        case .lastTrial: if request.isFurther || targets[request.target] == nil { return false }
        case .further: if !request.isFurther { return false }
        }
        if tier == .trial, targets[request.target] != nil, !request.isForced { return false }
        return inUse + invited < places(for: request, tier: tier, now: now) && isWithinBounds(request)
            && hold(of: request, now: now) == nil
    }

    /// Whether the protocol's bounds allow it, `instead` of so many that are in use.
    private func isWithinBounds(_ request: Request, instead: Int = 0) -> Bool {
        // The number of one download's connections is the user's.
        guard let bounds, !request.isForced, !request.isFurther || request.obeysMemory else { return true }
        let used = inUse + invited - instead
        guard hasStreams else { return used < bounds.connections }
        return used < bounds.streams && (request.mayShare || used - sharers.count < bounds.connections)
    }

    /// A response to a request that may share a connection came over one, or over one of its own; whether that is new.
    package mutating func learn(hasStreams: Bool, now: Instant) -> Bool {
        guard hasStreams != self.hasStreams else { return false }
        self.hasStreams = hasStreams
        advance(now: now)
        return true
    }

    /// How many downloads wait for their first connection.
    package var waiting: Int { line.count { !$0.isInvited && !$0.request.isFurther } }

    /// How many connections may be in use when this one is.
    private func places(for request: Request, tier: Tier, now: Instant) -> Int {
        let most = most.map { max(1, $0) } ?? .max
        if request.isForced { return most }
        var places = min(most, overload == nil ? .max : 1)
        if let limit { places = min(places, tier == .first ? limit.connections : limit.places(now: now)) }
        if request.isFurther, request.obeysMemory, let memory { places = min(places, memory.places(now: now)) }
        return places
    }

    /// Until when the origin wants no such request.
    private func hold(of request: Request, now: Instant) -> Instant? {
        guard !request.isForced, quotaUntil != nil || overload != nil || !targets.isEmpty else { return nil }
        return [quotaUntil, overload?.until, targets[request.target]?.holdUntil].compactMap { $0 }.filter { $0 > now }
            .max()
    }

    /// Whether the origin wants no such request now.
    package func isHeld(_ request: Request, now: Instant) -> Bool { hold(of: request, now: now) != nil }

    /// Whether the download has a connection.
    package func holds(_ run: UInt64) -> Bool { holders[run] != nil }

    /// Whether the URL was refused a short time ago.
    package func wasRefused(_ request: Request) -> Bool { targets[request.target] != nil }

    /// How many connections the origin is known to allow at once.
    package var knownPlaces: Int { min(limit?.connections ?? .max, overload == nil ? .max : 1) }

    // MARK: the rate

    /// `bytes` were received from the origin, which is limited to `rate` per second.
    package mutating func charge(_ bytes: Int, rate: Int64?, now: Instant) {
        if limiter.rate != rate { limiter.change(rate: rate, now: now) }
        limiter.charge(bytes, now: now)
    }

    /// How long its next byte has to wait.
    package mutating func delay(rate: Int64?, now: Instant) -> Interval {
        if limiter.rate != rate { limiter.change(rate: rate, now: now) }
        return limiter.delay(now: now)
    }

    /// Whether it has no state worth keeping.
    package mutating func isForgettable(now: Instant) -> Bool {
        refresh(now: now)
        return inUse == 0 && line.isEmpty && limit == nil && quotaUntil == nil && overload == nil && targets.isEmpty
            && limiter.delay(now: now) == .zero
    }
}
