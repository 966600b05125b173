package import PawlBase
import Synchronization

/// A latch that threads and tasks wait on until another opens it; it stays open.
package final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Monitor(State())

    package init() {}

    package func open() {
        let waiting = state.with { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when the latch is open; `false` if the deadline, a time of `SystemClock`, passes before.
    @discardableResult package func pass(until deadline: Instant? = nil) -> Bool {
        state.wait(until: deadline) { $0.isOpen ? true : nil } ?? false
    }

    /// Returns when the latch is open, for a task.
    package func opened() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.with(waking: .none) { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// A value that one task waits for, and of which the first counts.
package final class Once<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>
    private let instead: Value

    private init(_ continuation: CheckedContinuation<Value, Never>, instead: Value) {
        self.continuation = Mutex(continuation)
        self.instead = instead
    }

    deinit { give(instead) }

    /// The first value that is given to what `ask` passes on; `instead` if that is dropped before.
    package static func value(instead: Value, _ ask: (Once) -> Void) async -> Value {
        await withCheckedContinuation { ask(Once($0, instead: instead)) }
    }

    package func give(_ value: Value) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: value)
    }
}
