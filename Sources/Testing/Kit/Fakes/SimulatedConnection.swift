import PawlBase

/// Both ends of a simulated connection: the client's socket with its machine, and the server's next step.
final class SimulatedConnection {
    /// What the server, or the network, does next.
    enum Event {
        /// The header section of the response is sent.
        case reply
        /// So many bytes of the body are sent.
        case body(Int)
        /// Bytes that belong to no response are sent; `isEarly` before the current request has arrived.
        case stray(isEarly: Bool)
        case close
        case reset(TransferFault)
    }

    let id: HTTP1ConnectionID
    let connectionKey: ConnectionKey
    let host: String
    /// Decides what happens to the connection and to its request.
    var machine = HTTP1Connection()
    /// The exchange whose response is awaited or read; `nil` when there is none, or when its body is drained.
    var exchange: SimulatedExchange?

    // MARK: the server's end

    private(set) var event: Event?
    private(set) var due: Instant?
    /// The response in progress.
    var writer: ResponseWriter?
    /// The last response, until its connection is used again.
    var last: ResponseWriter?
    /// Whether the connection is lost without the client's knowledge.
    var isSevered = false
    /// The network's outages that it knows of.
    var outages: Int
    /// Whether the client is not notified of what happens.
    var isQuiet = false

    // MARK: the client's end

    private var inbox: [UInt8] = []
    private var start = 0
    private(set) var isEnded = false
    private(set) var fault: TransferFault?
    private var isCut = false
    var dice: Dice

    // MARK: what the laws check

    /// The number of requests that were sent on it.
    var requests = 0
    /// Why no other request may be sent on it.
    var isSpoilt: String?
    /// Whether a byte has arrived since the request was sent.
    var hasResponded = false
    /// The bytes that were read while draining.
    var drained = 0

    init(_ id: HTTP1ConnectionID, to key: ConnectionKey, host: String, dice: Dice, outages: Int) {
        self.id = id
        connectionKey = key
        self.host = host
        self.dice = dice
        self.outages = outages
    }

    func schedule(_ event: Event, at due: Instant) { (self.event, self.due) = (event, due) }

    /// Removes the event that is due.
    func takeEvent() -> Event? {
        defer { (event, due) = (nil, nil) }
        return event
    }

    /// Detaches the exchange.
    func release() {
        exchange?.connection = nil
        exchange = nil
    }

    func close() {
        machine.close()
        (event, due, writer, inbox) = (nil, nil, nil, [])
    }

    // MARK: the socket

    func arrive(_ bytes: [UInt8], isCut: Bool) {
        self.isCut = isCut
        if start == inbox.count { (inbox, start) = (bytes, 0) } else { inbox += bytes }
    }

    /// The server has closed its side.
    func end() { isEnded = true }

    /// The connection is lost, with the bytes that were not read.
    package func fail(_ fault: TransferFault) {
        self.fault = fault
        (inbox, start) = ([], 0)
    }

    var hasBytes: Bool { start < inbox.count }
    var canRead: Bool { hasBytes || isEnded || fault != nil }

    /// What an idle connection has received.
    func probe() -> HTTP1Connection.Probe {
        if hasBytes { return .bytes }
        return isEnded || fault != nil ? .end : .nothing
    }

    /// Reads at most `most` bytes.
    func read(atMost most: Int) -> ArraySlice<UInt8> {
        var count = min(inbox.count - start, most)
        if isCut, count > 1 {
            count = 1 + dice.below(dice.chance(0.5) ? min(count, 64) : count)
            // The rest of a long segment in one read.
            isCut = dice.chance(0.7)
        }
        defer { start += count }
        return inbox[start..<(start + count)]
    }
}
