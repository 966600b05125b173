import PawlEngine

/// This system's way to watch the network.
package typealias SystemReachability = NetlinkReachability

/// Always reports a network: a transfer that fails for lack of one is retried like any other.
package final class AlwaysOnline: Reachability {
    package init() {}

    package var isOnline: Bool { true }
    package func start(_ handler: @escaping @Sendable (Bool) -> Void) {}
    package func stop() {}
}
