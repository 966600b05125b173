/// The identity of one HTTP/2 connection of a client; never used twice.
package struct HTTP2ConnectionID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Decides which connection carries a request that may share one: one with room, a new one, or one of HTTP/1.1.
///
/// Beside ``HTTP1Pool``, which has the idle connections of HTTP/1.1. Only for TLS: there the handshake tells the protocol.
package struct HTTP2Pool: Hashable, Sendable {
    package enum Placement: Hashable, Sendable {
        case join(HTTP2ConnectionID)
        /// A new connection is opened, which offers both protocols: `connected` or `failed` follows.
        case connect
        /// The request is placed again when a connection of the key has room, is established, has failed or is closed, at
        /// the latest at ``deadline``.
        case wait
        /// All connections that there may be are full: as `wait`, and at that time it is placed as one that `hasWaited`.
        case waitForRoom(until: Instant)
        /// The server has HTTP/1.1 only, or no room in time: the request is ``HTTP1Pool``'s.
        case http1
    }

    private struct Connection: Hashable {
        let id: HTTP2ConnectionID
        let key: ConnectionKey
        var room: Int
        /// How many requests it carries.
        var streams = 0
        var isRetired = false
    }

    /// What is known of a key.
    private struct Known: Hashable {
        let key: ConnectionKey
        var used: Instant
        var connecting = 0
        /// How long the others wait to learn the protocol of the first connections.
        var patience: Instant?
        var hasHTTP1Until: Instant?
        /// How many connections one after the other were of no use because of the server's faults.
        var breaks = 0
        var mostStreams: Int?
        /// A further connection could not be established beside so many.
        var mostConnections: Int?
    }

    /// Of one key; `pawl get` has at most four pools, and so no more connections to a host than over HTTP/1.1.
    ///
    /// Those to a server that is not known yet are opened together, as each begins slowly (RFC 5681 §3.1).
    package static let mostConnections = 4
    /// So many requests are carried before another connection is opened beside: a lost packet holds up all of them.
    package static let busy = 16
    private static let longestPatience = Interval.seconds(3)
    private static let longestWaitForRoom = Interval.seconds(5)
    private static let memory = Interval.seconds(600)
    private static let mostKnown = 256
    private static let mostBreaks = 2

    private var connections: [Connection] = []
    private var known: [Known] = []

    package init() {}

    /// Places a request; `timeout` is that of connecting, and of a response, for which a request without room would wait in vain.
    package mutating func place(
        _ key: ConnectionKey, timeout: Interval, hasWaited: Bool = false, at now: Instant
    ) -> Placement {
        let own = connections.filter { $0.key == key }
        let usable = own.filter { $0.room > 0 }
        // The fullest, so that others become idle.
        let best = usable.filter { $0.streams < Self.busy }.max { $0.streams < $1.streams }
        if let best { return .join(best.id) }
        let index = index(of: key, at: now)
        forgetPassed(at: now)
        if let end = known[index].hasHTTP1Until, end <= now { known[index].hasHTTP1Until = nil }
        let (count, connecting) = (own.lazy.filter { !$0.isRetired }.count, known[index].connecting)
        if count == 0 { known[index].mostConnections = nil }
        let most = known[index].mostConnections ?? Self.mostConnections
        if let emptiest = usable.min(by: { $0.streams < $1.streams }) {
            let streams = own.reduce(0) { $0 + $1.streams }
            guard streams >= Self.busy * (count + connecting), count + connecting < most,
                known[index].hasHTTP1Until == nil
            else { return .join(emptiest.id) }
        } else if known[index].hasHTTP1Until != nil {
            return .http1
        } else if count == 0 {
            if connecting >= most, known[index].patience != nil { return .wait }
        } else if count >= most {
            return hasWaited ? .http1 : .waitForRoom(until: now + min(timeout * 0.3, Self.longestWaitForRoom))
        } else if count + connecting >= most {
            return .wait
        }
        if known[index].connecting == 0 { known[index].patience = now + min(timeout, Self.longestPatience) }
        known[index].connecting += 1
        return .connect
    }

    /// A time that has passed wakes nobody: otherwise that of a key for which nobody waits would do so for ever.
    private mutating func forgetPassed(at now: Instant) {
        for index in known.indices where known[index].patience.map({ $0 <= now }) ?? false {
            known[index].patience = nil
        }
    }

    /// A connection has HTTP/2.
    ///
    /// Returns whether it is used. If not, because there are enough meanwhile, it is closed and its request placed again.
    package mutating func connected(
        _ id: HTTP2ConnectionID, _ key: ConnectionKey, room: Int, at now: Instant
    ) -> Bool {
        let index = endConnecting(key, at: now)
        (known[index].hasHTTP1Until, known[index].patience) = (nil, nil)
        let count = connections.lazy.filter { $0.key == key && !$0.isRetired }.count
        guard count < Self.mostConnections else { return false }
        connections.append(Connection(id: id, key: key, room: room))
        return true
    }

    /// A connection that offered both protocols has HTTP/1.1.
    package mutating func connectedWithHTTP1(_ key: ConnectionKey, at now: Instant) {
        let index = endConnecting(key, at: now)
        (known[index].hasHTTP1Until, known[index].patience) = (now + Self.memory, nil)
    }

    /// The request for which a connection was being established is cancelled.
    package mutating func cancelled(_ key: ConnectionKey, at now: Instant) { _ = endConnecting(key, at: now) }

    /// No connection was established.
    ///
    /// Returns whether the request is placed again, because there are others, or may be soon: a server may allow no more
    /// from one client.
    package mutating func failed(_ key: ConnectionKey, at now: Instant) -> Bool {
        let index = endConnecting(key, at: now)
        let count = connections.lazy.filter { $0.key == key && !$0.isRetired }.count
        if count > 0 { known[index].mostConnections = count }
        return count > 0 || known[index].connecting > 0
    }

    /// What a connection carries has changed; one that is retired carries no further request.
    package mutating func changed(_ id: HTTP2ConnectionID, room: Int, streams: Int, isRetired: Bool) {
        guard let index = connections.firstIndex(where: { $0.id == id }) else { return }
        connections[index].streams = streams
        // Also when it is the key that needs HTTP/1.1.
        if isRetired { connections[index].isRetired = true }
        connections[index].room = connections[index].isRetired ? 0 : room
    }

    /// A connection is closed; `isBroken` if the server has broken the rules of HTTP/2.
    package mutating func closed(_ id: HTTP2ConnectionID, isBroken: Bool, at now: Instant) {
        guard let position = connections.firstIndex(where: { $0.id == id }) else { return }
        let key = connections.remove(at: position).key
        let index = index(of: key, at: now)
        known[index].breaks = isBroken ? known[index].breaks + 1 : 0
        if known[index].breaks >= Self.mostBreaks { requiresHTTP1(key, at: now) }
    }

    /// The server has said that it needs HTTP/1.1.
    package mutating func requiresHTTP1(_ key: ConnectionKey, at now: Instant) {
        let index = index(of: key, at: now)
        (known[index].hasHTTP1Until, known[index].breaks) = (now + Self.memory, 0)
        for index in connections.indices where connections[index].key == key {
            (connections[index].room, connections[index].isRetired) = (0, true)
        }
    }

    /// The server closes connections of the key after so many streams.
    package mutating func learned(_ key: ConnectionKey, mostStreams: Int, at now: Instant) {
        known[index(of: key, at: now)].mostStreams = mostStreams
    }

    package func mostStreams(_ key: ConnectionKey) -> Int? { known.first { $0.key == key }?.mostStreams }

    /// When requests that wait are placed again.
    package var deadline: Instant? { known.lazy.compactMap(\.patience).min() }

    private mutating func endConnecting(_ key: ConnectionKey, at now: Instant) -> Int {
        let index = index(of: key, at: now)
        known[index].connecting = max(0, known[index].connecting - 1)
        if known[index].connecting == 0 { known[index].patience = nil }
        return index
    }

    private mutating func index(of key: ConnectionKey, at now: Instant) -> Int {
        if let index = known.firstIndex(where: { $0.key == key }) {
            known[index].used = now
            return index
        }
        if known.count >= Self.mostKnown {
            let idle = known.indices.filter { known[$0].connecting == 0 }
            if let oldest = idle.min(by: { known[$0].used < known[$1].used }) { known.remove(at: oldest) }
        }
        known.append(Known(key: key, used: now))
        return known.count - 1
    }
}
