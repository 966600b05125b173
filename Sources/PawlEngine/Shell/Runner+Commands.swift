import PawlCore

// Commands of the user, the manager and the engine's book.
extension Runner {
    func pause() {
        sync()
        perform(machine.pause())
    }

    func preempt() {
        sync()
        perform(machine.preempt())
    }

    func remove() {
        sync()
        perform(machine.remove())
    }

    /// Replaces an address on behalf of the user: credentials may be sent to its origin.
    func replaceSource(with address: WebAddress) {
        sync()
        job.plan.sources[0] = address
        hasOtherAddress = true
        perform(machine.replaceSource(0, with: address, now: clock.now))
    }

    func limit(to rate: Int64?) {
        job.rateLimit = rate
        limiter.change(rate: rate, now: clock.now)
    }

    func look() -> Inspection {
        sync()
        return Inspection(machine)
    }
}
