import PawlEngine

#if os(Linux)
/// What this system offers to watch the network.
package typealias SystemReachability = NetlinkReachability
#else
/// What this system offers to watch the network: nothing yet.
///
/// Compiled for Apple systems but never run there.
package typealias SystemReachability = AlwaysOnline
#endif

/// Says that there is a network, always: a transfer that fails for want of one is then retried as any other.
package final class AlwaysOnline: Reachability {
    package init() {}

    package var isOnline: Bool { true }
    package func start(_ handler: @escaping @Sendable (Bool) -> Void) {}
    package func stop() {}
}
