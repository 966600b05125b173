import PawlBase
import PawlHTTP
import PawlSystem

/// The servers of one loop: delivers responses of an origin to those who requested them.
final class StubServer: RequestServing {
    /// The most bytes at once.
    private static let chunk = 64 << 10
    /// How often a slow response goes on.
    private static let pace = Interval.milliseconds(20)

    private final class Exchange {
        let id: TransferID
        let sink: any TransferSink
        let response: StubResponse
        let head: ResponseHead?
        let body: ArraySlice<UInt8>
        var sent = 0
        var hasHead = false
        var isPaused = false
        /// It stands before a gate, or for good.
        var isHeld = false
        /// When the body began.
        var begun: Instant?
        var due = Instant.past

        init(_ id: TransferID, _ response: StubResponse, range: String?, sink: any TransferSink) {
            self.id = id
            self.sink = sink
            self.response = response
            let reply = response.reply(toRange: range)
            body = reply.body
            let fields = reply.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
            let reason = HTTPStatus.reason(of: reply.status) ?? "Other"
            let lines = Array("HTTP/1.1 \(reply.status) \(reason)\r\n\(fields)\r\n".utf8)
            var head = ResponseHead(parsing: lines)
            head?.lines = lines
            self.head = head
        }

        var isReady: Bool { !isPaused && !isHeld }
    }

    private let origin: StubOrigin
    private let clock: any Clock
    private let wake: @Sendable () -> Void
    private var exchanges: [Exchange] = []
    /// Gates were opened since: all that are held look again.
    private let opened = Mailbox<Void>()

    init(_ origin: StubOrigin, clock: any Clock, wake: @escaping @Sendable () -> Void) {
        self.origin = origin
        self.clock = clock
        self.wake = wake
    }

    func serve(_ head: [UInt8], for request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        let range = request.range.fieldValue.map { "bytes=\($0)" }
        exchanges.append(Exchange(id, origin.response(to: head, request), range: range, sink: sink))
    }

    func cancel(_ id: TransferID) { exchanges.removeAll { $0.id == id } }

    func resume(_ id: TransferID) { exchanges.first { $0.id == id }?.isPaused = false }

    func begin() -> Instant? {
        if !opened.take().isEmpty { for exchange in exchanges { exchange.isHeld = false } }
        return exchanges.lazy.filter(\.isReady).map(\.due).min()
    }

    func work() {
        if !opened.take().isEmpty { for exchange in exchanges { exchange.isHeld = false } }
        let now = clock.now
        for exchange in exchanges where exchange.isReady && exchange.due <= now && isHere(exchange) {
            deliver(exchange, now: now)
        }
    }

    private func isHere(_ exchange: Exchange) -> Bool { exchanges.contains { $0 === exchange } }

    private func end(_ exchange: Exchange, _ end: TransferEnd) {
        guard isHere(exchange) else { return }
        exchanges.removeAll { $0 === exchange }
        exchange.sink.transferEnded(exchange.id, end)
    }

    /// Delivers what may be delivered now, at most a chunk.
    private func deliver(_ exchange: Exchange, now: Instant) {
        if let failure = exchange.response.failure { return end(exchange, .failed(failure.fault)) }
        if !exchange.hasHead {
            guard let head = exchange.head else {
                return end(exchange, .failed(TransferFault(.malformed, foreign: "the stub's fields are not HTTP")))
            }
            exchange.hasHead = true
            exchange.begun = now
            guard exchange.sink.transfer(exchange.id, head: head) else { return end(exchange, .stopped) }
            guard isHere(exchange) else { return }
        }
        let count = available(exchange, now: now)
        if count > 0 { return offer(count, of: exchange) }
        guard !exchange.isHeld else { return }
        if exchange.sent == exchange.response.cut, exchange.sent < exchange.body.count {
            end(exchange, .failed(StubResponse.Failure.connectionLost.fault))
        } else if exchange.sent == exchange.body.count {
            end(exchange, .complete)
        }
    }

    /// How many bytes may come now; 0 where something is due later, or something else than bytes.
    private func available(_ exchange: Exchange, now: Instant) -> Int {
        let response = exchange.response
        var end = min(exchange.body.count, response.cut ?? .max)
        for hold in response.holds where hold.offset <= end && exchange.sent <= hold.offset {
            if exchange.sent < hold.offset {
                end = hold.offset
                break
            }
            guard hold.gate?.passes(reopen) ?? false else {
                exchange.isHeld = true
                return 0
            }
        }
        guard let rate = response.rate, let begun = exchange.begun else {
            return min(end - exchange.sent, Self.chunk)
        }
        let allowed = Int(min((now - begun).seconds * Double(rate), 1e15)) + 1
        let count = min(end, allowed) - exchange.sent
        exchange.due = now + Self.pace
        return max(0, min(count, Self.chunk))
    }

    private var reopen: @Sendable () -> Void {
        { [opened, wake] in
            opened.post(())
            wake()
        }
    }

    private func offer(_ count: Int, of exchange: Exchange) {
        let start = exchange.body.startIndex + exchange.sent
        let chunk = exchange.body[start..<start + count]
        guard !exchange.sink.holdsBack(exchange.id) else {
            exchange.isPaused = true
            return
        }
        let result = unsafe chunk.withUnsafeBytes { unsafe exchange.sink.transfer(exchange.id, chunk: $0) }
        switch result {
        case .taken: exchange.sent += count
        case .pause: exchange.isPaused = true
        case .stop: end(exchange, .stopped)
        }
    }
}

/// Makes the servers of an origin.
struct StubServers: RequestServerMaker {
    private let origin: StubOrigin
    private let clock: ManualClock?

    init(_ origin: StubOrigin, clock: ManualClock?) {
        self.origin = origin
        self.clock = clock
    }

    func makeServer(on poller: any Poller) -> any RequestServing {
        StubServer(origin, clock: clock ?? SystemClock(), wake: poller.wake)
    }
}
