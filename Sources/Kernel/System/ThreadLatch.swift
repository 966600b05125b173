package import PawlBase

/// A latch that threads wait on until another opens it; it stays open.
package final class ThreadLatch: Sendable {
    private let isOpen = Monitor(false)

    package init() {}

    package func open() { isOpen.with { $0 = true } }

    /// Returns when the latch is open.
    package func pass() { _ = isOpen.wait(until: nil) { $0 ? true : nil } }

    /// The same, for at most so long.
    package func pass(within limit: Interval) { _ = isOpen.wait(until: SystemClock().now + limit) { $0 ? true : nil } }
}
