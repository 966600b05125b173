import PawlBase
import Synchronization

/// Events of a manager's downloads (``DownloadManager/events``).
///
/// Each sequence has its own buffer, which fills from its creation on. When the buffer is full, further
/// events are counted instead of stored, and ``DownloadEvent/Kind/missed(_:)`` reports the count in their
/// place.
public struct DownloadEvents: AsyncSequence, Sendable {
    /// The element type.
    public typealias Element = DownloadEvent
    /// The sequence never throws.
    public typealias Failure = Never

    let listener: EventSubscriber

    init(listener: EventSubscriber) { self.listener = listener }

    /// Creates a sequence of these events, for tests of what receives them; then it ends.
    public init(_ events: [DownloadEvent]) {
        listener = EventSubscriber(limit: events.count)
        listener.post(events)
        listener.end()
    }

    /// Starts with the oldest buffered event; several iterators of one value share its events.
    public func makeAsyncIterator() -> Iterator { Iterator(listener: listener) }

    /// Consumes buffered events.
    public struct Iterator: AsyncIteratorProtocol {
        let listener: EventSubscriber

        /// The next event; `nil` when the manager is shut down or the task is cancelled.
        public mutating func next() async -> DownloadEvent? { await listener.next() }
    }
}

/// The buffer of one consumer.
package final class EventSubscriber: Sendable {
    private struct State {
        var events: [DownloadEvent] = []
        var front = 0
        var missed = 0
        var isOver = false
    }

    private let limit: Int
    private let state = Mutex(State())
    private let signal = ChangeSignal()

    init(limit: Int) { self.limit = max(1, limit) }

    func post(_ events: [DownloadEvent]) {
        state.withLock { state in
            for event in events {
                let room = limit - (state.events.count - state.front)
                if state.missed > 0, room > 1 {
                    state.events.append(.missed(state.missed))
                    state.missed = 0
                    state.events.append(event)
                } else if state.missed > 0 || room < 1 {
                    state.missed += 1
                } else {
                    state.events.append(event)
                }
            }
        }
        signal.notify()
    }

    func end() {
        state.withLock { $0.isOver = true }
        signal.notify()
    }

    func next() async -> DownloadEvent? {
        while true {
            let seen = signal.count
            let (event, isOver) = take()
            if event != nil || isOver || Task.isCancelled { return event }
            await signal.wait(after: seen)
        }
    }

    /// The next event that is there; `nil` if there is none yet.
    package func takeNow() -> DownloadEvent? { take().0 }

    private func take() -> (DownloadEvent?, isOver: Bool) {
        state.withLock { state in
            if state.front < state.events.count {
                let event = state.events[state.front]
                state.front += 1
                if state.front == state.events.count || state.front > 256 {
                    state.events.removeFirst(state.front)
                    state.front = 0
                }
                return (event, false)
            }
            guard state.missed > 0 else { return (nil, state.isOver) }
            defer { state.missed = 0 }
            return (.missed(state.missed), false)
        }
    }
}

extension DownloadEvent {
    fileprivate static func missed(_ count: Int) -> DownloadEvent {
        DownloadEvent(id: .ofQueue, kind: .missed(count))
    }
}

extension Download.ID {
    /// The id in events that belong to no single download.
    package static let ofQueue = Download.ID(rawValue: 0)
}
