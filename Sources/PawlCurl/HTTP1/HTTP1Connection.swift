import CPawlSystem
import Glibc
import PawlCore

/// One connection to an origin, and the progress of its response.
final class HTTP1Connection {
    /// The key in the poller; never reused.
    let key: UInt64
    let connectionKey: ConnectionKey
    /// −1 when closed.
    private(set) var socket: Int32
    /// The TLS state; `nil` for plain HTTP.
    let secure: TLSConnection?
    /// The exchange whose response is awaited or read; `nil` when idle.
    var exchange: HTTP1Exchange?
    /// The number of requests it has carried.
    var turns = 0
    /// Whether there may be something to read: nothing has shown otherwise since the last event.
    var canRead = false
    /// Whether the peer has closed: then every read continues to the end.
    var hasPeerClosed = false
    /// Whether it is to be read without waiting for an event.
    var isReadable = false
    /// The bytes of the request that the socket has not accepted.
    var unsent: [UInt8] = []
    /// The parser of the response.
    var reader = ResponseReader()
    var idleSince = Instant(nanoseconds: 0)
    /// The length of the current request in bytes.
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

    /// Prepares for the next response.
    func begin(_ exchange: HTTP1Exchange) {
        self.exchange = exchange
        exchange.connection = self
        turns += 1
        reader.begin()
    }

    /// Detaches the exchange.
    func end() {
        exchange?.connection = nil
        exchange = nil
    }

    /// Whether it can be reused: open, and without unrequested bytes.
    var isAlive: Bool {
        guard !hasPeerClosed, socket >= 0 else { return false }
        var byte: UInt8 = 0
        if secure != nil {
            // Records without response bytes, such as new session tickets, are processed here.
            return unsafe withUnsafeMutableBytes(of: &byte) { byte in
                unsafe receive(into: byte, isOneEnough: true) == .nothing
            }
        }
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count < 0 && errno == EAGAIN
    }

    /// Whether bytes arrived before the server can have seen the request: none of it has been acknowledged.
    ///
    /// On a reused connection they follow the previous response, and are no response to this request (response
    /// splitting, RFC 9112 §11.1).
    var isTooEarly: Bool {
        guard turns > 1, reader.isUntouched else { return false }
        return !unsent.isEmpty || Int(pawl_unacknowledged(socket)) >= requestLength
    }

    /// Sends a request's header section.
    func send(request bytes: [UInt8]) {
        requestLength = bytes.count
        send(bytes)
    }

    /// Sends `bytes`, or as much as the socket accepts now.
    ///
    /// A failure is not reported here: reading reports it, after what the peer sent before.
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

    /// The number of bytes sent; 0 when the socket is full, `nil` when nothing can be sent any more.
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
        /// `isLast`: nothing more is available until the next event, except the end if the peer has closed.
        case bytes(Int, isLast: Bool)
        case closed
        case nothing
        case failed(TransferFault)
    }

    /// Reads the available bytes, at most as much as the buffer holds.
    ///
    /// With TLS, at most one record when `isOneEnough`.
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
            // A short read emptied the socket (epoll(7)); later bytes raise a new event.
            if count > 0 { return .bytes(count, isLast: count < buffer.count) }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .nothing : .failed(TransferFault(receiving: errno))
        }
    }
}

extension TransferFault {
    /// A failed read from a connection's socket.
    init(receiving error: Int32) {
        let kind: Kind =
            switch error {
            case ENETUNREACH, EHOSTUNREACH, ENETDOWN: .unreachable
            default: .connectionLost
            }
        self.init(kind, "receiving failed: \(unsafe String(cString: strerror(error)))")
    }
}
