import PawlCore

/// Lets the first connection over TLS to an origin go ahead, so that those after it go on with its session.
///
/// They wait for its first answer, and no longer than nobody notices: far away, they all set out together.
struct HandshakeCoalescer {
    private static let patience = Interval.milliseconds(10)
    private static let limit = 64

    /// The routes that a connection was made on, and until when the others wait for its answer.
    private var firsts: [(connectionKey: ConnectionKey, isAwaited: Bool, over: Instant)] = []

    /// Whether a connection can be made now; the first one of a route can.
    mutating func allows(_ connectionKey: ConnectionKey, at now: Instant) -> Bool {
        guard let index = firsts.firstIndex(where: { $0.connectionKey == connectionKey }) else {
            if firsts.count >= Self.limit { firsts.removeAll(keepingCapacity: true) }
            firsts.append((connectionKey, true, now + Self.patience))
            return true
        }
        if firsts[index].over <= now { firsts[index].isAwaited = false }
        return !firsts[index].isAwaited
    }

    /// An answer has begun on a connection of the route.
    mutating func answered(_ connectionKey: ConnectionKey) {
        guard let index = firsts.firstIndex(where: { $0.connectionKey == connectionKey }) else { return }
        firsts[index].isAwaited = false
    }

    /// When the first answer that is waited for is late.
    var deadline: Instant? { firsts.lazy.filter(\.isAwaited).map(\.over).min() }
}
