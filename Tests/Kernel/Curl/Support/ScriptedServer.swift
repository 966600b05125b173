import Glibc
import PawlSystem
import PawlTestKit
import Synchronization

/// A server on loopback that responds to each request with exactly the scripted bytes.
final class ScriptedServer: Sendable {
    /// The bytes sent for one request, and the end of the connection.
    struct Response: Sendable {
        enum End: Sendable {
            case keep
            case close
            /// A reset instead of an orderly close.
            case reset
            /// Nothing more until the client closes or the server stops.
            case hold
        }

        var bytes: [UInt8]
        var end: End
        /// Bytes sent repeatedly after that, until the client closes.
        var flood: [UInt8] = []

        init(_ text: String, _ end: End = .keep) { self.init(Array(text.utf8), end) }

        init(_ bytes: [UInt8], _ end: End = .keep) {
            self.bytes = bytes
            self.end = end
        }

        /// Endless.
        static func endless(_ text: String, then flood: String) -> Response {
            var response = Response(text, .close)
            let unit = Array(flood.utf8)
            while response.flood.count < 64 * 1024 { response.flood += unit }
            return response
        }

        /// A plain 200 with a length.
        static func body(_ body: [UInt8], lines: String = "") -> Response {
            Response(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\(lines)\r\n".utf8) + body)
        }
    }

    /// One received request: its head, and its position.
    struct Request: Sendable {
        var head: String
        /// Counts from 0 over the whole server.
        var number: Int
        /// Counts from 0 over the connections.
        var connection: Int
        /// Counts from 0 on its connection.
        var turn: Int
        /// The address of the client's end of the connection.
        var peer: String

        var line: String { String(head.prefix { $0 != "\r\n" && $0 != "\n" }) }
        var target: String { head.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        /// The value of the first field of that name.
        func header(_ name: String) -> String? { headers(name).first }

        func headers(_ name: String) -> [String] {
            head.split(whereSeparator: \.isNewline).compactMap { line in
                guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name.lowercased() else {
                    return nil
                }
                return String(line[line.index(after: colon)...].drop { $0 == " " })
            }
        }
    }

    private struct State {
        var requests: [Request] = []
        var connections = 0
        var open: [Int32] = []
        var threads: [SystemThread] = []
        var abandoned = 0
        var flooded = 0
        var isStopping = false
    }

    let port: UInt16
    private let listener: Int32
    private let acceptor = Mutex<SystemThread?>(nil)
    private let state = Mutex(State())
    private let greeting: Response
    private let script: @Sendable (Request) -> Response

    var requests: [Request] { state.withLock { $0.requests } }
    /// Held connections that the client closed.
    var abandoned: Int { state.withLock { $0.abandoned } }
    /// The number of bytes sent in floods, to all clients.
    var flooded: Int { state.withLock { $0.flooded } }
    /// A client that reads this much has no limit.
    static let longestFlood = 256 << 20
    var connections: Int { state.withLock { $0.connections } }

    /// - Parameters:
    ///   - greeting: The bytes that the server sends before a request.
    ///   - script: The response to each request; called on the connection's thread.
    /// - Throws: `Socket.Failed` if it cannot listen.
    convenience init(greeting: String = "", _ script: @escaping @Sendable (Request) -> Response) throws {
        try self.init(greeting: Response(greeting), script)
    }

    init(greeting: Response, _ script: @escaping @Sendable (Request) -> Response) throws {
        self.greeting = greeting
        self.script = script
        (listener, port) = try Socket.listener()
        let thread = SystemThread.start { [self] in accept() }
        acceptor.withLock { $0 = thread }
    }

    /// Sends unsolicited bytes to every client; they have arrived when this returns.
    func say(_ text: String) {
        state.withLock { state in for socket in state.open { _ = Socket.send(Array(text.utf8), to: socket) } }
    }

    /// Waits until the clients have closed all connections.
    func waitForClients() { while let thread = state.withLock({ $0.threads.popLast() }) { thread.join() } }

    /// Closes every connection and waits for the server's threads.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            for socket in state.open { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        }
        _ = shutdown(listener, Int32(SHUT_RDWR))
        if let thread = acceptor.withLock({ $0.take() }) { thread.join() }
        waitForClients()
        close(listener)
    }

    private func accept() {
        while true {
            let socket = Glibc.accept(listener, nil, nil)
            guard socket >= 0 else { return }
            // Its thread may run far ahead before this one continues: a waiter for the threads must find it.
            let isServed = state.withLock { state in
                guard !state.isStopping else { return false }
                let number = state.connections
                state.connections += 1
                state.open.append(socket)
                state.threads.append(SystemThread.start { [self] in serve(socket, number) })
                return true
            }
            guard isServed else {
                close(socket)
                return
            }
        }
    }

    private func serve(_ socket: Int32, _ connection: Int) {
        var turn = 0
        let peer = Socket.peer(of: socket)
        var end = send(greeting, to: socket) ? Response.End.keep : .close
        while end == .keep, let head = Socket.readHead(socket) {
            let request = state.withLock { state in
                let number = state.requests.count
                state.requests.append(
                    Request(head: head, number: number, connection: connection, turn: turn, peer: peer))
                return state.requests[number]
            }
            turn += 1
            let response = script(request)
            guard send(response, to: socket) else { break }
            end = response.end
        }
        let isAbandoned = end == .hold && Socket.waitForEnd(socket)
        state.withLock { state in
            if isAbandoned { state.abandoned += 1 }
            state.open.removeAll { $0 == socket }
            if end == .reset { Socket.makeReset(socket) }
            close(socket)
        }
    }

    private func send(_ response: Response, to socket: Int32) -> Bool {
        guard Socket.send(response.bytes, to: socket) else { return false }
        var left = Self.longestFlood
        while !response.flood.isEmpty, left > 0 {
            guard Socket.send(response.flood, to: socket) else { return false }
            left -= response.flood.count
            state.withLock { $0.flooded += response.flood.count }
        }
        return true
    }
}
