import PawlBase
import PawlHTTP

/// The server's end of one stream.
final class ServerStream {
    /// What the server does next.
    enum Step {
        case reply
        /// So many bytes of the body are sent.
        case body(Int)
        /// The body was sent.
        case end
        case reset(HTTP2Code)
        /// The response breaks off.
        case breakOff
        /// It needs credit.
        case wait
    }

    let id: HTTP2StreamID
    let exchange: SimulatedExchange
    var step: Step?
    var due: Instant?
    /// The response in progress.
    var writer: StreamWriter?
    /// What it may still send before it hears from the client, and all that it ever was allowed to.
    private(set) var credit: Int
    private(set) var allowed: Int
    /// Of that, what was used for padding.
    var padding = 0
    var waitsForCredit = false
    /// Whether it takes part: neither side has ended it.
    private(set) var isOpen = true
    /// Whether the server has ended it with END_STREAM.
    private(set) var hasEnded = false
    /// The size of the client's window for it.
    var window = HTTP2Limits.streamWindow

    init(_ id: HTTP2StreamID, _ exchange: SimulatedExchange, window: Int) {
        (self.id, self.exchange) = (id, exchange)
        (credit, allowed) = (window, window)
    }

    func schedule(_ step: Step, at due: Instant) { (self.step, self.due) = (step, due) }
    func grant(_ count: Int) { (credit, allowed) = (credit + count, allowed + count) }
    func use(_ count: Int) { credit -= count }

    func close(hasEnded: Bool) {
        if isOpen { self.hasEnded = hasEnded }
        isOpen = false
        (step, due) = (nil, nil)
    }

    /// The bytes of the body that were sent in vain if the request ends now.
    var unread: Int64 { max(0, (writer?.written ?? 0) - exchange.sent) }
}

/// Both ends of a simulated HTTP/2 connection: the client's socket with its machine and its codec, and the server.
final class SimulatedSession {
    /// What the server, or the network, does next.
    enum Event {
        /// The number of streams that it allows from now on.
        case settings(Int?)
        /// `isAbrupt`: it closes the connection without waiting for the streams that it handles.
        case goAway(last: Int32, HTTP2Code, isAbrupt: Bool)
        case pong([UInt8])
        /// What has waited for more is sent.
        case flush
        case close
        case reset(TransferFault)
    }

    let id: HTTP2ConnectionID
    let connectionKey: ConnectionKey
    let host: String
    let codec: HTTP2Codec
    /// Decides what happens to the connection and to its requests.
    var machine: HTTP2Connection
    /// The exchanges that have a receiver.
    var exchanges: [HTTP2StreamID: SimulatedExchange] = [:]
    var isClosed = false

    // MARK: the server's end

    var frames = ClientFrames()
    /// In the order of their requests.
    var streams: [ServerStream] = []
    private var events: [(event: Event, due: Instant)] = []
    /// What waits for more.
    var outbox: [UInt8] = []
    var isBegun = false
    var window = 65_535
    var credit = 65_535
    /// The number of streams that it allows.
    var most: Int?
    /// The number of requests after which it goes away.
    var mostRequests: Int?
    var requests = 0
    /// The last stream that it handles.
    var lastHandled: Int32?
    /// Whether the connection is lost without the client's knowledge.
    var isSevered = false
    /// The network's outages that it knows of.
    var outages: Int
    var dice: Dice

    // MARK: the client's end

    private var inbox: [UInt8] = []
    private(set) var isEnded = false
    private(set) var fault: TransferFault?
    private var isCut = false

    // MARK: what the laws check

    /// What the client has received: how many streams there may be, and whether there may be more.
    var limit = HTTP2Limits.mostStreams
    var hasGoneAway = false

    init(
        _ id: HTTP2ConnectionID, to key: ConnectionKey, host: String, _ codec: HTTP2Codec, _ machine: HTTP2Connection,
        dice: Dice, outages: Int
    ) {
        self.id = id
        self.codec = codec
        self.machine = machine
        self.host = host
        self.dice = dice
        self.outages = outages
        connectionKey = key
    }

    func stream(_ id: HTTP2StreamID) -> ServerStream? { streams.first { $0.id == id } }
    var open: Int { streams.count { $0.isOpen } }

    // MARK: what is due

    func schedule(_ event: Event, at due: Instant) { events.append((event, due)) }

    /// The next thing that is due by then, in its order.
    func next(by now: Instant) -> (event: Event?, stream: ServerStream?)? {
        let index = events.indices.min { events[$0].due < events[$1].due }
        let stream = streams.filter { $0.due != nil }.min { ($0.due ?? now) < ($1.due ?? now) }
        if let index, events[index].due <= now, events[index].due <= stream?.due ?? now {
            return (events.remove(at: index).event, nil)
        }
        guard let stream, let due = stream.due, due <= now else { return nil }
        return (nil, stream)
    }

    var due: Instant? {
        (events.map(\.due) + streams.compactMap(\.due) + [machine.deadline].compactMap(\.self)).min()
    }

    /// The server has nothing more to do.
    func closeServer() {
        for stream in streams { stream.close(hasEnded: false) }
        (events, outbox) = ([], [])
    }

    // MARK: the socket

    func arrive(_ bytes: [UInt8], isCut: Bool) {
        self.isCut = isCut
        inbox += bytes
    }

    func end() {
        isEnded = true
        closeServer()
    }

    /// The connection is lost, with the bytes that were not read.
    func fail(_ fault: TransferFault) {
        self.fault = fault
        inbox = []
        closeServer()
    }

    var hasBytes: Bool { !inbox.isEmpty }
    var canRead: Bool { hasBytes || isEnded || fault != nil }

    func read() -> [UInt8] {
        var count = inbox.count
        if isCut, count > 1 {
            count = 1 + dice.below(dice.chance(0.5) ? min(count, 64) : count)
            // The rest of a long segment in one read.
            isCut = dice.chance(0.7)
        }
        defer { inbox.removeFirst(count) }
        return Array(inbox.prefix(count))
    }
}
