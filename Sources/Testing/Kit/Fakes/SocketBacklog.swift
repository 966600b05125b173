import PawlBase

/// The bytes of a body that a server has sent and its receiver has not read: they are in the socket buffers of both, and
/// are lost with the connection.
struct SocketBacklog: Sendable {
    /// The capacity of both socket buffers together.
    static let room: Int64 = 1 << 20

    private(set) var bytes: Int64 = 0
    private var pausedAt: Instant?

    mutating func pauses(at now: Instant) { pausedAt = pausedAt ?? now }

    /// Adds what the server has sent at `rate` bytes a second since the pause.
    mutating func resumes(at now: Instant, rate: Int64) {
        guard let since = pausedAt else { return }
        pausedAt = nil
        bytes = min(Self.room, bytes + Int64((now - since).seconds * Double(rate)))
    }

    /// Buffered bytes are read faster than new ones arrive.
    mutating func drains(_ count: Int64) { bytes = max(0, bytes - 4 * count) }
}

extension FakeTransport {
    /// The bytes that the server has sent in vain if this exchange ends now.
    func unread(_ exchange: SimulatedExchange) -> Int64 {
        guard let response = exchange.response else { return 0 }
        if let (session, stream) = exchange.place { return session.stream(stream)?.unread ?? 0 }
        exchange.backlog.resumes(at: timeline.now, rate: rate(of: exchange))
        let end = response.fault.map { min($0.after, response.length) } ?? response.length
        let left = max(0, end - exchange.sent)
        return sabotage == .sendsUnread ? left : min(left, exchange.backlog.bytes)
    }

    func rate(of exchange: SimulatedExchange) -> Int64 {
        guard let response = exchange.response else { return 0 }
        return response.rate ?? network[exchange.request.address.host].rate
    }
}
