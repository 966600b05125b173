import CPawlSystem
import Glibc
import PawlBase
import PawlSystem

/// The socket of one connection to an origin, and what its machine has to know.
final class HTTP1Socket {
    let id: HTTP1ConnectionID
    let connectionKey: ConnectionKey
    /// −1 when closed.
    private(set) var socket: Int32
    /// The TLS state; `nil` for plain HTTP.
    let secure: TLSSession?
    /// The exchange whose response is awaited or read; `nil` when there is none, or when its body is drained.
    private(set) var exchange: HTTP1Exchange?
    /// Decides what happens to the connection and to its request.
    var machine = HTTP1Connection()
    /// Whether there may be something to read: nothing has shown otherwise since the last event.
    var canRead = false
    /// Whether it is to be read without waiting for an event.
    var isReadable = false
    /// The addresses and the TLS state, for measured requests.
    private var ends: TransferTiming?
    /// The bytes of the request that the socket has not accepted.
    private var unsent: [UInt8] = []
    /// What follows them.
    private var body: ArraySlice<UInt8> = []

    init(_ socket: Int32, _ secure: TLSSession?, to connectionKey: ConnectionKey, id: HTTP1ConnectionID) {
        self.socket = socket
        self.secure = secure
        self.connectionKey = connectionKey
        self.id = id
    }

    deinit { close() }

    /// Asks the machine in place: a call on the stored property would copy the whole machine first.
    func ask<Value>(_ question: (inout HTTP1Connection) -> Value) -> Value { question(&machine) }

    func close() {
        machine.close()
        guard socket >= 0 else { return }
        secure?.close()
        _ = Glibc.close(socket)
        socket = -1
    }

    /// Detaches the exchange.
    func release() {
        exchange?.connection = nil
        exchange = nil
    }

    /// What an idle connection has received.
    func probe() -> HTTP1Connection.Probe {
        guard socket >= 0 else { return .end }
        var byte: UInt8 = 0
        if secure != nil {
            // Records without response bytes, such as new session tickets, are processed here.
            return unsafe withUnsafeMutableBytes(of: &byte) { byte in
                switch unsafe receive(into: byte, isOneEnough: true) {
                case .nothing: .nothing
                case .bytes: .bytes
                case .closed, .failed: .end
                }
            }
        }
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN ? .nothing : .end }
        return count == 0 ? .end : .bytes
    }

    /// The number of bytes of the request that the peer has not acknowledged, when the machine needs it.
    var unacknowledged: Int { ask { $0.needsUnacknowledged } ? Int(pawl_unacknowledged(socket)) : 0 }

    /// Sends a request, whose header section is given.
    func send(_ exchange: HTTP1Exchange, _ request: [UInt8]) {
        self.exchange = exchange
        exchange.connection = self
        body = exchange.request.body[...]
        machine.begin(
            length: request.count, body: body.count, isHead: exchange.request.method == "HEAD",
            isRetry: exchange.isRetry)
        guard exchange.request.isMeasured else { return send(request) }
        measure(exchange) { send(request) }
        exchange.timing.sentHead = request.count
    }

    private func measure(_ exchange: HTTP1Exchange, _ send: () -> Void) {
        let clock = SystemClock()
        if exchange.timing.connectEnd != nil {
            exchange.timing.secureVersion = secure?.version
            exchange.timing.cipher = secure?.cipher
            ends = exchange.timing
        } else {
            var timing = TransferTiming()
            timing.isReused = true
            (timing.local, timing.remote) = (ends?.local, ends?.remote)
            (timing.secureVersion, timing.cipher) = (secure?.version, secure?.cipher)
            timing.isProxied = ends?.isProxied ?? false
            exchange.timing = timing
        }
        exchange.timing.requestStart = clock.now
        send()
        exchange.timing.requestEnd = clock.now
    }

    /// Goes on with what waited for room in the socket.
    func canWrite() {
        if !unsent.isEmpty || !body.isEmpty { send(unsent) }
        // New keys of TLS are confirmed before reading continues.
        if secure?.wantsWrite == true { canRead = true }
    }

    /// Sends `head`, or as much as the socket accepts now, and after it the body.
    private func send(_ head: [UInt8]) {
        guard let sent = sendAll(head[...]) else {
            (unsent, body) = ([], [])
            return
        }
        unsent = sent == head.count ? [] : Array(head[sent...])
        if unsent.isEmpty, !body.isEmpty { sendBody() }
    }

    /// Sends what is left of the body, unless the response has made that useless.
    private func sendBody() {
        // What is given to TLS counts as sent when all of it is: a record.
        let most = secure == nil ? 256 << 10 : 16 << 10
        while ask({ $0.sendsRest }), let exchange, !body.isEmpty {
            let piece = body.prefix(most)
            guard let count = sendAll(piece) else { break }
            body = body.dropFirst(count)
            if count > 0 { exchange.sink?.transfer(exchange.id, sent: count) }
            guard count == piece.count else { return }
        }
        body = []
    }

    /// The number of bytes that the socket has accepted; `nil` when nothing can be sent any more.
    ///
    /// A failure is not reported here: reading reports it, after what the peer sent before.
    private func sendAll(_ bytes: ArraySlice<UInt8>) -> Int? {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe sendFront(UnsafeRawBufferPointer(rebasing: bytes[done...]))
            }
            guard let count else {
                canRead = true
                return nil
            }
            guard count > 0 else { break }
            machine.sent(count)
            done += count
        }
        return done
    }

    /// The number of bytes sent; 0 when the socket is full, `nil` when nothing can be sent any more.
    private func sendFront(_ bytes: UnsafeRawBufferPointer) -> Int? {
        if let secure { return unsafe secure.send(bytes) }
        return unsafe PlainSocket.send(bytes, to: socket)
    }

    /// Reads the available bytes, at most as much as the buffer holds.
    ///
    /// With TLS, at most one record when `isOneEnough`.
    func receive(into buffer: UnsafeMutableRawBufferPointer, isOneEnough: Bool) -> ReadResult {
        let reading =
            unsafe secure?.receive(into: buffer, isOneEnough: isOneEnough)
            ?? PlainSocket.receive(from: socket, into: buffer)
        switch reading {
        case .bytes(_, isLast: true): canRead = machine.isPeerClosed
        case .nothing: canRead = false
        case .bytes, .closed, .failed: break
        }
        return reading
    }
}
