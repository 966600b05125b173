/// A client's HTTP/1.1 connection, from its first request to its close (RFC 9112 §9).
///
/// One method for each event; the result says what to do. The code with the socket carries it out and reports what
/// happened: it decides nothing. Only the framing of a body passes through here, the data need not.
///
/// All requests may be repeated, so one that a reused connection lost is sent again (RFC 9110 §9.2.2): GET is idempotent,
/// and who sends another method would repeat it as well.
package struct HTTP1Connection: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// It carries no request.
        case idle
        /// A request was given, and nothing of its response was received.
        case sending
        /// A part of the response's header section was received, or an interim one.
        case head
        /// The receiver has the header section and decides whether it wants the body.
        case judging
        case body
        /// The receiver takes no more of the body for now.
        case paused
        /// The receiver did not want the body: its request is over, and at most `left` bytes are discarded to keep the
        /// connection.
        case draining(left: Int, until: Instant)
        /// Final.
        case closed
    }

    /// How a request ended.
    ///
    /// The connection is closed, or it is idle and kept.
    package enum Ending: Hashable, Sendable {
        case complete(keeps: Bool)
        /// The receiver wants no more. The connection is closed.
        case stopped
        /// The connection is closed.
        case failed(TransferFault)
        /// A reused connection was lost before its response began: the connection is closed, and the request is sent
        /// again on a new one (RFC 9112 §9.3.1).
        case retry
        /// Draining is over; its request ended before.
        case drained(keeps: Bool)
    }

    package enum Step: Hashable, Sendable {
        /// All bytes were used; more are needed.
        case more
        /// The final header section. `wantsBody` or `wantsNoBody` follows, unless the connection is closed.
        case head(ResponseHead)
        /// That many bytes of the body follow: `took`, `pause` or `stop`.
        case data(Int)
        case end(Ending)
    }

    /// What was found on an idle connection.
    package enum Probe: Hashable, Sendable {
        case nothing
        case bytes
        case end
    }

    private enum Use: Hashable {
        case none
        case first
        case later
    }

    package private(set) var state = State.idle
    private var use = Use.none
    /// The number of bytes of the request that were not sent, also when they never will be.
    private var unsent = 0
    private var headLength = 0
    private var bodyLength = 0
    /// Whether the response was there before the whole request, and is none that lets the rest be of use.
    private var isRefused = false
    /// Whether the peer has closed its side, though bytes that it sent before may not have been read.
    package private(set) var isPeerClosed = false
    private var reader = ResponseReader()

    package init() {}

    // MARK: the request

    /// A request is about to be sent, with a header section of `length` bytes and a body of `body`; `isHead` when its
    /// method is HEAD, to which no response has a body.
    package mutating func begin(length: Int, body: Int = 0, isHead: Bool = false, isRetry: Bool) {
        precondition(state == .idle, "a connection carries one request at a time")
        precondition(!isRetry || use == .none, "a request is sent again on a new connection only")
        use = use == .none ? .first : .later
        unsent = length + body
        headLength = length
        bodyLength = body
        isRefused = false
        reader.begin(isHead: isHead)
        state = .sending
    }

    /// The socket has accepted `count` more bytes of the request.
    package mutating func sent(_ count: Int) {
        assert(count <= unsent, "more was sent than there was")
        unsent -= count
    }

    /// Whether the rest of the request is to be sent: after an early response only if that is a success.
    package var sendsRest: Bool { unsent > 0 && !isRefused && state != .closed }

    /// Whether this is the first request of the connection.
    package var isFirstRequest: Bool { use == .first }

    // MARK: reading

    /// Whether available bytes are to be read.
    package var reads: Bool {
        switch state {
        case .sending, .head, .body, .draining: true
        case .idle, .judging, .paused, .closed: false
        }
    }

    /// Whether a request is under way whose final header section is not complete.
    package var awaitsHead: Bool {
        switch state {
        case .sending, .head: true
        case .idle, .judging, .body, .paused, .draining, .closed: false
        }
    }

    /// The number of bytes to read at once, at most `most`.
    ///
    /// Bytes after a body of known length are left in the socket, where `probed` finds them before the connection is
    /// reused.
    package func readSize(atMost most: Int) -> Int {
        if awaitsHead { return min(most, HTTP1Limits.firstRead) }
        if case .length(let left) = body { return Int(min(left, Int64(most))) }
        return most
    }

    /// Whether nothing of a response to the last request was received.
    package var isUnanswered: Bool { reader.isUntouched }

    /// Whether the receiver takes the body.
    package var deliversBody: Bool { state == .body }
    package var isPaused: Bool { state == .paused }
    package var isIdle: Bool { state == .idle }
    package var isClosed: Bool { state == .closed }

    /// The rest of the body, by its framing.
    package var body: ResponseFraming.Body { reader.body }
    /// The Set-Cookie fields of the response.
    package var cookies: [String] { reader.cookies }

    /// Whether `received` needs the number of bytes of the request that the peer has not acknowledged.
    ///
    /// On a reused connection, bytes that arrive before the peer can have seen the request follow the previous response
    /// and are no response to this one (response splitting, RFC 9112 §11.1).
    package var needsUnacknowledged: Bool { state == .sending && use == .later && unsent <= bodyLength }

    /// `count` bytes were read; after that `unacknowledged` bytes of the request were not acknowledged.
    ///
    /// Returns the end when they are not to be scanned.
    package mutating func received(_ count: Int, unacknowledged: Int) -> Ending? {
        switch state {
        case .sending:
            state = .head
            // A server may refuse a body that it has not read; then it has read the header section.
            let seen = headLength + bodyLength - unsent - unacknowledged
            guard use == .later, unsent > bodyLength || seen < (bodyLength > 0 ? headLength : 1) else { return nil }
            return refuse(
                TransferFault(
                    .malformed,
                    LocalizableMessage("fault-early-response", "the server responded before the request was sent")))
        case .draining(let left, let end):
            guard count <= left else { return close(.drained(keeps: false)) }
            state = .draining(left: left - count, until: end)
            return nil
        case .head, .body: return nil
        case .idle, .judging, .paused, .closed: preconditionFailure("nothing is read while \(state)")
        }
    }

    /// Scans received bytes up to the next step; returns how many of them were used.
    package mutating func scan(_ bytes: UnsafeRawBufferPointer) -> (used: Int, step: Step) {
        switch state {
        case .head, .body:
            let (used, step) = unsafe reader.scan(bytes)
            return (used, take(step, isLast: used == bytes.count))
        case .draining: return unsafe discard(bytes)
        case .idle, .sending, .judging, .paused, .closed: return (0, .more)
        }
    }

    private mutating func take(_ step: ResponseReader.Step, isLast: Bool) -> Step {
        switch step {
        case .incomplete: return .more
        case .head(let head):
            state = .judging
            isRefused = unsent > 0 && head.status >= 300
            return .head(head)
        case .data(let count): return .data(count)
        case .end: return .end(.complete(keeps: finish(isClean: isLast)))
        case .broken(let fault): return .end(refuse(fault))
        }
    }

    private mutating func discard(_ bytes: UnsafeRawBufferPointer) -> (used: Int, step: Step) {
        var index = 0
        while true {
            let (used, step) = unsafe reader.scan(UnsafeRawBufferPointer(rebasing: bytes[index...]))
            index += used
            switch step {
            case .incomplete: return (index, .more)
            case .data(let count):
                reader.take(count)
                index += count
            case .end: return (index, .end(.drained(keeps: finish(isClean: index == bytes.count))))
            case .head, .broken: return (index, .end(close(.drained(keeps: false))))
            }
        }
    }

    /// The response is complete.
    ///
    /// The connection is kept if neither side wants it closed, the request was sent, and
    /// nothing follows the response.
    private mutating func finish(isClean: Bool) -> Bool {
        let keeps = isClean && reader.canCarryAnother && unsent == 0 && !isPeerClosed
        state = keeps ? .idle : .closed
        return keeps
    }

    // MARK: the receiver

    /// The receiver wants the body whose header section it was given.
    package mutating func wantsBody() { if state == .judging { state = .body } }

    /// The receiver does not want the body: its request ends as `.stopped`.
    ///
    /// Returns whether the body is drained, otherwise the connection is closed.
    package mutating func wantsNoBody(at now: Instant) -> Bool {
        guard state == .judging, unsent == 0,
            HTTP1Limits.isWorthDraining(reader.body, keepsConnection: reader.keepsConnection)
        else {
            close()
            return false
        }
        state = .draining(left: HTTP1Limits.longestDrain, until: now + HTTP1Limits.drainTime)
        return true
    }

    /// The receiver took `count` bytes of the body, scanned or not.
    package mutating func took(_ count: Int) { if state == .body { reader.take(count) } }

    /// The receiver takes no more for now; bytes that it was offered are scanned again after `resume`.
    package mutating func pause() { if state == .body { state = .paused } }

    package mutating func resume() { if state == .paused { state = .body } }

    // MARK: the end

    /// The peer has closed its side; what it sent before is still to be read.
    package mutating func peerClosed() { isPeerClosed = true }

    /// All that the peer sent was read, and it has closed the connection.
    package mutating func ended() -> Ending {
        switch state {
        case .sending where use == .later: return close(.retry)
        case .sending: return close(.failed(.noResponse))
        case .head, .judging, .body, .paused:
            switch reader.close() {
            case .complete: return close(.complete(keeps: false))
            case .truncated(let fault): return close(.failed(fault))
            case .withoutResponse: return refuse(.noResponse)
            }
        case .idle, .draining, .closed: return close(.drained(keeps: false))
        }
    }

    /// Reading or writing has failed.
    package mutating func lost(_ fault: TransferFault) -> Ending {
        switch state {
        case .sending where use == .later: close(.retry)
        case .sending, .head, .judging, .body, .paused: close(.failed(fault))
        case .idle, .draining, .closed: close(.drained(keeps: false))
        }
    }

    /// When draining ends.
    package var deadline: Instant? { if case .draining(_, let end) = state { end } else { nil } }

    /// Returns whether draining is over by now, and with it the connection.
    package mutating func isLate(at now: Instant) -> Bool {
        guard case .draining(_, let end) = state, end <= now else { return false }
        close()
        return true
    }

    /// An idle connection was examined: before it is reused, or because it was reported readable.
    ///
    /// Returns whether it stays open. Whatever arrived belongs to no request.
    package mutating func probed(_ found: Probe) -> Bool {
        guard state == .idle, found == .nothing, !isPeerClosed else {
            close()
            return false
        }
        return true
    }

    /// Closes it in any state.
    package mutating func close() { state = .closed }

    private mutating func close(_ ending: Ending) -> Ending {
        state = .closed
        return ending
    }

    /// Bytes that are no valid response.
    ///
    /// Instead of a head on a reused connection, they may be the rest of the previous
    /// response.
    private mutating func refuse(_ fault: TransferFault) -> Ending {
        close(state == .head && use == .later ? .retry : .failed(fault))
    }
}
