import PawlCore

/// Lets the first TLS connection to an origin go first, so that later connections resume its session.
///
/// They wait for its first response, up to a limit: on a long round trip they all connect at once.
struct HandshakeCoalescer {
    private static let patience = Interval.milliseconds(10)
    private static let limit = 64

    /// The keys that a connection was opened for, and until when the others wait for its response.
    private var firsts: [(connectionKey: ConnectionKey, isAwaited: Bool, over: Instant)] = []

    /// Whether a connection may be opened now; the first one of a key may.
    mutating func allows(_ connectionKey: ConnectionKey, at now: Instant) -> Bool {
        guard let index = firsts.firstIndex(where: { $0.connectionKey == connectionKey }) else {
            if firsts.count >= Self.limit { firsts.removeAll(keepingCapacity: true) }
            firsts.append((connectionKey, true, now + Self.patience))
            return true
        }
        if firsts[index].over <= now { firsts[index].isAwaited = false }
        return !firsts[index].isAwaited
    }

    /// Notes that a response has begun on a connection of the key.
    mutating func answered(_ connectionKey: ConnectionKey) {
        guard let index = firsts.firstIndex(where: { $0.connectionKey == connectionKey }) else { return }
        firsts[index].isAwaited = false
    }

    /// The time after which the first awaited response is late.
    var deadline: Instant? { firsts.lazy.filter(\.isAwaited).map(\.over).min() }
}
