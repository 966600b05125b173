import PawlBase
import PawlCore

// Commands of the user, the manager and the engine's book.
extension Runner {
    func pause() { feed { machine, _ in machine.pause() } }

    func preempt() { feed { machine, _ in machine.preempt() } }

    func remove() { feed { machine, _ in machine.remove() } }

    /// Ends the wait for the next attempt on behalf of the user, also one that the server requested.
    func retryNow() {
        leaveStraightPath()
        guard machine.nextAttempt != nil || machine.phase == .waitingForNetwork else { return }
        feed { $0.retryNow(now: $1) }
    }

    /// Replaces an address on behalf of the user: credentials may be sent to its origin.
    func replaceSource(with address: WebAddress) {
        use(address)
        feed { $0.replaceSource(0, with: address, now: $1) }
    }

    func limit(to rate: Int64?) { limiter.change(rate: rate, now: clock.now) }

    func look() -> Inspection {
        leaveStraightPath()
        sync()
        return Inspection(machine)
    }
}
