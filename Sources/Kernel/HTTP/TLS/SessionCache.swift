import CTLS
package import PawlBase

/// What a server has issued for resuming a TLS session (RFC 8446 §4.6.1, RFC 5077).
@safe package final class TLSTicket {
    let raw: OpaquePointer

    /// Takes over the reference.
    init(_ raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe SSL_SESSION_free(raw) }
}

/// The tickets that the connections of one transport may use, each bound to the key of the connection that got it.
///
/// A resumed handshake needs no certificate and, before TLS 1.3, one round trip instead of two.
package struct SessionCache {
    private struct Entry {
        /// The newest first.
        var tickets: [TLSTicket]
        var lastUse: UInt64
    }

    private var entries: [ConnectionKey: Entry] = [:]
    private var uses: UInt64 = 0

    private static let mostKeys = 64
    private static let mostTickets = 4

    package init() {}

    /// A ticket for a new connection: used once where another one is left (RFC 8446 §C.4); many connections that begin at once
    /// share the last one.
    package mutating func take(_ key: ConnectionKey) -> TLSTicket? {
        guard let tickets = entries[key]?.tickets, let ticket = tickets.first else { return nil }
        uses += 1
        entries[key] = Entry(tickets: tickets.count > 1 ? Array(tickets.dropFirst()) : tickets, lastUse: uses)
        return ticket
    }

    package mutating func add(_ tickets: [TLSTicket], of key: ConnectionKey) {
        guard !tickets.isEmpty else { return }
        if entries.count >= Self.mostKeys, entries[key] == nil,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries[oldest.key] = nil
        }
        uses += 1
        let all = tickets + (entries[key]?.tickets ?? [])
        entries[key] = Entry(tickets: Array(all.prefix(Self.mostTickets)), lastUse: uses)
    }

    /// After a resumed handshake that failed.
    package mutating func remove(_ key: ConnectionKey) { entries[key] = nil }
}
