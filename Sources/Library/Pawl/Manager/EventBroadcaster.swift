#if Queue
import PawlBase
import Synchronization

/// Delivers each of a manager's events to all of its listeners: event sequences, closures and the delegate.
final class EventBroadcaster: Sendable {
    private struct WeakListener { weak var listener: EventSubscriber? }

    private struct State {
        var listeners: [WeakListener] = []
        /// Notices of no download, for the first listener: those of opening the queue come before anyone can listen.
        var early: [DownloadEvent]? = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let bufferSize: Int
    private let observers: DownloadObservers
    let dispatcher: DelegateDispatcher

    init(bufferSize: Int, dispatcher: DelegateDispatcher, observers: DownloadObservers) {
        self.bufferSize = bufferSize
        self.observers = observers
        self.dispatcher = dispatcher
    }

    func listen() -> EventSubscriber {
        let listener = EventSubscriber(limit: bufferSize)
        let isOver = state.withLock { state in
            state.listeners.removeAll { $0.listener == nil }
            state.listeners.append(WeakListener(listener: listener))
            listener.post(state.early ?? [])
            state.early = nil
            return state.isOver
        }
        if isOver { listener.end() }
        return listener
    }

    /// Called on the queue's thread only, so every consumer gets the same order.
    func broadcast(_ events: [DownloadEvent]) {
        guard !events.isEmpty else { return }
        if !observers.isEmpty { for event in events { observers.note(event) } }
        let listeners = state.withLock { state in
            for event in events where event.isOfQueue && state.early.map({ $0.count < bufferSize }) ?? false {
                state.early?.append(event)
            }
            return state.listeners
        }
        for listener in listeners { listener.listener?.post(events) }
    }

    /// Takes the notices that nobody has listened to.
    func takeEarly() -> [DownloadEvent] {
        state.withLock { state in
            defer { state.early = state.early.map { _ in [] } }
            return state.early ?? []
        }
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

extension DownloadEvent {
    /// A notice of no download.
    static func notice(_ message: LocalizableMessage) -> DownloadEvent {
        DownloadEvent(id: .ofQueue, kind: .notice(DownloadNotice(message)))
    }

    /// Whether it is such a notice.
    fileprivate var isOfQueue: Bool { if id == .ofQueue, case .notice = kind { true } else { false } }
}
#endif
