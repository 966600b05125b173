import PawlCore

/// Letters for many listeners, who get them in rounds, a few listeners at a time.
///
/// A write to a socket costs the system the same whether one letter is in it or ten, so what comes during a round goes
/// out together in the next. A thousand writes in a row would keep calls waiting for as long as they take; between
/// portions the server's thread looks at everybody else.
struct BatchedBroadcast {
    struct Portion: Equatable {
        var messages: [[UInt8]]
        var listeners: Set<ConnectionID>
        /// Until the next one.
        var pause: Duration
    }

    /// Listeners at a time.
    static let portion = 16
    /// The time that a round takes, however few they are.
    static let length = Duration.milliseconds(100)
    /// With very many listeners a round takes longer instead.
    static let shortestPause = Duration.milliseconds(8)

    private(set) var listeners: Set<ConnectionID> = []
    /// For the next round.
    private var messages: [[UInt8]] = []
    private var present: [[UInt8]] = []
    /// Who has not had the present round's letters.
    private var waiting: [ConnectionID] = []
    private var pause = BatchedBroadcast.length
    /// Somebody takes portions.
    private var isGoing = false

    /// Whether it was not there yet.
    mutating func add(_ listener: ConnectionID) -> Bool { listeners.insert(listener).inserted }

    mutating func remove(_ listener: ConnectionID) { listeners.remove(listener) }

    mutating func add(_ message: [UInt8]) { messages.append(message) }

    /// Whether the caller has to take portions from now on, until there is none.
    mutating func begins() -> Bool {
        guard !isGoing, !messages.isEmpty else { return false }
        isGoing = true
        return true
    }

    /// `nil` after a round in which nothing has come: the next letter goes out at once.
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

    /// All that is left, for everybody at once.
    mutating func rest() -> [Portion] {
        let behind = listeners.intersection(waiting)
        defer { (messages, waiting) = ([], []) }
        return [
            Portion(messages: present, listeners: behind, pause: .zero),
            Portion(messages: messages, listeners: listeners, pause: .zero),
        ]
    }
}
