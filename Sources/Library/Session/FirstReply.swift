import Synchronization

/// The first value that a completion handler is called with; `instead` if it is dropped without a call.
///
/// `call` passes the handler on. Later calls of it have no effect.
func firstReply<Value: Sendable>(instead: Value, _ call: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
    await withCheckedContinuation { continuation in
        let reply = Reply(continuation, instead: instead)
        call { reply.give($0) }
    }
}

/// A reply that is given once.
private final class Reply<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>
    private let instead: Value

    init(_ continuation: CheckedContinuation<Value, Never>, instead: Value) {
        self.continuation = Mutex(continuation)
        self.instead = instead
    }

    deinit { give(instead) }

    func give(_ value: Value) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: value)
    }
}
