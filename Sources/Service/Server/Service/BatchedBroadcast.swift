import PawlWeb

/// Broadcasts messages to many listeners in rounds, a few listeners at a time.
///
/// A write to a socket costs the same for one message as for ten, so messages that arrive during a round are sent
/// together in the next. A thousand consecutive writes would delay calls; between portions the server's thread serves
/// other connections.
struct BatchedBroadcast {
    struct Portion: Equatable {
        var messages: [[UInt8]]
        var listeners: Set<ConnectionID>
        /// The time until the next one.
        var pause: Duration
    }

    /// Listeners per portion.
    static let portion = 16
    /// The duration of a round with few listeners.
    static let length = Duration.milliseconds(100)
    /// The pause between portions; with many listeners it makes rounds longer.
    static let shortestPause = Duration.milliseconds(8)

    private(set) var listeners: Set<ConnectionID> = []
    /// For the next round.
    private var messages: [[UInt8]] = []
    private var present: [[UInt8]] = []
    /// Listeners that have not received the current round's messages.
    private var waiting: [ConnectionID] = []
    private var pause = BatchedBroadcast.length
    /// A sender is taking portions.
    private var isGoing = false

    /// Whether it was new.
    mutating func add(_ listener: ConnectionID) -> Bool { listeners.insert(listener).inserted }

    mutating func remove(_ listener: ConnectionID) { listeners.remove(listener) }

    mutating func add(_ message: [UInt8]) { messages.append(message) }

    /// Whether the caller must send portions from now on, until none is left.
    mutating func begins() -> Bool {
        guard !isGoing, !messages.isEmpty else { return false }
        isGoing = true
        return true
    }

    /// `nil` after a round without new messages: the next message is sent at once.
    mutating func next() -> Portion? {
        if waiting.isEmpty, !beginRound() {
            isGoing = false
            return nil
        }
        let portion = waiting.suffix(BatchedBroadcast.portion)
        waiting.removeLast(portion.count)
        return Portion(messages: present, listeners: listeners.intersection(portion), pause: pause)
    }

    private mutating func beginRound() -> Bool {
        guard !messages.isEmpty else { return false }
        present = messages
        messages = []
        waiting = Array(listeners)
        let portions = max(1, (waiting.count + BatchedBroadcast.portion - 1) / BatchedBroadcast.portion)
        pause = max(BatchedBroadcast.shortestPause, BatchedBroadcast.length / portions)
        return true
    }

    /// All remaining messages, for all listeners at once.
    mutating func rest() -> [Portion] {
        let behind = listeners.intersection(waiting)
        defer { (messages, waiting) = ([], []) }
        return [
            Portion(messages: present, listeners: behind, pause: .zero),
            Portion(messages: messages, listeners: listeners, pause: .zero),
        ]
    }
}
