#if os(Linux)
import Glibc
import PawlCore

/// One socket to an origin of plain HTTP, and how far the answer on it is.
final class PlainConnection {
    /// Names it to the poller; never used twice.
    let key: UInt64
    let origin: Origin
    /// −1 when closed.
    private(set) var socket: Int32
    /// Whose answer is awaited or read; `nil` when idle.
    var exchange: PlainExchange?
    /// How many requests it has carried.
    var turns = 0
    /// Whether there may be something to read: nothing has said otherwise since the last change.
    var canRead = false
    /// Whether the peer has closed: then every read goes on to the end.
    var hasPeerClosed = false
    /// Whether it is to be read without waiting for a change.
    var isEager = false
    /// What the socket has not taken of the request.
    var unsent: [UInt8] = []
    /// What has come of a head that is not complete.
    var head: [UInt8] = []
    /// The body that is being read.
    var body = AnswerFraming.Body.none
    var chunks = ChunkDecoder()
    /// Whether the answer lets another request follow.
    var keeps = false
    var idleSince = Moment(nanoseconds: 0)
    /// The round that left it idle and empty; until the next one it needs no look.
    var idleRound: UInt64?

    init(_ socket: Int32, to origin: Origin, key: UInt64) {
        self.socket = socket
        self.origin = origin
        self.key = key
    }

    deinit { close() }

    func close() {
        guard socket >= 0 else { return }
        _ = Glibc.close(socket)
        socket = -1
    }

    /// Makes it ready for the next answer.
    func begin(_ exchange: PlainExchange) {
        self.exchange = exchange
        exchange.connection = self
        turns += 1
        head.removeAll(keepingCapacity: true)
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
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count < 0 && errno == EAGAIN
    }

    /// Sends `bytes`, or as much as the socket takes now.
    ///
    /// A failure is not told: reading tells it, after what the peer had to say before.
    func send(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    socket,
                    bytes.baseAddress.map { unsafe $0 + done },
                    bytes.count - done,
                    Int32(MSG_NOSIGNAL)
                )
            }
            if count >= 0 {
                done += count
            } else if errno == EAGAIN {
                unsent = Array(bytes[done...])
                return
            } else if errno != EINTR {
                canRead = true
                break
            }
        }
        unsent = []
    }

    enum Reading: Hashable {
        case bytes(Int)
        case closed
        case nothing
        case failed(Int32)
    }

    /// Reads what is there, at most as much as the buffer holds.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        while true {
            let count = unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                // A short read emptied the socket (epoll(7)); what comes later is a change of its own.
                if count < buffer.count, !hasPeerClosed { canRead = false }
                return .bytes(count)
            }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            guard errno == EAGAIN else { return .failed(errno) }
            canRead = false
            return .nothing
        }
    }
}

#endif
