import PawlEngine
import Synchronization

/// A way out of the machine that is there or not, as the story says.
package final class FakeReachability: Reachability {
    private struct State: Sendable {
        var isOnline = true
        var handler: (@Sendable (Bool) -> Void)?
        var starts = 0
    }

    private let state = Mutex(State())

    package init() {}

    package var isOnline: Bool { state.withLock { $0.isOnline } }
    /// How often somebody began to listen.
    package var starts: Int { state.withLock { $0.starts } }
    package var isWatched: Bool { state.withLock { $0.handler != nil } }

    package func start(_ handler: @escaping @Sendable (Bool) -> Void) {
        state.withLock { state in
            state.handler = handler
            state.starts += 1
        }
    }

    package func stop() { state.withLock { $0.handler = nil } }

    /// The answer is another now; `isTold` also tells whoever listens.
    package func change(to isOnline: Bool, isTold: Bool = true) {
        let handler = state.withLock { state in
            state.isOnline = isOnline
            return isTold ? state.handler : nil
        }
        handler?(isOnline)
    }
}
