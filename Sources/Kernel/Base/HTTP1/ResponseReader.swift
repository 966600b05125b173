/// Parses the responses of one HTTP/1.1 connection incrementally (RFC 9112).
///
/// It separates heads, data and ends, bounds everything that is neither a head's field nor data, and
/// determines whether the connection can carry another request. A value without effects, so that the code
/// that runs on sockets also runs under a fuzzer.
package struct ResponseReader: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// All bytes were read; more are needed.
        case incomplete
        /// The final head is complete. Its body's framing is ``body``.
        case head(ResponseHead)
        /// That many bytes of data follow; `take` consumes them.
        case data(Int)
        /// The response is complete. Bytes that follow belong to no response.
        case end
        case broken(TransferFault)
    }

    /// The meaning of a connection that the peer has closed.
    package enum Closing: Hashable, Sendable {
        /// The end of the connection is the end of the body.
        case complete
        /// No byte of a response was received.
        case withoutResponse
        case truncated(TransferFault)
    }

    private enum State: Hashable, Sendable {
        case head
        case body
        case end
        case broken(TransferFault)
    }

    private var state = State.end
    /// The part of the head received so far, and the whole of it once it is complete.
    private var head: [UInt8] = []
    /// The length of the interim heads before it.
    private var interimBytes = 0
    /// Whether the response is to HEAD: it says how long the body would be (RFC 9110 §9.3.2).
    private var isToHead = false
    private var chunks = ChunkDecoder()
    /// The rest of the body.
    package private(set) var body = ResponseFraming.Body.none
    /// The Set-Cookie fields of the final head.
    package private(set) var cookies: [String] = []
    /// Whether another request may follow according to the head.
    package private(set) var keepsConnection = false

    package init() {}

    /// Resets it for the response to another request.
    package mutating func begin(isHead: Bool = false) {
        state = .head
        isToHead = isHead
        head.removeAll(keepingCapacity: true)
        interimBytes = 0
        body = .none
        keepsConnection = false
    }

    /// Whether no byte of the response was received.
    package var isUntouched: Bool { state == .head && head.isEmpty && interimBytes == 0 }

    /// Whether the response is complete and another request may follow.
    ///
    /// The caller checks that nothing was received after it.
    package var canCarryAnother: Bool { state == .end && keepsConnection }

    /// Reads from the front of `bytes` up to the next step for the caller; returns how many bytes that was.
    package mutating func scan(_ bytes: UnsafeRawBufferPointer) -> (used: Int, step: Step) {
        switch state {
        case .head: unsafe scanHead(bytes)
        case .body: unsafe scanBody(bytes)
        case .end: (0, .end)
        case .broken(let fault): (0, .broken(fault))
        }
    }

    /// Consumes the first `count` bytes of the data that the last scan reported, or as many that bypassed it.
    package mutating func take(_ count: Int) {
        switch body {
        case .length(let left): body = .length(left - Int64(count))
        case .chunked: chunks.take(count)
        case .none, .untilClose: break
        }
    }

    /// The peer has closed the connection.
    package mutating func close() -> Closing {
        defer { keepsConnection = false }
        switch state {
        case .head:
            guard !isUntouched else { return .withoutResponse }
            return .truncated(.closedInHead(.truncated))
        case .body:
            switch body {
            case .none, .untilClose, .length(0):
                state = .end
                return .complete
            case .length(let left):
                let cause = LocalizableMessage(
                    "fault-bytes-missing", "the connection was closed with \(left) bytes missing")
                return .truncated(TransferFault(.truncated, cause))
            case .chunked: return .truncated(.noLastChunk)
            }
        case .end: return .complete
        case .broken(let fault): return .truncated(fault)
        }
    }
}

// MARK: - The body

extension ResponseReader {
    private mutating func scanBody(_ bytes: UnsafeRawBufferPointer) -> (used: Int, step: Step) {
        switch body {
        case .none, .length(...0):
            state = .end
            return (0, .end)
        case .length(let left):
            let count = Int(min(left, Int64(bytes.count)))
            return (0, count > 0 ? .data(count) : .incomplete)
        case .untilClose: return (0, bytes.count > 0 ? .data(bytes.count) : .incomplete)
        case .chunked:
            let (framing, step) = unsafe chunks.scan(bytes)
            switch step {
            case .incomplete: return (framing, .incomplete)
            case .data(let count): return (framing, .data(count))
            case .end:
                state = .end
                return (framing, .end)
            case .broken:
                let fault = chunks.fault
                state = .broken(fault)
                return (framing, .broken(fault))
            }
        }
    }
}

// MARK: - The head

extension ResponseReader {
    private mutating func scanHead(_ bytes: UnsafeRawBufferPointer) -> (used: Int, step: Step) {
        var used = 0
        do throws(TransferFault) {
            while true {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[used...])
                let count = unsafe collectHead(rest)
                guard ResponseFraming.canBegin(head) else {
                    guard let isHTTP2 = ResponseFraming.isHTTP2(head) else { return (bytes.count, .incomplete) }
                    throw isHTTP2 ? TransferFault.onlyHTTP2 : ResponseFraming.isAlert(head) ? .speaksTLS : .notHTTP
                }
                guard interimBytes + head.count <= HTTP1Limits.longestHead else { throw TransferFault.longHead }
                guard let count else { return (bytes.count, .incomplete) }
                used += count
                if let content = try closeHead() { return (used, .head(content)) }
            }
        } catch {
            state = .broken(error)
            return (used, .broken(error))
        }
    }

    /// Parses a complete head; `nil` for an interim one.
    private mutating func closeHead() throws(TransferFault) -> ResponseHead? {
        var (framing, content) = try ResponseFraming.read(head)
        guard !framing.isInterim else {
            interimBytes += head.count
            head.removeAll(keepingCapacity: true)
            return nil
        }
        content.lines = head
        body = isToHead ? .none : framing.body
        cookies = framing.cookies
        keepsConnection = framing.keepsConnection
        if body == .chunked { chunks = ChunkDecoder() }
        state = .body
        return content
    }

    /// Appends to the head and returns how many of `bytes` belong to it; `nil` when its end was not received
    /// yet.
    private mutating func collectHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
        if head.isEmpty, let end = unsafe Self.headEnd(bytes, from: 0) {
            unsafe head.append(contentsOf: bytes[..<end])
            return end
        }
        let known = head.count
        unsafe head.append(contentsOf: bytes)
        let end = unsafe head.withUnsafeBytes { unsafe Self.headEnd($0, from: max(0, known - 3)) }
        guard let end else { return nil }
        head.removeSubrange(end...)
        return end - known
    }

    /// The index after the empty line; lines may end in bare line feeds (RFC 9112 §2.2).
    private static func headEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var next = start
        while let lineEnd = unsafe bytes.firstIndex(of: .lineFeed, from: next), lineEnd + 1 < bytes.count {
            next = lineEnd + 1
            if unsafe bytes[next] == .lineFeed { return next + 1 }
            if unsafe next + 1 < bytes.count && bytes[next] == .carriageReturn && bytes[next + 1] == .lineFeed {
                return next + 2
            }
        }
        return nil
    }
}
