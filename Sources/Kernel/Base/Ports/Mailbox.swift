// Public so that other modules inline it; no part of the library's interface.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Synchronization

/// Messages from any thread to one that reads them, in order.
///
/// The reader is woken only while it sleeps. Where it sleeps is its own matter, so that this needs no system call. Inlined
/// into other modules: a download sends several messages.
public final class Mailbox<Message: Sendable>: Sendable {
    /// Ends the reader's sleep.
    public typealias Wake = @Sendable () -> Void

    @usableFromInline struct State: Sendable {
        @usableFromInline var messages: [Message] = []
        /// The sum of the weights of `messages`.
        @usableFromInline var weight = 0
        /// The weight for which the reader sleeps; `nil` while it is awake, or was woken.
        @usableFromInline var awaited: Int?
        @usableFromInline var wake: Wake?
        @usableFromInline var isClosed = false

        @inlinable init() {}

        @inlinable mutating func take() -> [Message] {
            weight = 0
            guard !messages.isEmpty else { return [] }
            // A crowd of messages that came once does not make every later buffer as large.
            defer { messages.removeAll(keepingCapacity: messages.count <= 1024) }
            return messages
        }
    }

    @usableFromInline let state: Mutex<State>

    @inlinable public init() { state = Mutex(State()) }

    @inlinable public func attach(wake: @escaping Wake) { state.withLock { $0.wake = wake } }

    /// Appends a message; `false` when the mailbox is closed.
    ///
    /// By default it is heavy enough for every reader.
    @inlinable @discardableResult public func post(_ message: Message, weight: UInt32 = .max) -> Bool {
        let (isTaken, wake) = put(message, weight: weight)
        wake?()
        return isTaken
    }

    /// The same, so that messages have the order of the decisions made under a lock: `wake` is to be called after that lock
    /// is released.
    @inlinable public func put(_ message: Message, weight: UInt32 = .max) -> (isTaken: Bool, wake: Wake?) {
        state.withLock { state in
            guard !state.isClosed else { return (false, nil) }
            state.messages.append(message)
            state.weight += Int(weight)
            guard let awaited = state.awaited, awaited <= state.weight else { return (true, nil) }
            state.awaited = nil
            return (true, state.wake)
        }
    }

    @inlinable public var isEmpty: Bool { state.withLock { $0.messages.isEmpty } }

    /// Removes and returns all messages.
    @inlinable public func take() -> [Message] { state.withLock { $0.take() } }

    /// Calls `sleep`, which `wake` ends, unless there are messages of this weight together; whether it slept.
    @inlinable @discardableResult public func wait(for weight: Int = 0, _ sleep: () -> Void) -> Bool {
        let sleeps = state.withLock { state in
            let sleeps = state.messages.isEmpty || state.weight < weight
            if sleeps { state.awaited = weight }
            return sleeps
        }
        guard sleeps else { return false }
        sleep()
        // Later messages are read without a wake.
        state.withLock { $0.awaited = nil }
        return true
    }

    /// Refuses further messages, and returns the last ones.
    @inlinable public func close() -> [Message] {
        state.withLock { state in
            state.isClosed = true
            state.wake = nil
            return state.take()
        }
    }
}
