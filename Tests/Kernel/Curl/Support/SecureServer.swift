import PawlTestKit

/// A TLS server (Python's) with a different behaviour per path; `/tiny` in records of a few bytes, `/cut` with
/// an end in the middle, and so on.
final class SecureServer {
    /// The content of every response.
    static let body = payload(3_000_000, seed: 11)

    let authority: TestAuthority
    let port: UInt16
    private let folder: TemporaryFolder
    private let process: ServerProcess

    init() throws {
        authority = try TestAuthority()
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        try FileSystem.write(Self.body, to: folder.path("body"))
        try FileSystem.write(Array(Self.program.utf8), to: folder.path("server.py"))
        process = try ServerProcess(
            "python3", ["-u", folder.path("server.py"), "\(port)", authority.certificate, authority.key, folder.path],
            in: folder, ports: [port])
    }

    /// Its log so far, one entry per line: `connection CIPHER`, `request PATH`, `abandoned`.
    ///
    /// The line of a request is written before its response.
    var log: [String] {
        let text = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    func requests(_ path: String) -> Int { log.count { $0 == "request \(path)" } }
    var connections: [String] { log.filter { $0.hasPrefix("connection ") } }

    private static let program = #"""
        import socket, ssl, sys, threading

        port, certificate, key, folder = int(sys.argv[1]), *sys.argv[2:5]
        body = open(folder + "/body", "rb").read()
        log = open(folder + "/log", "ab", buffering=0)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        # The client's order of ciphers decides.
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE

        def say(text):
            log.write((text + "\n").encode())

        def head(length=None, more=""):
            line = "" if length is None else f"Content-Length: {length}\r\n"
            return f"HTTP/1.1 200 OK\r\n{line}{more}\r\n".encode()

        def cut(peer):
            # Without close_notify.
            peer.shutdown(socket.SHUT_RDWR)
            peer.detach()

        def pieces(data, sizes=(1, 2, 3, 5, 7, 11, 4000)):
            index, turn = 0, 0
            while index < len(data):
                size = sizes[turn % len(sizes)]
                yield data[index:index + size]
                index, turn = index + size, turn + 1

        # Each returns whether the connection is kept.
        def burst(peer, turn):
            peer.sendall(head(len(body)) + body)
            return True

        def small(peer, turn):
            peer.sendall(head(1000) + body[:1000])
            return True

        def tiny(peer, turn):
            for piece in pieces(head(60000) + body[:60000]):
                peer.sendall(piece)
            return True

        def chunked(peer, turn):
            peer.sendall(head(more="Transfer-Encoding: chunked\r\n"))
            for piece in pieces(body[:60000], (1, 16384, 7, 20000)):
                peer.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")
            peer.sendall(b"0\r\n\r\n")
            return True

        def short(peer, turn):
            peer.sendall(head(100000) + body[:50000])
            cut(peer)
            return False

        def farewell(peer, turn):
            peer.sendall(head(100000) + body[:50000])
            return False

        def endless(peer, turn):
            peer.sendall(head() + body[:50000])
            return False

        def endlesscut(peer, turn):
            peer.sendall(head() + body[:50000])
            cut(peer)
            return False

        def stall(peer, turn):
            peer.sendall(head(100000) + body[:50000])
            if not peer.recv(1):
                say("abandoned")
            return False

        def dying(peer, turn):
            if turn > 0:
                return False
            return small(peer, turn)

        def dyingcut(peer, turn):
            if turn > 0:
                cut(peer)
                return False
            return small(peer, turn)

        def dead(peer, turn):
            return False

        def serve(connection):
            try:
                with context.wrap_socket(connection, server_side=True) as peer:
                    say("connection " + peer.cipher()[0])
                    turn, goes_on = 0, True
                    while goes_on:
                        request = b""
                        while not request.endswith(b"\r\n\r\n"):
                            piece = peer.recv(65536)
                            if not piece:
                                return
                            request += piece
                        path = request.split()[1].decode()
                        say("request " + path)
                        goes_on = globals()[path[1:]](peer, turn)
                        turn += 1
                    if peer.fileno() >= 0:
                        peer.unwrap()
            except OSError:
                pass

        listener = socket.create_server(("127.0.0.1", port), backlog=64)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()
        """#
}
