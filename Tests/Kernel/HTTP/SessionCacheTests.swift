import CTLS
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

/// Resumed handshakes.
@Suite struct SessionCacheTests {
    private let bench: TLSBench

    init() throws { bench = try TLSBench() }

    private func key(_ port: UInt16) throws -> ConnectionKey {
        let origin = try WebAddress.parse("https://localhost:\(port)/").address.origin
        return ConnectionKey(origin, interface: nil, settings: SettingsID(rawValue: 1), carriesSecrets: true)
    }

    private func tickets(_ server: TLSContext) throws -> [TLSTicket] { try bench.link(nil, server).tickets() }

    @Test(arguments: supportedVersions) func `a ticket resumes the session, again and again`(version: Int32) throws {
        let server = try bench.server(version: version)
        let first = try bench.link(nil, server)
        #expect(!first.client.isResumed)
        let tickets = first.tickets()
        #expect(tickets.count == (version == TLS1_3_VERSION ? 2 : 1))
        #expect(first.client.takeTickets().isEmpty)
        for ticket in tickets + tickets {
            let link = try bench.link(nil, server, resuming: ticket)
            #expect(link.clientProgress.isDone && link.serverProgress.isDone && link.client.isResumed)
            #expect(link.transfer([1, 2], toClient: true) == [1, 2])
            #expect(!link.tickets().isEmpty || version == TLS1_2_VERSION)
        }
        let ticket = try #require(tickets.first)
        // Another server does not know it, and makes a new session.
        let other = try bench.link(nil, bench.server(version: version), resuming: ticket)
        #expect(other.clientProgress.isDone && !other.client.isResumed)
    }

    @Test(arguments: supportedVersions) func `pinned keys count for resumed sessions too`(version: Int32) throws {
        let server = try bench.server(version: version)
        let ticket = try #require(try tickets(server).first)
        let own = try bench.pin(of: bench.authority.certificate)
        let pinned = try bench.link(bench.client { $0.pins = [own] }, server, resuming: ticket)
        #expect(pinned.clientProgress.isDone && pinned.client.isResumed)
        let other = try bench.client { ($0.pins, $0.verifies) = (["sha256//AAAA"], false) }
        let refused = try bench.link(other, server, resuming: ticket)
        #expect(refused.clientProgress.fault?.cause.id == "fault-key-not-pinned")
    }

    @Test(arguments: supportedVersions) func `a lost connection leaves its tickets valid`(version: Int32) throws {
        let server = try bench.server(version: version)
        let link = try bench.link(nil, server)
        let tickets = link.tickets()
        link.cut()
        guard case .failed = link.client.receive(10).0 else { return #expect(Bool(false)) }
        link.client.close()
        for ticket in tickets {
            let next = try bench.link(nil, server, resuming: ticket)
            #expect(next.client.isResumed)
        }
    }

    @Test func `a connection keeps few of a server's tickets`() throws {
        let server = try bench.server(version: TLS1_3_VERSION)
        unsafe SSL_CTX_set_num_tickets(server.raw, 9)
        #expect(try tickets(server).count == 4)
    }

    @Test func `a ticket is used once where there is another, and the last one stays`() throws {
        let server = try bench.server(version: TLS1_3_VERSION)
        var cache = SessionCache()
        let (here, there) = (try key(1), try key(2))
        #expect(cache.take(here) == nil)
        let fresh = try tickets(server)
        cache.add([], of: here)
        cache.add(fresh, of: here)
        #expect(cache.take(there) == nil)
        #expect(cache.take(here) === fresh[0])
        #expect(cache.take(here) === fresh[1])
        #expect(cache.take(here) === fresh[1])
        let more = try (0..<3).flatMap { _ in try tickets(server) }
        cache.add(more, of: here)
        // Four are kept.
        for index in [0, 1, 2, 3, 3] { #expect(cache.take(here) === more[index]) }
        // The newest come first.
        cache.add(fresh, of: here)
        for ticket in [fresh[0], fresh[1], more[3], more[3]] { #expect(cache.take(here) === ticket) }
        cache.remove(here)
        #expect(cache.take(here) == nil)
    }

    @Test func `the servers that were used last are kept`() throws {
        let ticket = try tickets(bench.server(version: TLS1_2_VERSION))
        let keys = try (0...64).map { try key(UInt16($0) + 1) }
        var cache = SessionCache()
        for key in keys[..<64] { cache.add(ticket, of: key) }
        #expect(cache.take(keys[0]) != nil)
        cache.add(ticket, of: keys[64])
        #expect([0, 1, 2, 64].map { cache.take(keys[$0]) != nil } == [true, false, true, true])
    }
}
