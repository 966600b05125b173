import PawlBase
import Synchronization

/// Messages of other threads to the server's thread.
final class WebMailbox: Sendable {
    enum Message: Sendable {
        case reply(ConnectionID, WebResponse)
        /// The same bytes for several connections.
        case push(Set<ConnectionID>, [[UInt8]])
        /// The response to the oldest message without one.
        case response(ConnectionID, [UInt8])
        case markAuthenticated(ConnectionID)
        case end(ConnectionID)
        /// A heartbeat: shows that the thread is running.
        case beat
        /// Listen at a Unix socket; reports whether it does.
        case listen(String, @Sendable (Bool) -> Void)
        case stop(@Sendable () -> Void)
    }

    private struct State {
        var messages: [Message] = []
        /// When the oldest of them was posted.
        var since = ContinuousClock.Instant.now
        var latencies = LatencyHistogram()
        /// Whether the requested heartbeat has been received.
        var hasBeat = true
        /// Wakes the thread.
        var wake: (@Sendable () -> Void)?
        var isOver = false
    }

    private let state = Mutex(State())

    func attach(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.wake = wake
            if !state.messages.isEmpty { wake() }
        }
    }

    /// How long messages waited for the server's thread.
    var latencies: LatencyHistogram { state.withLock { $0.latencies } }

    /// The loop has ended; later messages are handled here.
    func detach() {
        let left = state.withLock { state in
            state.wake = nil
            state.isOver = true
            defer { state.messages = [] }
            return state.messages
        }
        for message in left { reject(message) }
    }

    func post(_ message: Message) {
        let isTaken = state.withLock { state -> Bool in
            guard !state.isOver else { return false }
            state.messages.append(message)
            // The thread was already woken for earlier messages.
            guard state.messages.count == 1 else { return true }
            state.since = .now
            state.wake?()
            return true
        }
        if !isTaken { reject(message) }
    }

    func take() -> [Message] {
        state.withLock { state in
            if !state.messages.isEmpty { state.latencies.note(.now - state.since) }
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Whether the last requested heartbeat was received, or the thread has ended normally; requests another
    /// one.
    func takeBeat() -> Bool {
        let hasBeat = state.withLock { state in
            defer { if !state.isOver { state.hasBeat = false } }
            return state.hasBeat || state.isOver
        }
        if hasBeat { post(.beat) }
        return hasBeat
    }

    func beat() { state.withLock { $0.hasBeat = true } }

    private func reject(_ message: Message) {
        switch message {
        case .stop(let completion): completion()
        case .listen(_, let completion): completion(false)
        case .reply, .push, .response, .markAuthenticated, .end, .beat: break
        }
    }
}
