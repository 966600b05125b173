import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlBase

/// The blocking client against a server.
@Suite struct HTTPClientServerTests {
    private static let script = """
        import hashlib, http.server, socketserver, ssl, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *a): pass
            def reply(self, status, body, *fields):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                for name, value in fields: self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(body)
            def do_PUT(self):
                if self.path == "/refused":
                    # Without having read the body.
                    self.close_connection = True
                    return self.reply(413, b"too large", ("Connection", "close"))
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.reply(200, f"{len(body)} {hashlib.sha256(body).hexdigest()} {self.client_address[1]}".encode())
            do_POST = do_PUT
            def do_HEAD(self): self.reply(200, bytes(12345))
            def do_DELETE(self): self.reply(404, str(self.headers["Content-Length"]).encode())
            def do_GET(self): self.reply(302, b"over there", ("Location", "/elsewhere"))
        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer): daemon_threads = True
        server = Server(("127.0.0.1", 0), Handler)
        if sys.argv[1:]:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*sys.argv[1:])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    /// A server, and the client of a test; it ends with this.
    private final class Peer {
        private let authority: TestAuthority
        private let process: PawlProcess
        private let place: String
        private let client: HTTPClient

        init(isSecure: Bool) throws {
            authority = try TestAuthority()
            let files = isSecure ? [authority.certificate, authority.key] : []
            process = try PawlProcess("/usr/bin/python3", ["-c", HTTPClientServerTests.script] + files)
            place = "\(isSecure ? "https" : "http")://127.0.0.1:\(try #require(process.line { Int($0) != nil }))"
            var values = TransferSettings.Values()
            values.proxy = ""
            values.authorityFile = authority.authority
            client = HTTPClient(TransferSettings(values), patience: 60)
        }

        func send(
            _ method: String, _ path: String, body: [UInt8] = []
        ) throws -> (status: Int, body: String, length: Int64?) {
            let address = try WebAddress.parse(place + path).address
            let (head, text) = try client.perform(HTTPClient.Request(method, address, body: body))
            return (head.status, String(decoding: text, as: UTF8.self), head.contentLength)
        }
    }

    @Test(arguments: [false, true]) func `requests of all methods go over one connection, whatever their bodies`(
        isSecure: Bool
    ) throws {
        let peer = try Peer(isSecure: isSecure)
        var ports: Set<Substring> = []
        for count in [0, 1, 70_000, 2_000_000] {
            let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let method = count == 1 ? "POST" : "PUT"
            let (status, text, _) = try peer.send(method, "/", body: body)
            let words = text.split(separator: " ")
            #expect(status == 200 && words.first == "\(count)")
            if let last = words.last { ports.insert(last) }
            let (headStatus, none, length) = try peer.send("HEAD", "/")
            #expect(headStatus == 200 && none.isEmpty && length == 12_345)
            // Nothing is stated about the body of a method that has none.
            let (missing, given, _) = try peer.send("DELETE", "/")
            #expect(missing == 404 && given == "None")
        }
        #expect(ports.count == 1)
        let (status, text, _) = try peer.send("GET", "/")
        #expect(status == 302 && text == "over there")
    }

    @Test(arguments: [false, true]) func `a body that is refused before it was sent is not sent on`(
        isSecure: Bool
    ) throws {
        let peer = try Peer(isSecure: isSecure)
        _ = try peer.send("PUT", "/")
        for count in [10_000, 20_000_000] {
            let (status, text, _) = try peer.send("PUT", "/refused", body: [UInt8](repeating: 7, count: count))
            #expect(status == 413 && text == "too large")
        }
        let (status, _, _) = try peer.send("GET", "/")
        #expect(status == 302)
    }
}
