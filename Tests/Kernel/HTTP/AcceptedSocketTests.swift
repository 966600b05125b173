import Glibc
import PawlSystem
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

/// A client's connection whose poller reports each change once.
@Suite struct AcceptedSocketTests {
    private let poller = EpollPoller(clock: SystemClock())
    private let source: PollSource
    private let client: Int32
    private let server: Int32

    init() throws {
        source = poller.makeSource()
        let pair = try SecureLink.pair()
        (client, server) = (pair[0], pair[1])
        #expect(poller.watch(server, for: .changes, key: 1, of: source))
    }

    private func take(_ socket: AcceptedSocket) {
        poller.wait(until: .past)
        poller.takeEvents(of: source) { socket.note($0) }
    }

    private func read(_ socket: AcceptedSocket, _ size: Int = 100_000) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe socket.receive(into: $0) }
        return count.map { Array(bytes[..<$0]) }
    }

    private func send(_ bytes: [UInt8], on socket: AcceptedSocket) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe socket.send($0) }
    }

    private func fromClient(_ bytes: [UInt8]) { _ = unsafe Glibc.send(client, bytes, bytes.count, 0) }

    /// What the client can read now.
    private func atClient(_ size: Int = 1 << 20) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = unsafe recv(client, &bytes, size, Int32(MSG_DONTWAIT))
        return Array(bytes[..<max(0, count)])
    }

    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) } }

    @Test func `it is read until it is empty, and again after the next event`() {
        let socket = AcceptedSocket(server, nil)
        defer { close(client) }
        take(socket)
        #expect(!socket.mayRead)
        fromClient(pattern(1000))
        #expect(!socket.mayRead)
        take(socket)
        // A full buffer says nothing about the rest.
        #expect(read(socket, 400) == Array(pattern(1000)[..<400]) && socket.mayRead)
        #expect(read(socket, 600) == Array(pattern(1000)[400...]) && socket.mayRead)
        #expect(read(socket) == [] && !socket.mayRead)
        fromClient([1])
        take(socket)
        #expect(read(socket) == [1] && !socket.mayRead)
    }

    @Test func `the end that came with the last bytes is seen without another event`() {
        let socket = AcceptedSocket(server, nil)
        fromClient([1, 2])
        close(client)
        take(socket)
        #expect(read(socket) == [1, 2] && socket.mayRead)
        #expect(read(socket) == nil)
    }

    @Test func `what the socket does not take is sent when it has room, in order`() {
        let socket = AcceptedSocket(server, nil)
        defer { close(client) }
        let bytes = pattern(3_000_000)
        for start in stride(from: 0, to: bytes.count, by: 100_000) {
            #expect(send(Array(bytes[start..<start + 100_000]), on: socket))
        }
        #expect(!socket.isFlushed && socket.unsent > 1_000_000)
        // Nothing is tried before an event.
        let waiting = socket.unsent
        #expect(socket.flush() && socket.unsent == waiting)
        var received: [UInt8] = []
        while received.count < bytes.count {
            let part = atClient()
            take(socket)
            #expect(socket.flush())
            if part.isEmpty, socket.isFlushed { break }
            received += part
        }
        received += atClient()
        #expect(received == bytes && socket.isFlushed && socket.unsent == 0)
    }

    @Test func `a client that is gone ends reading and writing`() {
        let socket = AcceptedSocket(server, nil)
        close(client)
        take(socket)
        #expect(read(socket) == nil)
        #expect(!send([1], on: socket))
    }

    @Test func `after the end of sending, bytes of the client are still read`() {
        let socket = AcceptedSocket(server, nil)
        defer { close(client) }
        #expect(send([5, 6], on: socket))
        socket.endSending()
        #expect(atClient() == [5, 6] && atClient().isEmpty)
        fromClient([7])
        take(socket)
        #expect(read(socket) == [7])
    }

    /// Goes on with both sides of a handshake.
    private func shake(_ session: TLSSession, _ socket: AcceptedSocket) {
        for _ in 0..<8 {
            _ = session.handshake()
            take(socket)
            if socket.mayRead { #expect(read(socket) == []) }
        }
    }

    @Test(arguments: supportedVersions) func `it speaks TLS with a client`(version: Int32) throws {
        let bench = try TLSBench()
        let socket = AcceptedSocket(server, try bench.server(version: version, protocols: ["http/1.1"]))
        let session = try TLSSession(bench.client(), over: .socket(client), to: .local)
        defer { close(client) }
        take(socket)
        #expect(!socket.mayRead)
        shake(session, socket)
        #expect(session.version != nil && !socket.mayRead)
        let request = pattern(50_000)
        #expect(session.send(request[...]).map { $0 > 0 } == true)
        take(socket)
        var received: [UInt8] = []
        while socket.mayRead { received += read(socket, 1000) ?? [] }
        #expect(!received.isEmpty && received == Array(request[..<received.count]))
        // More than the transport holds.
        let response = pattern(2_000_000)
        #expect(send(response, on: socket) && !socket.isFlushed)
        var arrived: [UInt8] = []
        while arrived.count < response.count {
            let (result, part) = session.receive(65_536)
            arrived += part
            if case .failed = result { break }
            take(socket)
            #expect(socket.flush())
        }
        #expect(arrived == response && socket.isFlushed)
        socket.endSending()
        #expect(session.receive(10).0 == .closed)
        // The rest is only thrown away, so it is not decrypted.
        fromClient([1, 2, 3])
        take(socket)
        #expect(read(socket) == [1, 2, 3])
        session.close()
    }

    @Test func `a request that comes with the end of the handshake is read without another event`() throws {
        let bench = try TLSBench()
        let socket = AcceptedSocket(server, try bench.server())
        let session = try TLSSession(bench.client(), over: .socket(client), to: .local)
        defer { close(client) }
        _ = session.handshake()
        take(socket)
        #expect(read(socket) == [] && !socket.mayRead)
        guard case .done = session.handshake() else {
            Issue.record("the client has not finished")
            return
        }
        #expect(session.send([1, 2, 3]) == 3)
        take(socket)
        // The last step of the handshake.
        #expect(read(socket) == [] && socket.mayRead)
        #expect(read(socket) == [1, 2, 3])
        session.close()
    }

    @Test func `bytes that are no TLS end the handshake`() throws {
        let socket = AcceptedSocket(server, try TLSBench().server())
        defer { close(client) }
        fromClient(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        take(socket)
        #expect(socket.mayRead && read(socket) == nil)
    }

    @Test func `the digest of a WebSocket's key is that of RFC 6455`() {
        let text = "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        #expect(Base64.encode(SHA1.digest(of: Array(text.utf8))) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }
}
