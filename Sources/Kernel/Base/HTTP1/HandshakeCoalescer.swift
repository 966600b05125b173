/// Lets the first TLS connection to an origin go first, so that later connections resume its session.
///
/// They wait for its first response, up to a limit: on a long round trip they all connect at once.
package struct HandshakeCoalescer: Hashable, Sendable {
    private static let patience = Interval.milliseconds(10)
    private static let limit = 64

    private struct First: Hashable {
        let key: ConnectionKey
        var isAwaited: Bool
        var hasResponded = false
        let over: Instant
    }

    /// The keys that a connection was opened for, and until when the others wait for its response.
    private var firsts: [First] = []

    package init() {}

    /// Whether a connection may be opened now; the first one of a key may.
    package mutating func allows(_ key: ConnectionKey, at now: Instant) -> Bool {
        guard let index = firsts.firstIndex(where: { $0.key == key }) else {
            if firsts.count >= Self.limit { firsts.removeAll(keepingCapacity: true) }
            firsts.append(First(key: key, isAwaited: true, over: now + Self.patience))
            return true
        }
        // All of them: one for which nobody waits would be due for ever.
        for index in firsts.indices where firsts[index].over <= now { firsts[index].isAwaited = false }
        return !firsts[index].isAwaited
    }

    /// Notes that a response has begun on a connection of the key.
    package mutating func responded(_ key: ConnectionKey) {
        guard let index = firsts.firstIndex(where: { $0.key == key }) else { return }
        firsts[index].isAwaited = false
        firsts[index].hasResponded = true
    }

    /// Whether a connection of the key is known to have brought a response.
    package func hasResponded(_ key: ConnectionKey) -> Bool { firsts.contains { $0.key == key && $0.hasResponded } }

    /// The time after which the first awaited response is late.
    package var deadline: Instant? { firsts.lazy.filter(\.isAwaited).map(\.over).min() }
}
