import PawlBase
import Synchronization

/// Messages from any thread to one loop.
///
/// The loop is woken only when it sleeps.
final class Mailbox: Sendable {
    enum Message: Sendable {
        case start(DownloadID, Boxed<Job>, ProgressCell)
        case pause(DownloadID)
        case preempt(DownloadID)
        case remove(DownloadID)
        case retryNow(DownloadID)
        indirect case replaceSource(DownloadID, WebAddress)
        case limit(DownloadID, Int64?)
        /// The common limits changed.
        case limits
        /// Descriptors are scarce: connections that no request uses are closed.
        case closeIdle
        case look(DownloadID, @Sendable (Inspection?) -> Void)
        case network(Bool)
        /// For the runner with this number only: a later run ignores messages for an earlier one.
        indirect case runner(UInt64, RunnerEvent)
        case stop
    }

    private struct State: Sendable {
        var messages: [Message] = []
        var isAsleep = false
        var wake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func post(_ message: Message) { put(message)?() }

    /// Appends a message, so that messages have the order of the decisions made under a lock.
    ///
    /// The result wakes the loop, and is to be called after that lock is released.
    func put(_ message: Message) -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.messages.append(message)
            guard state.isAsleep else { return nil }
            state.isAsleep = false
            return state.wake
        }
    }

    func attach(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Removes and returns all messages, in order.
    func take() -> [Message] {
        state.withLock { state in
            guard !state.messages.isEmpty else { return [] }
            defer { state.messages.removeAll(keepingCapacity: true) }
            return state.messages
        }
    }

    /// Marks the loop as about to wait; `false` when a message arrived in between.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.messages.isEmpty
            return state.isAsleep
        }
    }

    func wakeUp() { state.withLock { $0.isAsleep = false } }
}
