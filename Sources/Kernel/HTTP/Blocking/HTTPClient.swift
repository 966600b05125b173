package import PawlBase
import PawlSystem
import Synchronization

/// HTTP requests with small bodies, on threads that may block; connections are kept.
///
/// Each call runs a transport of its own in the caller's thread. Redirects are not followed, and 401 is a response like others.
package final class HTTPClient: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var address: WebAddress
        /// Header lines `Name: value`.
        package var lines: [String]
        package var body: [UInt8]
        /// The most bytes of the body of a successful response; those of an error document that are more than 64 KiB are left out.
        package var limit: Int
        /// The longest time in all; `nil` for any, as long as bytes come or go.
        package var time: Interval?

        package init(
            _ method: String, _ address: WebAddress, lines: [String] = [], body: [UInt8] = [], limit: Int = 16 << 20,
            time: Interval? = nil
        ) {
            self.method = method
            self.address = address
            self.lines = lines
            self.body = body
            self.limit = limit
            self.time = time
        }
    }

    private struct Worker: @unchecked Sendable {  // Used by one thread at a time, after it left the list.
        let poller: EpollPoller
        let transport: any Transport
        var lastUse = Instant.past
    }

    private static let mostIdle = 8
    private static let idleTime = Interval.seconds(60)

    private let settings: TransferSettings
    private let patience: Interval
    private let clock: any Clock
    private let makeTransport: (@Sendable (any Poller) -> any Transport)?
    private let idle = Mutex<[Worker]>([])
    private let count = Atomic<UInt64>(0)

    /// `patience`: the longest time without a byte in either direction, in seconds.
    ///
    /// Of the settings, logins, cookies and header lines are not used: a request has only its own. `makeTransport`: for tests.
    package init(
        _ settings: TransferSettings, patience: Double, clock: any Clock = SystemClock(),
        makeTransport: (@Sendable (any Poller) -> any Transport)? = nil
    ) {
        var values = settings.values
        (values.headers, values.credentials, values.netrc, values.cookieFile) = ([], nil, nil, nil)
        values.wantsDigest = false
        self.settings = TransferSettings(values)
        self.patience = .seconds(max(1, patience.rounded(.up)))
        self.clock = clock
        self.makeTransport = makeTransport
    }

    /// The response, whatever its status.
    ///
    /// `isAbandoned`: called at least each second; a request that is abandoned throws.
    package func perform(
        _ request: Request, abandonedIf isAbandoned: () -> Bool = { false }
    ) throws(TransferFault) -> (head: ResponseHead, body: [UInt8]) {
        var transfer = TransferRequest(address: request.address, connection: .separate, settings: settings)
        (transfer.method, transfer.body, transfer.fields) = (request.method, request.body, request.lines)
        transfer.bufferSize = 64 << 10
        guard request.address.scheme == .http || request.address.scheme == .https else {
            throw TransferFault(.other, foreign: "its scheme is not http or https")
        }
        let response = Response(limit: request.limit, clock, connectTimeout: settings.values.connectTimeout)
        let worker = takeWorker()
        let end = try run(transfer, request.time, into: response, on: worker, isAbandoned)
        if case .failed(let fault) = end { throw fault }
        if response.isTooLong, response.isSuccess { throw .tooLong }
        guard let head = response.head else { throw .noResponse }
        // One that has failed is not kept, with its connections.
        keep(worker)
        return (head, response.body)
    }

    private func run(
        _ request: TransferRequest, _ time: Interval?, into response: Response, on worker: Worker,
        _ isAbandoned: () -> Bool
    ) throws(TransferFault) -> TransferEnd {
        let id = TransferID(rawValue: count.add(1, ordering: .relaxed).newValue)
        let start = clock.now
        worker.transport.start(request, as: id, sink: response)
        while true {
            let (now, silence) = (clock.now, response.lastByte + patience)
            if isAbandoned() { throw TransferFault(.other, foreign: "it was abandoned") }
            if let time, now >= start + time { throw Self.late(time) }
            if now >= silence { throw Self.late(patience) }
            let due = worker.transport.begin()
            if let end = response.end { return end }
            let limits = [due, silence, time.map { start + $0 }, now + .seconds(1)]
            worker.poller.wait(until: limits.compactMap(\.self).min())
            worker.transport.work()
            if let end = response.end { return end }
        }
    }

    private static func late(_ time: Interval) -> TransferFault {
        TransferFault(.connectTimeout, .noData(for: "\(Int(time.seconds.rounded(.up)))"))
    }

    // MARK: workers

    private func takeWorker() -> Worker {
        let oldest = clock.now.nanoseconds - Self.idleTime.nanoseconds
        // Their connections are closed without the lock.
        let (worker, _) = idle.withLock { idle in
            let late = idle.filter { $0.lastUse.nanoseconds < oldest }
            idle.removeAll { $0.lastUse.nanoseconds < oldest }
            return (idle.popLast(), late)
        }
        if let worker { return worker }
        let poller = EpollPoller(clock: clock)
        let transport =
            makeTransport?(poller)
            ?? HTTPTransport(clock: clock, poller: poller) { _ in preconditionFailure("only HTTP is sent here") }
        return Worker(poller: poller, transport: transport)
    }

    private func keep(_ worker: Worker) {
        var worker = worker
        worker.lastUse = clock.now
        idle.withLock { [worker] idle in if idle.count < Self.mostIdle { idle.append(worker) } }
    }
}

/// What is received of a response.
private final class Response: TransferSink {
    private(set) var head: ResponseHead?
    private(set) var body: [UInt8] = []
    private(set) var end: TransferEnd?
    private(set) var isTooLong = false
    /// When a byte was sent or received last; at the beginning, the time until which that may take is added.
    private(set) var lastByte: Instant
    private let limit: Int
    private let clock: any Clock

    /// Error documents are short, whatever was requested.
    private static let longestError = 64 << 10

    init(limit: Int, _ clock: any Clock, connectTimeout: Interval) {
        self.limit = limit
        self.clock = clock
        lastByte = clock.now + connectTimeout
    }

    /// Whether the status is one of success: of another one the status itself is the response.
    var isSuccess: Bool { head.map { 200..<300 ~= $0.status } ?? false }

    func transfer(_ id: TransferID, sent count: Int) { lastByte = clock.now }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        lastByte = clock.now
        self.head = head
        return limit > 0
    }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        lastByte = clock.now
        let room = (isSuccess ? limit : Self.longestError) - body.count
        isTooLong = chunk.count > room
        unsafe body.append(contentsOf: chunk.prefix(room))
        return isTooLong ? .stop : .taken
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) { self.end = end }
}
