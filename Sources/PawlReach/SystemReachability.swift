import PawlEngine

/// What this system offers to watch the network.
package typealias SystemReachability = NetlinkReachability

/// Says that there is a network, always: a transfer that fails for want of one is then retried as any other.
package final class AlwaysOnline: Reachability {
    package init() {}

    package var isOnline: Bool { true }
    package func start(_ handler: @escaping @Sendable (Bool) -> Void) {}
    package func stop() {}
}
