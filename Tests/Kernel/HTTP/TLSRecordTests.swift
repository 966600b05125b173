import CTLS
import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

/// Established connections.
@Suite struct TLSRecordTests {
    private let bench: TLSBench

    init() throws { bench = try TLSBench() }

    private static let content = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    @Test(arguments: [1, 100, 16_384, 66_560, 500_000], [false, true])
    func `all bytes arrive, whatever the buffer and the records`(size: Int, isOneEnough: Bool) throws {
        let link = try bench.link()
        let content = Array(Self.content[..<(size == 1 ? 5000 : Self.content.count)])
        #expect(link.transfer(content, toClient: true, buffer: size, isOneEnough: isOneEnough) == content)
    }

    @Test func `the last bytes are known as such, although records were read ahead`() throws {
        let link = try bench.link()
        _ = link.tickets()
        // Five records may be exactly what is read ahead at once: then nothing is buffered, and there is more.
        let exact = (0..<10).map { [13_290, 13_290, 13_290, 13_290, 13_290 - $0, 5] }
        for sizes in [[1], [10, 20_000, 3], [16_384, 16_384], [40_000]] + exact {
            #expect(try readingToTheLast(sizes, over: link), "\(sizes)")
        }
    }

    /// Whether what is known as the last of these records is.
    private func readingToTheLast(_ sizes: [Int], over link: SecureLink) throws -> Bool {
        var sent: [UInt8] = []
        for size in sizes {
            let bytes = Array(Self.content[sent.count..<sent.count + size])
            var done = 0
            while done < size { done += try #require(link.server.send(bytes[done...])) }
            sent += bytes
        }
        var received: [UInt8] = []
        while case (.bytes(_, let isLast), let bytes) = link.client.receive(100_000) {
            received += bytes
            if isLast { break }
        }
        return received == sent && link.client.receive(100_000).0 == .nothing
    }

    @Test func `one record is enough where it is said so`() throws {
        let link = try bench.link()
        _ = link.tickets()
        for size in [5, 6] { _ = link.server.send(Self.content[..<size]) }
        #expect(link.client.receive(100, isOneEnough: true).0 == .bytes(5, isLast: false))
        #expect(link.client.receive(100, isOneEnough: true).0 == .bytes(6, isLast: true))
    }

    @Test(arguments: supportedVersions) func `only close_notify is an end`(version: Int32) throws {
        let server = try bench.server(version: version)
        let closed = try bench.link(nil, server)
        _ = closed.server.send(Self.content[..<10])
        closed.server.close()
        #expect(closed.client.receive(100).1 == Array(Self.content[..<10]))
        #expect(closed.client.receive(100).0 == .closed)
        #expect(closed.client.receive(100).0 == .closed)
        let cut = try bench.link(nil, server)
        _ = cut.server.send(Self.content[..<10])
        cut.cut()
        #expect(cut.client.receive(100).1 == Array(Self.content[..<10]))
        for _ in 0..<2 { #expect(cut.client.receive(100).0 == .failed(.noCloseNotify)) }
        #expect(TransferFault.noCloseNotify.text == "the connection was closed without TLS close_notify")
    }

    @Test func `the client says that it closes, and then nothing more is read or sent`() throws {
        let link = try bench.link()
        link.client.close()
        #expect(link.server.receive(100).0 == .closed)
        #expect(link.client.receive(100).0 == .closed)
        #expect(link.client.send([1]) == nil)
        #expect(link.client.handshake().fault != nil)
        #expect(link.client.version == nil && link.client.cipher == nil && !link.client.isResumed)
    }

    @Test func `a reset is named as the system does`() throws {
        let link = try bench.link()
        _ = link.tickets()
        _ = link.client.send([1, 2, 3])
        // With bytes that were not read (unix(7)).
        link.dropServer()
        #expect(link.client.receive(100).0 == .failed(TransferFault(receiving: ECONNRESET)))
        #expect(TransferFault(receiving: ECONNRESET).text == "receiving failed: Connection reset by peer")
    }

    @Test func `a handshake that has failed is no end either`() throws {
        let link = try SecureLink(bench.client(), bench.server())
        link.sendPlain([23, 3, 3, 0, 40] + [UInt8](repeating: 7, count: 40))
        let fault = try #require(link.shake().fault)
        for _ in 0..<2 { #expect(link.client.receive(100).0 == .failed(fault)) }
    }

    @Test func `what is no record ends the connection`() throws {
        let link = try bench.link()
        _ = link.tickets()
        link.sendPlain([23, 3, 3, 0, 40] + [UInt8](repeating: 7, count: 40))
        guard case .failed(let fault) = link.client.receive(100).0 else { return #expect(Bool(false)) }
        #expect(fault.kind == .connectionLost && fault.cause.id == "receiving-failed")
    }

    @Test(arguments: [SSL_KEY_UPDATE_REQUESTED, SSL_KEY_UPDATE_NOT_REQUESTED])
    func `keys may change at any time`(kind: Int32) throws {
        let link = try bench.link(nil, bench.server(version: TLS1_3_VERSION))
        for _ in 0..<3 {
            #expect(unsafe SSL_key_update(link.server.connection, kind) == 1)
            #expect(unsafe SSL_do_handshake(link.server.connection) == 1)
            // Nothing else has arrived.
            #expect(link.client.receive(100).0 == .nothing)
            for toClient in [true, false] {
                #expect(link.transfer([1, 2, 3], toClient: toClient) == [1, 2, 3])
            }
        }
    }

    @Test func `a renegotiation of TLS 1.2 may have to wait until something can be written`() throws {
        let link = try renegotiating("http/1.1")
        let filled = link.fillClientsTransport()
        #expect(filled > 0)
        #expect(link.client.receive(100).0 == .nothing)
        #expect(link.client.wantsWrite)
        link.drainServersTransport(filled)
        #expect(link.client.receive(100).0 == .nothing)
        #expect(!link.client.wantsWrite)
        for _ in 0..<4 {
            #expect(link.server.receive(100).0 == .nothing)
            #expect(link.client.receive(100).0 == .nothing)
        }
        for toClient in [true, false] { #expect(link.transfer([1, 2, 3], toClient: toClient) == [1, 2, 3]) }
    }

    @Test func `with HTTP/2 there is no renegotiation`() throws {
        let link = try renegotiating("h2")
        #expect(link.client.receive(100).0 == .nothing)
        // No new handshake has begun, and the server hears so.
        #expect(unsafe SSL_get_state(link.client.connection) == TLS_ST_OK)
        guard case .failed(let fault) = link.server.receive(100).0 else { return #expect(Bool(false)) }
        #expect(fault.text == "receiving failed: no renegotiation")
    }

    /// Over which the server has requested a new handshake.
    private func renegotiating(_ name: String) throws -> SecureLink {
        let target = TLSTarget(host: "localhost", port: 1, protocols: ["h2", "http/1.1"])
        let link = try bench.link(nil, bench.server(version: TLS1_2_VERSION, protocols: [name]), to: target)
        unsafe SSL_clear_options(link.server.connection, UInt64(1) << 30)  // SSL_OP_NO_RENEGOTIATION
        #expect(unsafe SSL_renegotiate(link.server.connection) == 1)
        #expect(unsafe SSL_do_handshake(link.server.connection) == 1)
        return link
    }

    @Test func `a full transport takes a part, and the rest later`() throws {
        let link = try bench.link()
        let content = Self.content + Self.content + Self.content
        let first = try #require(link.client.send(content[...]))
        #expect(first > 0)
        var sent = first
        while let count = link.client.send(content[sent...]), count > 0 { sent += count }
        #expect(sent < content.count)
        var received: [UInt8] = []
        while received.count < content.count {
            received += link.server.receive(100_000).1
            if sent < content.count { sent += try #require(link.client.send(content[sent...])) }
        }
        #expect(received == content)
    }

    @Test func `a connection within another one`() throws {
        let outer = try bench.link()
        let inner = try SecureLink(bench.client(), bench.server(version: TLS1_2_VERSION), within: outer)
        #expect(inner.shake().isDone && inner.serverProgress.isDone)
        #expect(outer.client.version == "TLSv1.3" && inner.client.version == "TLSv1.2")
        for toClient in [true, false] {
            #expect(inner.transfer(Self.content, toClient: toClient, buffer: 10_000) == Self.content)
        }
        for sizes in [[10], [10, 20, 30], [16_384, 16_384]] {
            #expect(try readingToTheLast(sizes, over: inner), "\(sizes)")
        }
        inner.server.close()
        #expect(inner.client.receive(100).0 == .closed)
        // Both are closed.
        #expect(outer.server.send([1]) == nil)
        #expect(outer.client.receive(100).0 == .closed)
    }

    @Test func `an end of the outer connection is none of the inner one`() throws {
        let outer = try bench.link()
        let inner = try SecureLink(bench.client(), bench.server(), within: outer)
        inner.shake()
        _ = inner.tickets()
        outer.server.close()
        #expect(inner.client.receive(100).0 == .failed(.noCloseNotify))
        let cut = try bench.link()
        let cutInner = try SecureLink(bench.client(), bench.server(), within: cut)
        cut.cut()
        #expect(cutInner.shake().fault?.kind == .connectionLost)
    }
}
