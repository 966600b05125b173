import CWebSockets
import Synchronization

/// What other threads have for the server's thread.
final class WebMailbox: Sendable {
    enum Message: Sendable {
        case reply(ConnectionID, WebResponse)
        /// The same bytes for all of them.
        case push(Set<ConnectionID>, [[UInt8]])
        /// The answer to the oldest message that is not answered.
        case answer(ConnectionID, [UInt8])
        case markAuthenticated(ConnectionID)
        case end(ConnectionID)
        /// Shows that the thread comes round.
        case beat
        case stop(@Sendable () -> Void)
    }

    @safe
    private struct State: @unchecked Sendable {  // the pointer only rings a bell
        var messages: [Message] = []
        /// When the oldest of them came.
        var since = ContinuousClock.Instant.now
        var latencies = LatencyHistogram()
        /// Whether a beat that was asked for has been taken.
        var hasBeat = true
        var context: OpaquePointer?
        var isOver = false
    }

    private let state = Mutex(State())

    func attach(_ context: OpaquePointer) { state.withLock { unsafe $0.context = context } }

    /// How long the server's thread let its letters wait.
    var latencies: LatencyHistogram { state.withLock { $0.latencies } }

    /// The loop has ended; what comes now is answered here.
    func detach() {
        let left = state.withLock { state in
            unsafe state.context = nil
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
            // Who has not looked yet was rung for already.
            guard state.messages.count == 1 else { return true }
            state.since = .now
            // Under the lock, so that the context cannot go in between; it only rings.
            if let context = unsafe state.context { unsafe lws_cancel_service(context) }
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

    /// Whether the beat that was last asked for has come, or the thread has ended in good order; asks for another one.
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
        case .reply, .push, .answer, .markAuthenticated, .end, .beat: break
        }
    }
}
