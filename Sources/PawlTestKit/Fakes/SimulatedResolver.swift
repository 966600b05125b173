package import PawlCore
import Synchronization

/// A resolver as a value: it is late, says SERVFAIL, or knows no such name.
///
/// Its dice are its own, so that servers do the same with it and without it.
package struct SimulatedResolver: Sendable {
    package var latency: Interval
    /// The chances that a lookup fails, and that it takes seconds.
    package var failing: Double
    package var late: Double
    /// Names that do not exist until all faults have ended.
    package var missing: Set<String> = []
    /// The number of lookups that may go wrong.
    package var luck: Int
    package var dice: Dice

    package init(latency: Interval, failing: Double, late: Double, luck: Int, dice: Dice) {
        (self.latency, self.failing, self.late, self.luck, self.dice) = (latency, failing, late, luck, dice)
    }

    /// The result of a lookup, and how long it takes.
    mutating func look(up host: String) -> (result: HostResult, wait: Interval) {
        var wait = latency * (0.5 + dice.fraction())
        let found = missing.contains(host) ? HostResult.missing : .addresses(["192.0.2.1"])
        guard luck > 0 else { return (found, wait) }
        if dice.chance(late) {
            luck -= 1
            wait = .milliseconds(Int64(dice.number(500...8_000)))
        }
        guard dice.chance(failing) else { return (found, wait) }
        luck -= 1
        return (.unavailable, wait)
    }

    mutating func calmDown() { (missing, luck) = ([], 0) }
}

extension SimulatedNetwork {
    package func set(resolver: SimulatedResolver?) { state.withLock { $0.resolver = resolver } }

    var hasResolver: Bool { state.withLock { $0.resolver != nil } }

    /// The outcome of a lookup that begins now.
    ///
    /// Without a network it ends when the resolver's time is over.
    func look(up host: String) -> (result: HostResult, wait: Interval) {
        state.withLock { state in
            guard let looked = state.resolver?.look(up: host) else { return (.unavailable, .zero) }
            let outcome = state.isUp ? looked : (.unavailable, .seconds(5))
            state.tally.note("lookups")
            switch outcome.result {
            case .addresses: break
            case .missing: state.tally.note("lookups of missing names")
            case .unavailable: state.tally.note("lookups that failed")
            }
            if outcome.wait > .milliseconds(500) { state.tally.note("late lookups") }
            return outcome
        }
    }

    /// Ends all faults of the resolver.
    package func calmResolver() { state.withLock { $0.resolver?.calmDown() } }
}
