import Synchronization

/// A latch that releases all waiting tasks.
final class AsyncLatch: Sendable {
    private struct State {
        var hasRung = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func ring() {
        let waiting = state.withLock { state in
            state.hasRung = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let hasRung = state.withLock { state in
                if !state.hasRung { state.waiting.append(continuation) }
                return state.hasRung
            }
            if hasRung { continuation.resume() }
        }
    }
}
