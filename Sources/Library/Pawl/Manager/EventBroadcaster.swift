import Synchronization

/// Delivers each of a manager's events to all of its listeners: event sequences, closures and the delegate.
final class EventBroadcaster: Sendable {
    private struct WeakListener { weak var listener: EventSubscriber? }

    private struct State {
        var listeners: [WeakListener] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let bufferSize: Int
    private let observers: Observers
    let dispatcher: DelegateDispatcher

    init(bufferSize: Int, dispatcher: DelegateDispatcher, observers: Observers) {
        self.bufferSize = bufferSize
        self.observers = observers
        self.dispatcher = dispatcher
    }

    func listen() -> EventSubscriber {
        let listener = EventSubscriber(limit: bufferSize)
        let isOver = state.withLock { state in
            state.listeners.removeAll { $0.listener == nil }
            state.listeners.append(WeakListener(listener: listener))
            return state.isOver
        }
        if isOver { listener.end() }
        return listener
    }

    /// Called on the queue's thread only, so every consumer gets the same order.
    func broadcast(_ events: [DownloadEvent]) {
        guard !events.isEmpty else { return }
        if !observers.isEmpty { for event in events { observers.note(event) } }
        for listener in state.withLock({ $0.listeners }) { listener.listener?.post(events) }
    }

    func close() {
        let listeners = state.withLock { state in
            state.isOver = true
            return state.listeners
        }
        for listener in listeners { listener.listener?.end() }
        dispatcher.close()
    }
}
