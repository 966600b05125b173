import PawlCore
import PawlEngine

/// What a server has sent of a body and its receiver has not read: it waits in the sockets of both, and is lost with the
/// connection.
struct SocketBacklog: Sendable {
    /// What the sockets of both ends hold together.
    static let room: Int64 = 1 << 20

    private(set) var bytes: Int64 = 0
    private var pausedAt: Instant?

    mutating func pauses(at now: Instant) { pausedAt = pausedAt ?? now }

    /// The server went on sending `rate` bytes a second meanwhile.
    mutating func resumes(at now: Instant, rate: Int64) {
        guard let since = pausedAt else { return }
        pausedAt = nil
        bytes = min(Self.room, bytes + Int64((now - since).seconds * Double(rate)))
    }

    /// What waits is read faster than anything new comes.
    mutating func drains(_ count: Int64) { bytes = max(0, bytes - 4 * count) }
}

extension FakeTransport {
    /// What its server has sent in vain when this exchange ends now.
    func unread(_ exchange: SimulatedExchange) -> Int64 {
        guard case .flowing(let answer) = exchange.stage else { return 0 }
        exchange.backlog.resumes(at: timeline.now, rate: rate(of: exchange))
        let end = answer.fault.map { min($0.after, answer.length) } ?? answer.length
        let left = max(0, end - exchange.sent)
        return network.hides(.sendsUnread) ? left : min(left, exchange.backlog.bytes)
    }

    func rate(of exchange: SimulatedExchange) -> Int64 {
        guard case .flowing(let answer) = exchange.stage else { return 0 }
        return answer.rate ?? network[exchange.request.address.host].rate
    }
}
