package import PawlBase
import PawlHTTP

/// By which URLs the addresses of servers of pieces are requested.
package struct PieceAccess: ObjectLocating {
    package init() {}

    package func location(of address: WebAddress) -> WebAddress {
        PieceServer(address)?.url
            ?? WebAddress(scheme: .https, host: "httpseed.invalid", port: 443, path: "/", query: nil)
    }

    package var authorityFile: String? { nil }
    package var hasChosenHost: Bool { false }
}

/// Answers a request for bytes of a file by requests for pieces (BEP 17), one after another.
///
/// No login and no header field with a secret is sent to such a server.
package final class PiecePreparer: RequestPreparing {
    package init() {}

    package func begin(
        _ request: TransferRequest, for object: WebAddress, as id: TransferID, sink: any TransferSink,
        start: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        guard let server = PieceServer(object) else { return start(request, id, sink) }
        PieceSink(before: sink, request, server, start: start).begin(id)
    }
}

/// To the receiver, the responses of the server are one, of the bytes that were requested.
private final class PieceSink: ForwardingSink {
    private enum Step {
        case waiting
        case receiving
        case busy(ResponseHead, [UInt8])
        case redirected
        case failed(TransferFault)
        /// The response is the receiver's as it is.
        case refused
    }

    let target: any TransferSink
    private let server: PieceServer
    private let range: RequestedRange
    private let wanted: ByteRange
    private let start: (TransferRequest, TransferID, any TransferSink) -> Void
    private var request: TransferRequest
    private var part: PieceServer.Part
    private var step = Step.waiting
    private var hasHead = false
    private var redirects = 0
    /// The next byte of the file.
    private var cursor: Int64
    /// Bytes of the response before it.
    private var skipped: Int64 = 0

    private static let mostRedirects = 5

    init(
        before target: any TransferSink, _ request: TransferRequest, _ server: PieceServer,
        start: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        self.target = target
        self.server = server
        self.start = start
        range = request.range
        let count = range.length(of: server.length)
        let first: Int64 =
            switch range {
            case .whole: 0
            case .from(let start): min(start, server.length)
            case .closed(let bytes): min(bytes.start, server.length)
            case .suffix: server.length - count
            }
        wanted = ByteRange(first, first + count)
        cursor = wanted.start
        part = server.part(from: wanted.start, to: wanted.end)
        self.request = request
        self.request.range = .whole
        self.request.carriesSecrets = false
    }

    func begin(_ id: TransferID) {
        part = server.part(from: cursor, to: wanted.end)
        request.address = part.url
        redirects = 0
        send(id)
    }

    private func send(_ id: TransferID) {
        step = .waiting
        start(request, id, self)
    }

    func transfer(_ id: TransferID, timing: TransferTiming) {
        if !hasHead { target.transfer(id, timing: timing) }
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        switch server.answer(head, to: part) {
        case .bytes(let count):
            step = .receiving
            skipped = count
            if !hasHead {
                hasHead = true
                guard target.transfer(id, head: whole(head)) else {
                    step = .refused
                    return false
                }
            }
            return !part.range.isEmpty
        case .redirect(let next) where redirects < Self.mostRedirects:
            redirects += 1
            request.address = next
            step = .redirected
            return false
        case .redirect: return fail(PieceServer.redirect)
        case .unusable(let fault): return fail(fault)
        case .busy where hasHead, .refusal where hasHead:
            // The receiver asks for the rest, and learns why.
            return fail(PieceServer.missing)
        case .busy:
            step = .busy(head, [])
            return true
        case .refusal:
            step = .refused
            return target.transfer(id, head: head)
        }
    }

    private func fail(_ fault: TransferFault) -> Bool {
        step = .failed(fault)
        return false
    }

    /// The head of the response as the receiver asked for it.
    private func whole(_ head: ResponseHead) -> ResponseHead {
        let isWhole = range == .whole
        var whole = ResponseHead(status: isWhole ? 200 : wanted.isEmpty ? 416 : 206)
        whole.isOfStream = head.isOfStream
        whole.acceptRanges = .bytes
        whole.date = head.date
        whole.lines = head.lines
        whole.contentLength = wanted.count
        if !isWhole {
            whole.contentRange =
                wanted.isEmpty ? .unsatisfied(total: server.length) : .range(wanted, total: server.length)
        }
        return whole
    }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        switch step {
        case .receiving: return unsafe receive(id, chunk)
        case .busy(let head, let body):
            guard body.count + chunk.count <= PieceServer.longestWait else { return .stop }
            unsafe step = .busy(head, body + chunk)
            return .taken
        case .refused: return unsafe target.transfer(id, chunk: chunk)
        case .waiting, .redirected, .failed: return .stop
        }
    }

    private func receive(_ id: TransferID, _ chunk: UnsafeRawBufferPointer) -> ChunkResult {
        let before = Int(min(skipped, Int64(chunk.count)))
        let count = Int(min(Int64(chunk.count - before), part.range.end - cursor))
        if count > 0 {
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: chunk[before..<before + count])
            let result = unsafe target.transfer(id, chunk: bytes)
            guard result == .taken else {
                if result == .stop { step = .refused }
                return result
            }
        }
        skipped -= Int64(before)
        cursor += Int64(count)
        // What follows is another part of the piece.
        return before + count < chunk.count ? .stop : .taken
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        switch step {
        case .receiving: ended(id, end)
        case .busy(var head, let body):
            if let seconds = PieceServer.wait(body) { head.retryAfter = "\(seconds)" }
            guard target.transfer(id, head: head) else { return target.transferEnded(id, .stopped) }
            target.transferEnded(id, .complete)
        case .redirected: send(id)
        case .failed(let fault): target.transferEnded(id, .failed(fault))
        case .waiting, .refused: target.transferEnded(id, end)
        }
    }

    private func ended(_ id: TransferID, _ end: TransferEnd) {
        guard cursor == part.range.end else {
            return target.transferEnded(id, end == .complete ? .failed(PieceServer.missing) : end)
        }
        guard cursor == wanted.end else { return begin(id) }
        target.transferEnded(id, .complete)
    }

    private var isForwarding: Bool {
        if case .receiving = step { true } else { false }
    }

    func holdsBack(_ id: TransferID) -> Bool { isForwarding && target.holdsBack(id) }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? { nil }
}
