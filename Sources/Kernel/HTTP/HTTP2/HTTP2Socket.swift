import Glibc
import PawlBase

/// One request over HTTP/2 and its receiver.
final class HTTP2Exchange {
    let id: TransferID
    let request: TransferRequest
    let settings: RequestSettings
    let route: ProxyRoute?
    let connectionKey: ConnectionKey
    let fields: HTTP2Request
    /// The receiver; `nil` once the transfer is detached.
    private(set) var sink: (any TransferSink)?
    /// What is measured of a measured request.
    var timing = TransferTiming()
    /// How often it was sent in vain on connections that served nothing else.
    var refusals = 0
    /// When it goes elsewhere, if all connections are full until then.
    var waitsForRoomUntil: Instant?
    /// The connection and the stream of the response.
    var place: (connection: HTTP2Socket, stream: HTTP2StreamID)?
    /// The bytes that the sink did not take when it paused, and those that came after them.
    var held: [UInt8] = []

    /// `nil` if it cannot be sent over HTTP/2: without a Host.
    init?(
        _ request: TransferRequest, as id: TransferID, by route: ProxyRoute?, sink: any TransferSink,
        settings: RequestSettings, cookies: String?
    ) {
        var head: [UInt8] = []
        settings.write(request, isAbsolute: false, cookies: cookies, to: &head)
        guard let fields = HTTP2Request(head) else { return nil }
        self.fields = fields
        self.id = id
        self.request = request
        self.settings = settings
        self.route = route
        self.sink = sink
        connectionKey = ConnectionKey(request, by: route)
    }

    /// The same request over HTTP/2; `nil` when it was cancelled, or cannot be written so.
    convenience init?(_ exchange: HTTP1Exchange) {
        guard let sink = exchange.sink else { return nil }
        self.init(
            exchange.request, as: exchange.id, by: exchange.route, sink: sink, settings: exchange.settings,
            cookies: exchange.cookies)
    }

    /// Drops the receiver: nothing is delivered any more.
    func detach() {
        sink = nil
        held = []
        place = nil
    }
}

/// The socket of one HTTP/2 connection, its frames, and what its machine has to know.
final class HTTP2Socket {
    let id: HTTP2ConnectionID
    let connectionKey: ConnectionKey
    let codec: HTTP2Codec
    /// Decides what happens to the connection and to its requests.
    var machine: HTTP2Connection
    /// The exchanges that have a receiver.
    var exchanges: [HTTP2StreamID: HTTP2Exchange] = [:]
    /// Whether there may be something to read: nothing has shown otherwise since the last event.
    var canRead = true
    /// Whether it is to be read without waiting for an event.
    var isReadable = false
    /// Whether something may have to be sent.
    var isDirty = false
    /// When the machine is due; brought up to date after each change.
    var due: Instant?
    private var isPeerClosed = false
    private let session: TLSSession
    /// −1 when closed.
    private var socket: Int32
    private var output: [UInt8] = []
    /// The addresses and the TLS state, for measured requests.
    private let ends: TransferTiming

    init(
        _ socket: Int32, _ session: TLSSession, _ codec: HTTP2Codec, _ machine: HTTP2Connection, id: HTTP2ConnectionID,
        for exchange: HTTP2Exchange
    ) {
        self.socket = socket
        self.session = session
        self.codec = codec
        self.machine = machine
        self.id = id
        connectionKey = exchange.connectionKey
        exchange.timing.secureVersion = session.version
        exchange.timing.cipher = session.cipher
        ends = exchange.timing
    }

    deinit { close() }

    var isClosed: Bool { socket < 0 }

    func close() {
        guard socket >= 0 else { return }
        session.close()
        _ = Glibc.close(socket)
        socket = -1
    }

    /// What is known of this connection when a further request uses it.
    var reusedTiming: TransferTiming {
        var timing = TransferTiming()
        timing.isReused = true
        (timing.local, timing.remote, timing.isProxied) = (ends.local, ends.remote, ends.isProxied)
        (timing.secureVersion, timing.cipher) = (ends.secureVersion, ends.cipher)
        return timing
    }

    /// Asks the machine in place: a call on the stored property would copy the whole machine first.
    func ask<Value>(_ question: (inout HTTP2Connection) -> Value) -> Value { question(&machine) }

    func takeEvent(_ event: PollEvent) {
        if event.hasPeerClosed { isPeerClosed = true }
        if event.canRead || event.hasPeerClosed || event.canWrite && session.wantsWrite { canRead = true }
    }

    /// Sends what there is, as much as the socket accepts now; returns how many bytes it did not.
    ///
    /// A failure is not reported here: reading reports it, after what the peer sent before.
    func flush() -> Int {
        isDirty = false
        codec.output(into: &output, limit: HTTP2Limits.longestOutput + 1)
        var done = 0
        while done < output.count, socket >= 0 {
            let count = unsafe output.withUnsafeBytes {
                unsafe session.send(UnsafeRawBufferPointer(rebasing: $0[done...]))
            }
            guard let count else {
                canRead = true
                done = output.count
                break
            }
            if count == 0 { break }
            done += count
        }
        output.removeFirst(done)
        return output.count
    }

    /// What resumes the session, as far as it has arrived since the last time.
    func takeTickets() -> [TLSTicket] { session.takeTickets() }

    /// Reads the available bytes, at most as much as the buffer holds.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        let reading = unsafe session.receive(into: buffer, isOneEnough: false)
        switch reading {
        case .bytes(_, isLast: true): canRead = isPeerClosed
        case .nothing: canRead = false
        case .bytes, .closed, .failed: break
        }
        return reading
    }
}
