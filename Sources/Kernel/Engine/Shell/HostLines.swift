import PawlBase
import PawlCore
import Synchronization

/// The budgets of all hosts, and the lines of downloads that wait for connections to them: one line for each origin,
/// whichever loops they run on.
final class HostLines: Sendable {
    /// Calls a download whose turn has come, on any thread.
    typealias Call = @Sendable (Origin) -> Void

    private struct State: Sendable {
        var limits = HostLimits()
        var budgets: [Origin: HostBudget] = [:]
        /// The number of budgets at which unused ones are removed.
        var sweepsAt = 64
        /// The origins for which somebody waits.
        var waited: Set<Origin> = []
        /// How those who wait are called, by their runs.
        var calls: [UInt64: Call] = [:]

        mutating func sweep(now: Instant) {
            guard budgets.count >= sweepsAt else { return }
            for origin in Array(budgets.keys) where budgets[origin]?.isForgettable(now: now) ?? false {
                budgets[origin] = nil
            }
            sweepsAt = max(64, budgets.count * 2)
        }
    }

    /// Whose turn has come at which origin.
    private struct Turn: Sendable {
        var origin: Origin
        var call: Call
    }

    private static let never = Instant(nanoseconds: .max)

    private let state = Mutex(State())
    private let notes: (any HostNotes)?
    private let flaw: HostBudget.Flaw?
    private let clock: any Clock
    private let onLimit: (@Sendable (HostNote, String) -> Void)?
    /// Whether the bounds of protocols apply.
    let isBounded: Bool
    private let isRateLimited = Atomic(false)
    /// When somebody's turn comes without another event, in nanoseconds.
    private let nextTime = Atomic(HostLines.never.nanoseconds)

    init(_ ports: Ports, isBounded: Bool) {
        self.isBounded = isBounded
        notes = ports.hostNotes
        flaw = ports.hostFlaw
        clock = ports.clock
        onLimit = ports.onHostLimit
    }

    // MARK: connections

    /// A connection, or a place in the line: then `call` is called when there is one.
    func acquire(
        _ request: HostBudget.Request, at origin: Origin, now: Instant, call: @escaping Call
    ) -> HostBudget.Grant {
        let grant = change(origin, now: now, makes: true) { budget, calls in
            let grant = budget.acquire(request, now: now)
            if grant != .granted { calls[request.run] = call }
            return grant
        }
        return grant ?? .full
    }

    private func makeBudget(of origin: Origin, _ state: State, now: Instant) -> HostBudget {
        let remembered = notes?.note(of: origin)
        if let remembered { onLimit?(remembered, origin.host) }
        let bounds: HostBounds? = isBounded ? [.http, .https].contains(origin.scheme) ? .web : .files : nil
        return HostBudget(
            remembered: remembered, most: state.limits.connections, bounds: bounds, flaw: flaw, now: now)
    }

    /// As ``acquire(_:at:now:call:)``, in the place of a connection that has ended.
    func replace(
        ended: UInt64?, by request: HostBudget.Request, at origin: Origin, now: Instant, call: @escaping Call
    ) -> HostBudget.Grant {
        let grant = change(origin, now: now) { budget, calls in
            let grant = budget.replace(ended: ended, by: request, now: now)
            if grant != .granted { calls[request.run] = call }
            return grant
        }
        return grant ?? .full
    }

    func release(_ origin: Origin, run: UInt64, ended: UInt64?, now: Instant) {
        change(origin, now: now) { budget, _ in budget.release(run, ended: ended, now: now) }
    }

    /// The download waits at this origin no more.
    func leave(_ origin: Origin, run: UInt64, isLast: Bool, now: Instant) {
        change(origin, now: now) { budget, calls in
            if isLast { calls[run] = nil }
            budget.leave(run, now: now)
        }
    }

    /// Gives up a place that was reserved for the download and not used.
    func pass(_ origin: Origin, run: UInt64, now: Instant) {
        change(origin, now: now) { budget, _ in budget.pass(run, now: now) }
    }

    /// Lets those go whose time has come.
    func advance(now: Instant) {
        guard now.nanoseconds >= nextTime.load(ordering: .relaxed) else { return }
        for origin in state.withLock({ $0.waited }) {
            change(origin, now: now) { budget, _ in budget.advance(now: now) }
        }
    }

    /// When ``advance(now:)`` is due; `nil` for never.
    var nextTurn: Instant? {
        let time = nextTime.load(ordering: .relaxed)
        return time == Self.never.nanoseconds ? nil : Instant(nanoseconds: time)
    }

    /// Changes the budget of an origin in place, and calls those whose turn has come; `nil` when there is no budget, and none
    /// is made.
    @discardableResult private func change<Value: Sendable>(
        _ origin: Origin, now: Instant, makes: Bool = false, _ body: (inout HostBudget, inout [UInt64: Call]) -> Value
    ) -> Value? {
        let (value, turns) = state.withLock { state -> (Value?, [Turn]) in
            var found = state.budgets.index(forKey: origin)
            if found == nil, makes {
                state.sweep(now: now)
                state.budgets[origin] = makeBudget(of: origin, state, now: now)
                found = state.budgets.index(forKey: origin)
            }
            guard let index = found else { return (nil, []) }
            let value = body(&state.budgets.values[index], &state.calls)
            return (value, settle(origin, index, &state, now: now))
        }
        for turn in turns { turn.call(turn.origin) }
        return value
    }

    private func settle(
        _ origin: Origin, _ index: Dictionary<Origin, HostBudget>.Index, _ state: inout State, now: Instant
    ) -> [Turn] {
        // In place: a getter would copy the budget.
        func edit<Value>(_ body: (inout HostBudget) -> Value) -> Value { body(&state.budgets.values[index]) }
        let isWaited = edit { !$0.line.isEmpty }
        guard isWaited || !state.waited.isEmpty else { return [] }
        if isWaited { state.waited.insert(origin) } else { state.waited.remove(origin) }
        let runs = edit { $0.takeTurns() }
        let times = state.waited.compactMap { origin in
            state.budgets.index(forKey: origin).flatMap { state.budgets.values[$0].nextTurn(now: now) }
        }
        nextTime.store((times.min() ?? Self.never).nanoseconds, ordering: .relaxed)
        return runs.compactMap { run in state.calls[run].map { Turn(origin: origin, call: $0) } }
    }

    // MARK: what hosts allow

    func accept(_ origin: Origin, run: UInt64, target: UInt64, now: Instant) {
        let noted = change(origin, now: now) { budget, _ in budget.accept(run, target, now: now) }
        store(noted ?? nil, of: origin)
    }

    /// A response to a request that may share a connection came over one, or over one of its own; whether that is new.
    func learn(_ origin: Origin, hasStreams: Bool, now: Instant) -> Bool {
        change(origin, now: now) { budget, _ in budget.learn(hasStreams: hasStreams, now: now) } ?? false
    }

    /// Its 304s do not show which content is unchanged.
    func hideValidators(_ origin: Origin, now: Instant) {
        _ = change(origin, now: now) { budget, _ in budget.hidesValidators = true }
    }

    func hidesValidators(_ origin: Origin) -> Bool {
        state.withLock { $0.budgets[origin]?.hidesValidators ?? false }
    }

    /// How many downloads wait for their first connection.
    var waiting: Int {
        state.withLock { state in
            state.waited.reduce(0) { count, origin in
                count + (state.budgets.index(forKey: origin).map { state.budgets.values[$0].waiting } ?? 0)
            }
        }
    }

    /// `isRemembered`: it is stored for later runs what the refusal says.
    func refused(_ refusal: HostRefusal, by origin: Origin, isRemembered: Bool, now: Instant) {
        let wallTime = clock.wallTime
        let noted = change(origin, now: now) { budget, _ in budget.refused(refusal, now: now, wallTime: wallTime) }
        if case .note(let note)?? = noted { onLimit?(note, origin.host) }
        if isRemembered { store(noted ?? nil, of: origin) }
    }

    private func store(_ change: HostBudget.Change?, of origin: Origin) {
        switch change {
        case .note(let note): notes?.note(note, of: origin)
        case .forget: notes?.forget(origin)
        case nil: break
        }
    }

    /// The origin's quota is used up for that long.
    func hold(_ origin: Origin, until: Instant, now: Instant) {
        change(origin, now: now) { budget, _ in budget.hold(until: until) }
    }

    func isCrowded(_ origin: Origin) -> Bool { state.withLock { $0.budgets[origin]?.isCrowded ?? false } }

    /// What holds at the origin now, if anything does.
    func note(of origin: Origin) -> HostNote? {
        state.withLock { state in
            guard let budget = state.budgets[origin] else { return nil }
            return budget.limit?.note ?? budget.memory?.note
        }
    }

    /// The budgets of all origins that are in use or have refused something.
    var budgets: [Origin: HostBudget] { state.withLock { $0.budgets } }

    /// Nothing is known of the limits of this host any more; of none with `nil`.
    func forget(host: String?, now: Instant) {
        for origin in state.withLock({ Array($0.budgets.keys) })
        where host.map({ $0.lowercased() == origin.host.lowercased() }) ?? true {
            change(origin, now: now) { budget, _ in budget.forget(now: now) }
        }
    }

    // MARK: the user's limits

    func change(to limits: HostLimits, now: Instant) {
        isRateLimited.store(limits.rate != nil, ordering: .relaxed)
        let origins = state.withLock { state in
            state.limits = limits
            return Array(state.budgets.keys)
        }
        for origin in origins {
            change(origin, now: now) { budget, _ in budget.change(most: limits.connections, now: now) }
        }
    }

    var hasRate: Bool { isRateLimited.load(ordering: .relaxed) }
    var rate: Int64? { state.withLock { $0.limits.rate } }

    func charge(_ bytes: Int, to origin: Origin, now: Instant) {
        guard hasRate else { return }
        state.withLock { $0.budgets[origin]?.charge(bytes, rate: $0.limits.rate, now: now) }
    }

    func delay(of origin: Origin, now: Instant) -> Interval {
        guard hasRate else { return .zero }
        return state.withLock { $0.budgets[origin]?.delay(rate: $0.limits.rate, now: now) ?? .zero }
    }
}
