/// Where a loop waits: for events of descriptors, for an instant, and for other threads.
///
/// The loop waits, transports do not: they register their descriptors here and state when they are due. So several
/// users share one wait. An instance belongs to one loop thread; only `wake` may be called from elsewhere.
package protocol Poller: AnyObject {
    /// Makes a new user of the poller, with keys of its own.
    func makeSource() -> PollSource
    /// Reports events of the descriptor under this key, less than 2⁵⁶; `false` when that is impossible, with the
    /// reason in `errno`.
    ///
    /// Closing the last copy of a descriptor ends it.
    func watch(_ descriptor: Int32, for interest: PollInterest, key: UInt64, of source: PollSource) -> Bool
    /// As `watch`, for a descriptor that is watched.
    func change(_ descriptor: Int32, to interest: PollInterest, key: UInt64, of source: PollSource) -> Bool
    func unwatch(_ descriptor: Int32)

    /// Waits for an event, `deadline` or `wake`; `nil` waits indefinitely.
    func wait(until deadline: Instant?)
    /// Passes each event of the last wait that is the source's to `body`, once.
    func takeEvents(of source: PollSource, _ body: (PollEvent) -> Void)
    /// Ends the wait, also one that begins later.
    ///
    /// Does nothing once the poller is gone.
    var wake: @Sendable () -> Void { get }
}

/// Makes a poller for each loop, on the loop's own thread.
package protocol PollerMaker: Sendable { func makePoller() -> any Poller }

/// A user of a poller.
package struct PollSource: Hashable, Sendable {
    package var number: UInt8

    package init(number: UInt8) { self.number = number }
}

package enum PollInterest: Hashable, Sendable {
    /// Each change of what can be read or written, once (edge-triggered).
    case changes
    /// As long as there is something to read (level-triggered).
    case reading
    /// As long as something can be written.
    case writing
    case readingAndWriting
}

package struct PollEvent: Hashable, Sendable {
    package var key: UInt64
    package var canRead: Bool
    package var canWrite: Bool
    package var hasPeerClosed: Bool

    package init(key: UInt64, canRead: Bool, canWrite: Bool, hasPeerClosed: Bool) {
        self.key = key
        self.canRead = canRead
        self.canWrite = canWrite
        self.hasPeerClosed = hasPeerClosed
    }
}

extension Instant {
    /// An instant in the past on every clock: due immediately.
    package static let past = Instant(nanoseconds: 0)
}
