import PawlBase

/// A value confined to its own thread.
protocol ThreadBound: AnyObject {
    /// When the thread has something to do without new work; `nil` for never.
    var deadline: Instant? { get }
    var hasEnded: Bool { get }
    /// Called when the queued work is done.
    func settle()
    /// Called once, when it has ended and nothing more can be posted.
    func end()
}

extension ThreadBound {
    func end() {}
}

/// The work of a thread that owns a value; any thread may post to it.
typealias WorkMailbox<Owner: ThreadBound> = Mailbox<@Sendable (Owner) -> Void>

extension Mailbox {
    /// Executes posted work until the owner has ended; in between the thread waits at `poller`.
    func run<Owner: ThreadBound>(_ owner: Owner, at poller: any Poller) where Message == @Sendable (Owner) -> Void {
        attach(wake: poller.wake)
        while !owner.hasEnded {
            wait { poller.wait(until: owner.deadline) }
            for item in take() { item(owner) }
            owner.settle()
        }
        for item in close() { item(owner) }
        owner.settle()
        owner.end()
    }
}
