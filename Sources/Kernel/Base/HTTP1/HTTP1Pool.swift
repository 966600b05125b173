/// The identity of one connection of a client; never used twice.
package struct HTTP1ConnectionID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Decides which connection carries a request: an idle one of its key, or a new one.
///
/// It has only the idle connections; one that carries a request is in the hands of the code that owns the sockets.
package struct HTTP1Pool: Hashable, Sendable {
    package enum Placement: Hashable, Sendable {
        /// The connection has left the pool. If the peer has closed it meanwhile, it is closed and the request placed
        /// again.
        case reuse(HTTP1ConnectionID)
        /// The connection was idle too long and has left the pool: it is closed and the request placed again.
        case discard(HTTP1ConnectionID)
        /// A new connection is opened.
        case connect
        /// The first TLS handshake of the key is not over: the request is placed again after a response on that
        /// connection, at the latest at ``deadline``.
        case wait
    }

    private struct Idle: Hashable {
        let id: HTTP1ConnectionID
        let key: ConnectionKey
        /// Of the key: most of them differ, which a number shows faster.
        let hash: Int
        /// When it has been idle too long.
        let end: Instant
    }

    /// In the order in which they became idle.
    private var idle: [Idle] = []
    private var handshakes = HandshakeCoalescer()

    package init() {}

    /// Places a request.
    ///
    /// One that is sent again because a reused connection was lost gets a new connection, so it is not lost that way
    /// twice.
    package mutating func place(_ key: ConnectionKey, isRetry: Bool, at now: Instant) -> Placement {
        let hash = key.hashValue
        // By index, because a closure would get a copy of each.
        if !isRetry, let index = idle.indices.last(where: { idle[$0].hash == hash && idle[$0].key == key }) {
            let found = idle.remove(at: index)
            return found.end > now ? .reuse(found.id) : .discard(found.id)
        }
        return !key.isSecure || handshakes.allows(key, at: now) ? .connect : .wait
    }

    /// Takes an idle connection; returns the one that has been idle longest when there are too many, and it is
    /// closed.
    package mutating func keep(_ id: HTTP1ConnectionID, for key: ConnectionKey, at now: Instant) -> HTTP1ConnectionID? {
        assert(!idle.contains { $0.id == id }, "a connection is idle once")
        idle.append(Idle(id: id, key: key, hash: key.hashValue, end: now + HTTP1Limits.idleTime))
        assert(idle[0].end <= idle[idle.count - 1].end, "the first has been idle longest")
        assert(idle.count <= HTTP1Limits.idleConnections + 1, "one takes the place of another at most")
        return idle.count > HTTP1Limits.idleConnections ? idle.removeFirst().id : nil
    }

    /// Removes an idle connection that is closed.
    package mutating func remove(_ id: HTTP1ConnectionID) { idle.removeAll { $0.id == id } }

    /// Removes all idle connections, which are closed.
    package mutating func removeAll() -> [HTTP1ConnectionID] {
        defer { idle = [] }
        return idle.map(\.id)
    }

    /// The first response on a new connection of the key has begun.
    package mutating func responded(_ key: ConnectionKey) { if key.isSecure { handshakes.responded(key) } }

    /// Whether the origin of a key with TLS is known to have responded over HTTP/1.1.
    package func hasResponded(_ key: ConnectionKey) -> Bool { handshakes.hasResponded(key) }

    /// When requests that wait for a handshake are placed again.
    package var deadline: Instant? { handshakes.deadline }

    /// The number of idle connections.
    package var count: Int { idle.count }
}

/// The limits of an HTTP connection, whichever transport has it.
package enum HTTP1Limits {
    /// The maximum length of all header sections of one response together, interim ones included.
    package static let longestHead = 256 * 1024
    /// The size of a read before the body: it contains the header section, and a small body with it.
    package static let firstRead = 128 * 1024
    /// The number of bytes of an unwanted body that may be read to keep its connection.
    package static let longestDrain = 64 * 1024
    /// The time limit for that.
    package static let drainTime = Interval.seconds(1)
    /// Idle connections kept for reuse.
    package static let idleConnections = 128
    /// How long an idle connection is kept: less than the two minutes after which many servers close theirs.
    package static let idleTime = Interval.seconds(115)

    /// Whether an unwanted body is read and discarded so that its connection can carry another request, above all the
    /// next hop of a redirect.
    package static func isWorthDraining(_ body: ResponseFraming.Body, keepsConnection: Bool) -> Bool {
        guard keepsConnection else { return false }
        return switch body {
        case .none, .chunked: true
        case .length(let length): length <= longestDrain
        case .untilClose: false
        }
    }
}
