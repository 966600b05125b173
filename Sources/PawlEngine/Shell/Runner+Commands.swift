import PawlCore

// What the person, the manager and the engine's book want of the download.
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

    /// The person names another address: its origin may hear the secrets.
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
