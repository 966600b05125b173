import PawlBase
import Synchronization

/// Watches links, addresses and routes through rtnetlink(7).
///
/// Online means: an ordinary route, not merely link-local or multicast, leaves through an interface that is up, has
/// carrier and is not the loopback. It says nothing about the network behind the first link.
///
/// Where the kernel cannot be queried (a sandbox without netlink) the result is always online, without changes.
package final class NetlinkReachability: Reachability {
    private let reported = ReportedState()
    private let watch = Mutex<RouteListener?>(nil)

    package init() {}

    deinit { stop() }

    /// While started: the state last reported to the handler, so a caller that reads `false` is notified of `true`.
    ///
    /// Otherwise the kernel is queried, which takes some microseconds and no thread.
    package var isOnline: Bool {
        watch.withLock { watch in
            guard watch == nil else { return reported.value ?? true }
            let current = RouteQuery.isOnline()
            reported.value = current
            return current
        }
    }

    /// Starts the watching thread; has no effect while one runs.
    ///
    /// If the network has changed since the last reading of ``isOnline``, `handler` is called at once.
    package func start(_ handler: @escaping @Sendable (Bool) -> Void) {
        watch.withLock { watch in
            guard watch == nil else { return }
            watch = RouteListener(reported: reported, handler: handler)
        }
    }

    /// Ends the thread and waits for its end: no call of the handler follows after this returns, unless this is called
    /// inside the handler.
    ///
    /// Calling it again has no effect. Do not hold a lock here that the handler takes.
    package func stop() {
        let ending = watch.withLock { watch in
            let ending = watch
            watch = nil
            return ending
        }
        ending?.stop()
    }
}

/// The state that was last reported.
final class ReportedState: Sendable {
    private let current = Mutex<Bool?>(nil)

    var value: Bool? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// This system's way to watch the network.
package typealias SystemReachability = NetlinkReachability
