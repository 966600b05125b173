import PawlBase
import Synchronization

/// A network that is reachable or not, as the test decides.
package final class FakeReachability: Reachability {
    private struct State: Sendable {
        var isOnline = true
        var handler: (@Sendable (Bool) -> Void)?
        var starts = 0
    }

    private let state = Mutex(State())

    package init() {}

    package var isOnline: Bool { state.withLock { $0.isOnline } }
    /// The number of calls of `start`.
    package var starts: Int { state.withLock { $0.starts } }
    package var isWatched: Bool { state.withLock { $0.handler != nil } }

    package func start(_ handler: @escaping @Sendable (Bool) -> Void) {
        state.withLock { state in
            state.handler = handler
            state.starts += 1
        }
    }

    package func stop() { state.withLock { $0.handler = nil } }

    /// Changes the state; `isTold` also notifies the handler.
    package func change(to isOnline: Bool, isTold: Bool = true) {
        let handler = state.withLock { state in
            state.isOnline = isOnline
            return isTold ? state.handler : nil
        }
        handler?(isOnline)
    }
}
