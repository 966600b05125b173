import PawlBase
import PawlTestKit
import PawlWeb
import Synchronization
import Testing

private let big = Payload(seed: 7, length: 3_000_001)
private let bigBody = big.bytes(in: ByteRange(0, big.length))

/// Responds with the request; to `/later` only when it is released.
private final class Parrot: WebHandler {
    let closed = Mutex<[ConnectionID]>([])
    let opened = Mutex<[ConnectionID]>([])
    let server = Mutex<WebServer?>(nil)

    func respond(to request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
        switch request.path {
        case "/empty": reply(WebResponse(204))
        case "/big": reply(WebResponse(200, body: .bytes(bigBody)))
        case "/stream":
            reply(WebResponse(200, contentType: "text/event-stream", body: .stream))
            let server = self.server.withLock { $0 }
            for number in 1...3 { server?.push(Array("piece \(number)\n".utf8), to: request.connection) }
            server?.end(request.connection)
        default:
            reply(
                WebResponse(
                    200,
                    text:
                        "\(request.method.rawValue) \(request.path) \(query) \(request.body.count) \(request.listener)")
            )
        }
    }

    func recognizes(_ request: WebRequest) -> Bool { true }
    func recognizes(_ beginning: [UInt8]) -> Bool { true }
    func refusal(ofSocket request: WebRequest) -> WebResponse? { request.path == "/socket" ? nil : WebResponse(404) }
    func opened(_ socket: ConnectionID, request: WebRequest) { opened.withLock { $0.append(socket) } }
    func received(_ message: [UInt8], from socket: ConnectionID) {
        server.withLock { $0 }?.push(Array("echo ".utf8) + message, to: socket)
    }
    func closed(_ connection: ConnectionID) { closed.withLock { $0.append(connection) } }
}

@Suite struct WebServerTests {
    private let folder: TemporaryFolder
    private let parrot = Parrot()
    private let server: WebServer
    private var base: String { "http://127.0.0.1:\(server.ports[1])" }
    private var socket: String { folder.path("socket") }

    init() async throws {
        folder = try TemporaryFolder()
        var limits = WebLimits()
        limits.body = 100_000
        server = try WebServer.start(
            listeningAt: [
                .local(path: folder.path("socket")), .port(address: "127.0.0.1", port: 0, certificate: nil, key: nil),
            ], limits: limits, handler: parrot)
        parrot.server.withLock { $0 = server }
    }

    private func curl(_ arguments: String...) throws -> PawlProcess {
        try PawlProcess.run("/usr/bin/curl", ["-sS", "--max-time", "300", "--noproxy", "*"] + arguments)
    }

    @Test func `a request arrives with its path, query, body and listener`() async throws {
        let plain = try curl("\(base)/a%20b?x=1%2B1&y")
        #expect(plain.output == "GET /a b x=1+1|y= 0 port(isSecure: false)\n")
        let post = try curl("--data-binary", String(repeating: "z", count: 5_000), "\(base)/p")
        #expect(post.output == "POST /p  5000 port(isSecure: false)\n")
        let local = try curl("--unix-socket", socket, "http://pawl/x")
        #expect(local.output == "GET /x  0 local\n")
        await server.stop()
    }

    @Test func `a response larger than any buffer arrives complete`() async throws {
        let path = folder.path("big")
        _ = try curl("-o", path, "\(base)/big", "-o", folder.path("again"), "\(base)/big")
        #expect(folder.difference("big", from: big) == nil)
        #expect(folder.difference("again", from: big) == nil)
        await server.stop()
    }

    @Test func `a body over the limit or without a length is refused and the connection is closed`() async throws {
        let large = try curl("-w", "%{http_code}", "-H", "Expect:", "--data-binary", "@\(write(200_000))", base)
        #expect(large.output.hasSuffix("413"))
        let chunked = try curl("-w", "%{http_code}", "-H", "Transfer-Encoding: chunked", "--data-binary", "x", base)
        #expect(chunked.output.hasSuffix("411"))
        await server.stop()
    }

    @Test func `a stream delivers its pieces in order and its end is reported`() async throws {
        #expect(try curl("\(base)/stream").output == "piece 1\npiece 2\npiece 3\n")
        await server.stop()
        #expect(parrot.closed.withLock { $0.count } == 1)
    }

    @Test func `only its owner can open the Unix socket`() async throws {
        #expect(FileSystem.mode(socket) == 0o600)
        await server.stop()
    }

    @Test func `a port in use is reported`() async throws {
        #expect(throws: Failure.self) {
            try WebServer.start(
                listeningAt: [.port(address: "127.0.0.1", port: server.ports[1], certificate: nil, key: nil)],
                handler: parrot)
        }
        await server.stop()
    }

    private func write(_ count: Int) throws -> String {
        let path = folder.path("body")
        try FileSystem.write(Array(repeating: 65, count: count), to: path)
        return path
    }
}
