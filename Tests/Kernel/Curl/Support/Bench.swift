import Glibc
import PawlBase
import PawlCurl
import PawlSystem
import Testing

@testable import PawlHTTP

/// Records the events of one transfer, and responds as configured.
final class Recorder: TransferSink {
    enum Event: Equatable {
        case head(Int)
        case body
        case ended(TransferEnd)
    }

    private(set) var heads: [ResponseHead] = []
    private(set) var body: [UInt8] = []
    private(set) var end: TransferEnd?
    /// Consecutive chunks count as one `body`.
    private(set) var events: [Event] = []
    private(set) var pauses = 0
    var isHeldBack = false
    var onHead: (ResponseHead) -> Bool = { _ in true }
    var onChunk: (Int) -> ChunkResult = { _ in .taken }
    var onEnd: (TransferEnd) -> Void = { _ in }

    var head: ResponseHead? { heads.last }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        heads.append(head)
        events.append(.head(head.status))
        return onHead(head)
    }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        if events.last != .body { events.append(.body) }
        let result = onChunk(chunk.count)
        switch result {
        case .taken: unsafe body.append(contentsOf: chunk)
        case .pause: pauses += 1
        case .stop: break
        }
        return result
    }

    func holdsBack(_ id: TransferID) -> Bool { isHeldBack }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        events.append(.ended(end))
        self.end = end
        onEnd(end)
        // They hold what a test gave them, including this recorder.
        (onHead, onChunk, onEnd) = ({ _ in true }, { _ in .taken }, { _ in })
    }
}

/// A transport and the transfers that a test starts on it.
final class Bench {
    let clock: any Clock
    let poller: EpollPoller
    let transport: HTTPTransport
    private var lastID: UInt64 = 0

    init(_ clock: any Clock = SystemClock(), trace: (@Sendable (TransferTrace) -> Void)? = nil) throws {
        self.clock = clock
        poller = EpollPoller(clock: clock)
        transport = HTTPTransport(
            clock: clock, poller: poller, trace: trace, others: CurlTransports(clock: clock).makeTransport)
    }

    @discardableResult func start(
        _ request: TransferRequest, into recorder: Recorder = Recorder()
    ) -> (TransferID, Recorder) {
        lastID += 1
        let id = TransferID(rawValue: lastID)
        transport.start(request, as: id, sink: recorder)
        return (id, recorder)
    }

    /// Fetches a response's head and stops there, as for a redirect.
    @discardableResult func fetchHead(_ request: TransferRequest) throws -> Recorder {
        let recorder = Recorder()
        recorder.onHead = { _ in false }
        return try fetch(request, into: recorder)
    }

    /// Runs the transport until `isDone`; a test that waits for minutes has failed.
    func run(until isDone: () -> Bool) throws {
        let limit = clock.now + .seconds(300)
        while !isDone() {
            try #require(clock.now < limit, "the transfer did not get there")
            transport.round(on: poller, until: limit)
        }
    }

    /// One request, from start to end.
    @discardableResult func fetch(_ request: TransferRequest, into recorder: Recorder = Recorder()) throws -> Recorder {
        start(request, into: recorder)
        try run { recorder.end != nil }
        return recorder
    }

    /// Enough rounds for any pending event to arrive.
    func settle(rounds: Int = 20) {
        for _ in 0..<rounds { transport.round(on: poller, until: clock.now + .milliseconds(5)) }
    }
}

extension Transport {
    /// What a loop does between two looks into its mailbox.
    func round(on poller: any Poller, until deadline: Instant?) {
        let due = begin()
        poller.wait(until: [due, deadline].compactMap(\.self).min())
        work()
    }
}

extension TransferRequest {
    /// A request, to loopback unless a host is given.
    init(
        host: String = "127.0.0.1", port: UInt16, path: String = "/file", scheme: WebAddress.Scheme = .http,
        change: (inout TransferSettings.Values) -> Void = { _ in }
    ) {
        var values = TransferSettings.Values()
        values.proxy = ""
        change(&values)
        self.init(host: host, port: port, path: path, scheme: scheme, settings: TransferSettings(values))
    }

    init(
        host: String = "127.0.0.1", port: UInt16, path: String = "/file", scheme: WebAddress.Scheme = .http,
        settings: TransferSettings
    ) {
        self.init(
            address: WebAddress(scheme: scheme, host: host, port: port, path: path, query: nil), settings: settings)
    }
}

/// Bytes without a repeating window.
func payload(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: state >> shift)) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
}

extension Recorder {
    /// The fault that ended it.
    var fault: TransferFault? {
        guard case .failed(let fault) = end else { return nil }
        return fault
    }
}
