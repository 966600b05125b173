package import PawlBase
import PawlSystem

/// Virtual time, and a scheduler of turns.
///
/// Time advances only when every loop waits, and then to the next event that is due. Loops on separate threads pass
/// on one turn, so only one of them ever runs: the same seed gives the same order of everything.
package final class Timeline: Sendable {
    private struct Appointment: Sendable {
        var at: Instant
        var order: Int
        var body: @Sendable () -> Void
    }

    private struct Seat: Sendable {
        var due: Instant?
        var isWaiting = false
        var hasLeft = false
    }

    private struct State: Sendable {
        var now: Instant
        var agenda: [Appointment] = []
        var nextOrder = 0
        var seats: [Seat] = []
        var turn: Int?
        var horizon: Instant
        var isOverdue = false
        var onStandstill: (@Sendable () -> Void)?
        var onBeat: (@Sendable (Beat) -> Void)?
        var events = 0
        /// Whether everything at this instant was reported.
        var isTold = true
        var log: [String] = []
    }

    private enum Step {
        case run(@Sendable () -> Void)
        case pass(to: Int)
        /// Time is about to advance.
        case notify
        case over
    }

    /// An event of a scenario.
    package enum Beat: Sendable, Hashable {
        /// A loop has passed its turn, or an agenda item was run; counted from 1.
        case event(Int)
        /// Nothing more happens at this instant.
        case instant
    }

    /// The time after which a scenario counts as one that never ends.
    private static let longest = Interval.seconds(3600)

    private let state: Monitor<State>
    private let keepsLog: Bool

    package init(start: Instant = Instant(nanoseconds: 1_000_000_000), keepsLog: Bool = true) {
        self.keepsLog = keepsLog
        state = Monitor(State(now: start, horizon: start + Timeline.longest))
    }

    package var now: Instant { state.read { $0.now } }

    /// Whether the scenario was ended because it exceeded the limit.
    package var isOverdue: Bool { state.read { $0.isOverdue } }

    // MARK: the agenda

    package func at(_ moment: Instant, _ body: @escaping @Sendable () -> Void) {
        state.with { state in
            let at = max(moment, state.now)
            let index = state.agenda.firstIndex { $0.at > at } ?? state.agenda.endIndex
            state.agenda.insert(Appointment(at: at, order: state.nextOrder, body: body), at: index)
            state.nextOrder += 1
        }
    }

    package func after(_ span: Interval, _ body: @escaping @Sendable () -> Void) { at(now + span, body) }

    /// Advances the time without a turn, as for a process that is stopped.
    package func skip(_ span: Interval) { state.with { $0.now = $0.now + span } }

    /// Calls `body` at every beat; it may make more happen at the same instant.
    package func onBeat(_ body: @escaping @Sendable (Beat) -> Void) { state.with { $0.onBeat = body } }

    private func reportEvent() {
        let listener = state.with { state in
            state.events += 1
            state.isTold = false
            return state.onBeat.map { ($0, state.events) }
        }
        if let (body, number) = listener { body(.event(number)) }
    }

    package var events: Int { state.read { $0.events } }

    /// Sets the handler for when nothing is due any more: the place to shut the engine down.
    package func whenAllStandsStill(_ body: @escaping @Sendable () -> Void) { state.with { $0.onStandstill = body } }

    /// Ends the scenario: drops pending items and the objects that they retain.
    package func close() {
        state.with { state in
            state.agenda = []
            state.onStandstill = nil
            state.onBeat = nil
        }
    }

    // MARK: the log

    package func note(_ line: @autoclosure () -> String) {
        guard keepsLog else { return }
        let line = line()
        state.with { $0.log.append("\($0.now.nanoseconds / 1000) \(line)") }
    }

    /// Everything that was noted, each with its time in microseconds.
    package var log: [String] { state.read { $0.log } }

    // MARK: seats

    /// Makes `count` seats for the loops of one story and gives the first one its turn.
    package func seat(_ count: Int) {
        state.with { state in
            state.seats = Array(repeating: Seat(due: state.now, isWaiting: true), count: count)
            state.turn = nil
            state.isOverdue = false
            state.horizon = state.now + Timeline.longest
        }
    }

    /// Makes one more seat, which gets its turn at this instant.
    package func addSeat() -> Int {
        state.with { state in
            state.seats.append(Seat(due: state.now, isWaiting: true))
            return state.seats.count - 1
        }
    }

    /// The seat that has the turn.
    package var turn: Int { state.read { $0.turn ?? 0 } }

    /// Passes the turn until `due`, or until the seat is woken.
    package func wait(_ seat: Int, until due: Instant?) {
        state.with { state in
            state.seats[seat].due = due
            state.seats[seat].isWaiting = true
            if state.turn == seat { state.turn = nil }
        }
        // A seat that passes its turn determines the next one; one that never had it waits to be chosen.
        reportEvent()
        passOn(for: seat)
        awaitTurn(seat)
    }

    /// Waits for the first turn.
    package func enter(_ seat: Int) {
        let isFirst = state.with { $0.turn == nil && seat == 0 }
        if isFirst { passOn(for: seat) }
        awaitTurn(seat)
    }

    /// The loop has ended.
    package func leave(_ seat: Int) {
        state.with { state in
            state.seats[seat].hasLeft = true
            state.turn = nil
        }
        passOn(for: seat)
    }

    package func wake(_ seat: Int) {
        state.with { state in
            guard seat < state.seats.count else { return }
            state.seats[seat].due = state.now
        }
    }

    package func wakeAll() {
        state.with { state in for seat in state.seats.indices { state.seats[seat].due = state.now } }
    }

    private func awaitTurn(_ seat: Int) {
        let came: Bool? = state.wait(atMost: .seconds(600)) { $0.turn == seat ? true : nil }
        precondition(came != nil, "loop \(seat) never got its turn")
    }

    /// Runs agenda items until it is a seat's turn.
    private func passOn(for seat: Int) {
        while true {
            switch state.with({ step(&$0) }) {
            case .run(let body):
                body()
                reportEvent()
            case .notify: state.read { $0.onBeat }?(.instant)
            case .pass, .over: return
            }
        }
    }

    private func step(_ state: inout State) -> Step {
        let waiting = state.seats.indices.filter { state.seats[$0].isWaiting && !state.seats[$0].hasLeft }
        guard !waiting.isEmpty else { return .over }
        let next = waiting.filter { state.seats[$0].due != nil }.min { left, right in
            (state.seats[left].due ?? state.now, left) < (state.seats[right].due ?? state.now, right)
        }
        let due = next.flatMap { state.seats[$0].due }
        if !state.isTold, [state.agenda.first?.at, due].compactMap(\.self).allSatisfy({ $0 > state.now }) {
            state.isTold = true
            return .notify
        }
        if let first = state.agenda.first, due.map({ first.at <= $0 }) ?? true, first.at <= state.horizon {
            state.now = max(state.now, first.at)
            state.agenda.removeFirst()
            return .run(first.body)
        }
        guard let next, let due, due <= state.horizon else { return end(&state) }
        state.now = max(state.now, due)
        state.seats[next].isWaiting = false
        state.seats[next].due = nil
        state.turn = next
        return .pass(to: next)
    }

    private func end(_ state: inout State) -> Step {
        guard let body = state.onStandstill else {
            preconditionFailure(
                "nothing is due and the loops wait for ever:\n" + state.log.suffix(40).joined(separator: "\n"))
        }
        state.onStandstill = nil
        if state.seats.contains(where: { $0.due != nil && !$0.hasLeft }) || !state.agenda.isEmpty {
            state.isOverdue = true
        }
        state.horizon = state.now + Timeline.longest + Timeline.longest
        return .run(body)
    }
}
