/// A client's HTTP/2 connection, from its first request to its close (RFC 9113).
///
/// One method for each event; the result says what to do. The code with the socket carries it out and decides nothing. Frames
/// are read by another part, which reports what they say; the bytes of bodies need not pass through here.
///
/// All requests are idempotent (GET), so one that the server has not handled may be sent again.
package struct HTTP2Connection: Hashable, Sendable {
    /// Where a request is sent again.
    package enum Elsewhere: Hashable, Sendable {
        /// On another connection, or this one if its room says so. If `isFree`, it does not count as a refusal: the
        /// connection served others.
        case anotherConnection(isFree: Bool)
        case http1
    }

    /// How a request ended.
    package enum Ending: Hashable, Sendable {
        case complete
        case failed(TransferFault)
        /// Nothing of its response was received.
        case retry(Elsewhere)
    }

    package struct Ended: Hashable, Sendable {
        package let stream: HTTP2StreamID
        package let ending: Ending
    }

    /// What received bytes are.
    package enum Verdict: Hashable, Sendable {
        /// The final header section. `wantsBody` or `wantsNoBody` follows.
        case head(ResponseHead, cookies: [String])
        /// Bytes of the body: `took`, `pause` or `cancelled` follows.
        case data
        /// Bytes of the body for a receiver that has paused: they are kept for `resume`.
        case held
        /// Nothing for anybody.
        case nothing
        /// The stream is reset with this code, and its request ends.
        case refused(Ending, HTTP2Code)
    }

    /// What happens to the stream of a request that is over.
    package enum Rest: Hashable, Sendable {
        /// Nothing more comes, or it comes and is ignored.
        case left
        /// The stream is reset.
        case reset(HTTP2Code)
    }

    /// What is done at some time.
    package enum Order: Hashable, Sendable {
        case ping(UInt64)
        case reset(HTTP2StreamID, HTTP2Code)
        /// The connection has failed: `lost`.
        case lost(TransferFault)
        /// It was idle for too long.
        case close
    }

    struct Stream: Hashable {
        enum State: Hashable {
            /// The final header section was not received.
            case waiting
            /// The receiver has the header section and decides whether it wants the body.
            case judging
            case body
            case paused
            /// The request is over; the rest of the body is ignored until then.
            case draining(until: Instant)
        }

        var state = State.waiting
        var refusals: Int
        var headSize = 0
        var body = ResponseFraming.Body.untilClose
        var received: Int64 = 0
        /// What the receiver did not take when it paused.
        var held = 0
        /// How the request ends once the receiver has taken that.
        var ending: Ending?
        var window = ReceiveWindow()

        var isDraining: Bool { if case .draining = state { true } else { false } }
        /// The rest of the body, if it is known.
        var left: Int64? {
            switch body {
            case .none: -received
            case .length(let length): length - received
            case .chunked, .untilClose: nil
            }
        }
    }

    var streams: [HTTP2StreamID: Stream] = [:]
    /// How many streams there may be at once, and on the whole.
    var limit = HTTP2Limits.mostStreams
    var opened = 0
    let mostOpened: Int
    /// How many responses were complete.
    package internal(set) var served = 0
    var totalHeld = 0
    var goAway: HTTP2Code?
    package internal(set) var isClosed = false
    var isUsedUp = false
    var allowance: FrameAllowance
    var continuations = 0
    var resets = 0
    var resetsSince: Instant
    var lastReceived: Instant
    var pinged: Instant?
    var probe: WindowProbe
    var idleSince: Instant?

    /// `mostOpened` is the number of streams after which the server has closed such connections.
    ///
    /// `like`: another connection to the server, which has said how many streams there may be at once.
    package init(at now: Instant, mostOpened: Int? = nil, like other: HTTP2Connection? = nil) {
        if let other { limit = max(1, other.limit) }
        self.mostOpened = max(1, mostOpened ?? Int.max)
        allowance = FrameAllowance(at: now)
        probe = WindowProbe(at: now)
        (resetsSince, lastReceived, idleSince) = (now, now, now)
    }

    // MARK: requests

    /// How many more requests it can carry now.
    package var room: Int {
        isClosed || isRetired ? 0 : max(0, min(limit - streams.count, mostOpened - opened))
    }

    /// Whether it carries no further request, now or later.
    package var isRetired: Bool { goAway != nil || isUsedUp || opened >= mostOpened }

    /// Whether it is of no more use and is closed.
    package var isOver: Bool { isClosed || isRetired && streams.isEmpty }

    /// How many requests it carries.
    package var carried: Int { streams.count }

    /// Whether no request is open.
    package var isIdle: Bool { streams.isEmpty }

    /// A request is about to be sent, which was refused so often.
    package mutating func open(_ id: HTTP2StreamID, refusals: Int, at now: Instant) {
        precondition(room > 0, "a connection carries as many streams as both sides allow")
        opened += 1
        if id >= HTTP2Limits.lastStream { isUsedUp = true }
        allowance.request()
        if streams.isEmpty { (lastReceived, pinged) = (now, nil) }
        streams[id] = Stream(refusals: refusals)
        idleSince = nil
    }

    /// No number of a stream is left.
    package mutating func retire() { isUsedUp = true }

    // MARK: the end of a request

    /// Ends the request of a stream that is reset because of what the server sent on it.
    mutating func refuse(_ id: HTTP2StreamID, _ fault: TransferFault) -> Verdict {
        remove(id, at: lastReceived)
        return .refused(.failed(fault), .protocolError)
    }

    /// Ends a request, later if its receiver has paused and not everything.
    mutating func end(_ id: HTTP2StreamID, _ ending: Ending, at now: Instant) -> Ending? {
        if let held = streams[id]?.held, held > 0 {
            streams[id]?.ending = ending
            return nil
        }
        remove(id, at: now)
        return ending
    }

    mutating func remove(_ id: HTTP2StreamID, at now: Instant) {
        drop(held: id)
        streams[id] = nil
        if streams.isEmpty { idleSince = now }
        retireIfUseless()
    }

    /// One that allows no stream while none is open would only take the place of another.
    ///
    /// For good: the other may have been opened when the server allows streams again.
    mutating func retireIfUseless() { if limit == 0, streams.isEmpty { isUsedUp = true } }

    mutating func drop(held id: HTTP2StreamID) {
        totalHeld -= streams[id]?.held ?? 0
        streams[id]?.held = 0
    }
}
