import PawlEngine
import Synchronization

/// Watches links, addresses and routes through rtnetlink(7).
///
/// Online means: an ordinary route, not merely link-local or multicast, leaves through an interface that is switched
/// on, has carrier and is not the loopback. It says nothing about what lies behind the first cable.
///
/// Where the kernel cannot be asked (a sandbox without netlink) the answer is always online, and no change is told.
package final class NetlinkReachability: Reachability {
    private let told = ToldAnswer()
    private let watch = Mutex<RouteWatch?>(nil)

    package init() {}

    deinit { stop() }

    /// While started: the answer that the handler knows, so that whoever reads `false` here will be told of `true`.
    ///
    /// Otherwise the kernel is asked, which takes some microseconds and no thread.
    package var isOnline: Bool {
        watch.withLock { watch in
            guard watch == nil else { return told.value ?? true }
            let answer = RouteQuery.isOnline()
            told.value = answer
            return answer
        }
    }

    /// Starts the watching thread; without effect while one runs.
    ///
    /// The network may have changed since the last reading of ``isOnline``: then `handler` hears of it at once.
    package func start(_ handler: @escaping @Sendable (Bool) -> Void) {
        watch.withLock { watch in
            guard watch == nil else { return }
            watch = RouteWatch(told: told, handler: handler)
        }
    }

    /// Ends the thread and waits for its end: no call of the handler comes after this one returned, unless it is made
    /// inside the handler.
    ///
    /// Calling it again does nothing. Do not hold a lock here that the handler takes.
    package func stop() {
        let ending = watch.withLock { watch in
            let ending = watch
            watch = nil
            return ending
        }
        ending?.stop()
    }
}

/// The last answer that anyone was given.
final class ToldAnswer: Sendable {
    private let answer = Mutex<Bool?>(nil)

    var value: Bool? {
        get { answer.withLock { $0 } }
        set { answer.withLock { $0 = newValue } }
    }
}
