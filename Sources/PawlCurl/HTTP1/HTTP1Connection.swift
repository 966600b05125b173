import CPawlSystem
import Glibc
import PawlCore

/// One connection to an origin, and how far the answer on it is.
final class HTTP1Connection {
    /// Names it to the poller; never used twice.
    let key: UInt64
    let connectionKey: ConnectionKey
    /// −1 when closed.
    private(set) var socket: Int32
    /// What does TLS on the socket; `nil` for plain HTTP.
    let secure: TLSConnection?
    /// Whose answer is awaited or read; `nil` when idle.
    var exchange: HTTP1Exchange?
    /// How many requests it has carried.
    var turns = 0
    /// Whether there may be something to read: nothing has said otherwise since the last change.
    var canRead = false
    /// Whether the peer has closed: then every read goes on to the end.
    var hasPeerClosed = false
    /// Whether it is to be read without waiting for a change.
    var isReadable = false
    /// What the socket has not taken of the request.
    var unsent: [UInt8] = []
    /// How far the response is.
    var reader = ResponseReader()
    var idleSince = Instant(nanoseconds: 0)
    /// How many bytes the present request has.
    private var requestLength = 0

    init(_ socket: Int32, _ secure: TLSConnection?, to connectionKey: ConnectionKey, key: UInt64) {
        self.socket = socket
        self.secure = secure
        self.connectionKey = connectionKey
        self.key = key
    }

    deinit { close() }

    func close() {
        guard socket >= 0 else { return }
        if let secure { secure.close() } else { _ = Glibc.close(socket) }
        socket = -1
    }

    /// Makes it ready for the next answer.
    func begin(_ exchange: HTTP1Exchange) {
        self.exchange = exchange
        exchange.connection = self
        turns += 1
        reader.begin()
    }

    /// Parts from the exchange.
    func end() {
        exchange?.connection = nil
        exchange = nil
    }

    /// Whether it is still of use: open, and nothing has come that nobody asked for.
    var isAlive: Bool {
        guard !hasPeerClosed, socket >= 0 else { return false }
        var byte: UInt8 = 0
        if secure != nil {
            // Records that carry no bytes of an answer, as new session tickets, are dealt with in there.
            return unsafe withUnsafeMutableBytes(of: &byte) { byte in
                unsafe receive(into: byte, isOneEnough: true) == .nothing
            }
        }
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count < 0 && errno == EAGAIN
    }

    /// Whether what has come is there before the server can have seen the request: none of it has been acknowledged.
    ///
    /// On a kept connection that is what follows the response before, and no response to this request (response
    /// splitting, RFC 9112 §11.1).
    var isTooEarly: Bool {
        guard turns > 1, reader.isUntouched else { return false }
        return !unsent.isEmpty || Int(pawl_unacknowledged(socket)) >= requestLength
    }

    /// Sends a request's head.
    func send(request bytes: [UInt8]) {
        requestLength = bytes.count
        send(bytes)
    }

    /// Sends `bytes`, or as much as the socket takes now.
    ///
    /// A failure is not told: reading tells it, after what the peer had to say before.
    func send(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe sendFront(UnsafeRawBufferPointer(rebasing: bytes[done...]))
            }
            guard let count else {
                canRead = true
                break
            }
            guard count > 0 else {
                unsent = Array(bytes[done...])
                return
            }
            done += count
        }
        unsent = []
    }

    /// How many bytes went out; 0 when the socket is full, `nil` when nothing can be sent any more.
    private func sendFront(_ bytes: UnsafeRawBufferPointer) -> Int? {
        if let secure { return unsafe secure.send(bytes) }
        while true {
            let count = unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { return nil }
        }
    }

    enum Reading: Hashable {
        /// Last: nothing more is there until the socket changes, but the end if the peer has closed.
        case bytes(Int, isLast: Bool)
        case closed
        case nothing
        case failed(TransferFault)
    }

    /// Reads what is there, at most as much as the buffer holds.
    ///
    /// Of TLS at most a record when `isOneEnough`.
    func receive(into buffer: UnsafeMutableRawBufferPointer, isOneEnough: Bool) -> Reading {
        let reading = unsafe secure?.receive(into: buffer, isOneEnough: isOneEnough) ?? read(into: buffer)
        switch reading {
        case .bytes(_, isLast: true): canRead = hasPeerClosed
        case .nothing: canRead = false
        case .bytes, .closed, .failed: break
        }
        return reading
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        while true {
            let count = unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            // A short read emptied the socket (epoll(7)); what comes later is a change of its own.
            if count > 0 { return .bytes(count, isLast: count < buffer.count) }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .nothing : .failed(TransferFault(receiving: errno))
        }
    }
}

extension TransferFault {
    /// A connection whose socket cannot be read.
    init(receiving error: Int32) {
        let kind: Kind =
            switch error {
            case ENETUNREACH, EHOSTUNREACH, ENETDOWN: .unreachable
            default: .connectionLost
            }
        self.init(kind, "receiving failed: \(unsafe String(cString: strerror(error)))")
    }
}
