import PawlHTTP
import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase

/// The blocking client, on transports that do what a test says.
@Suite struct HTTPClientTests {
    /// Passes a second with each round.
    private final class RoundClock: Clock {
        private let seconds = Atomic<Int64>(1_000)
        var now: Instant { Instant(nanoseconds: seconds.load(ordering: .relaxed) * 1_000_000_000) }
        var wallTime: UnixTime { UnixTime(seconds: seconds.load(ordering: .relaxed)) }
        func pass(_ count: Int64 = 1) { seconds.add(count, ordering: .relaxed) }
    }

    private enum Step: Sendable {
        case nothing
        case sent(Int)
        case head(Int)
        case chunk(Int)
        case end(TransferEnd)
    }

    /// What the transports of one client did.
    private final class Record: Sendable {
        let clock = RoundClock()
        private let state = Mutex<(steps: [Step], transports: Int, requests: [TransferRequest])>(([], 0, []))

        init(_ steps: [Step]) { state.withLock { $0.steps = steps } }

        var transports: Int { state.withLock(\.transports) }
        var requests: [TransferRequest] { state.withLock(\.requests) }
        var roundsLeft: Int { state.withLock(\.steps.count) }
        func next() -> Step { state.withLock { $0.steps.isEmpty ? .nothing : $0.steps.removeFirst() } }
        func note(_ request: TransferRequest) { state.withLock { $0.requests.append(request) } }
        func noteTransport() { state.withLock { $0.transports += 1 } }

        func client(patience: Double = 5) -> HTTPClient {
            var values = TransferSettings.Values()
            values.connectTimeout = .seconds(20)
            values.netrc = ""
            values.headers = ["X-Of: settings"]
            return HTTPClient(TransferSettings(values), patience: patience, clock: clock) { [self] _ in
                ScriptedTransport(self)
            }
        }
    }

    private final class ScriptedTransport: Transport {
        private let record: Record
        private var transfer: (id: TransferID, sink: any TransferSink)?

        init(_ record: Record) {
            self.record = record
            record.noteTransport()
        }

        func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
            record.note(request)
            transfer = (id, sink)
        }

        func cancel(_ id: TransferID) {}
        func resume(_ id: TransferID) {}
        func begin() -> Instant? { .past }

        func work() {
            record.clock.pass()
            guard let (id, sink) = transfer else { return }
            switch record.next() {
            case .nothing: break
            case .sent(let count): sink.transfer(id, sent: count)
            case .head(let status):
                if !sink.transfer(id, head: ResponseHead(status: status)) { sink.transferEnded(id, .stopped) }
            case .chunk(let count):
                let bytes = [UInt8](repeating: 7, count: count)
                let result = unsafe bytes.withUnsafeBytes { unsafe sink.transfer(id, chunk: $0) }
                if result == .stop { sink.transferEnded(id, .stopped) }
            case .end(let end): sink.transferEnded(id, end)
            }
        }
    }

    private func request(limit: Int = 100, time: Interval? = nil) throws -> HTTPClient.Request {
        let address = try WebAddress.parse("http://a.example/x").address
        return HTTPClient.Request("PUT", address, lines: ["X: y"], body: [1, 2], limit: limit, time: time)
    }

    private static let usual: [Step] = [.sent(2), .head(200), .chunk(60), .chunk(40), .end(.complete)]

    @Test func `a response is returned whole, and its connection is used again`() throws {
        let record = Record(Self.usual + Self.usual)
        let client = record.client()
        for _ in 0..<2 {
            let (head, body) = try client.perform(request())
            #expect(head.status == 200 && body == [UInt8](repeating: 7, count: 100))
        }
        #expect(record.transports == 1)
        let sent = try #require(record.requests.first)
        #expect(sent.method == "PUT" && sent.body == [1, 2] && sent.fields == ["X: y"])
        #expect(sent.connection == .separate && sent.settings.values.netrc == nil)
        #expect(sent.settings.values.headers.isEmpty)
    }

    @Test func `what was not used for a minute is closed`() throws {
        let record = Record(Self.usual + Self.usual)
        let client = record.client()
        _ = try client.perform(request())
        record.clock.pass(61)
        _ = try client.perform(request())
        #expect(record.transports == 2)
    }

    @Test func `a failure is thrown, and nothing of its connection is kept`() throws {
        let lost = TransferFault(.connectionLost, foreign: "reset")
        let record = Record([.head(200), .chunk(1), .end(.failed(lost))] + Self.usual)
        let client = record.client()
        #expect(throws: lost) { try client.perform(request()) }
        _ = try client.perform(request())
        #expect(record.transports == 2)
    }

    @Test func `a success that is too long is a failure, an error document is cut`() throws {
        let record = Record([.head(206), .chunk(60), .chunk(41)])
        let client = record.client()
        #expect(throws: TransferFault.tooLong) { try client.perform(request()) }
        let refused = Record([.head(503), .chunk(60_000), .chunk(60_000)])
        let (head, body) = try refused.client().perform(request())
        #expect(head.status == 503 && body.count == 64 << 10)
    }

    @Test func `without a limit for the body only the head is read`() throws {
        let record = Record([.head(204), .chunk(1)])
        let (head, body) = try record.client().perform(request(limit: 0))
        #expect(head.status == 204 && body.isEmpty && record.roundsLeft == 1)
    }

    @Test func `silence ends a request, in whichever direction bytes went before`() throws {
        let silent = Record([])
        #expect(throws: TransferFault(.connectTimeout, .noData(for: "5"))) { try silent.client().perform(request()) }
        // Connecting has its own time.
        #expect(silent.clock.now == Instant(nanoseconds: 1_025 * 1_000_000_000))
        let slow = (0..<20).flatMap { _ in [Step.nothing, .nothing, .nothing, .sent(1)] }
        let uploading = Record(slow + Self.usual)
        #expect(try uploading.client().perform(request()).head.status == 200)
        let stuck = Record([.sent(1), .head(200), .chunk(1)])
        #expect(throws: TransferFault(.connectTimeout, .noData(for: "5"))) { try stuck.client().perform(request()) }
        #expect(stuck.clock.now == Instant(nanoseconds: 1_008 * 1_000_000_000))
    }

    @Test func `a request may have a limit of time in all`() throws {
        let record = Record(Array(repeating: .sent(1), count: 100))
        let request = try request(time: .seconds(10))
        #expect(throws: TransferFault(.connectTimeout, .noData(for: "10"))) { try record.client().perform(request) }
        #expect(record.clock.now == Instant(nanoseconds: 1_010 * 1_000_000_000))
    }

    @Test func `a request that is abandoned ends`() throws {
        let record = Record(Self.usual)
        let client = record.client()
        var rounds = 0
        #expect(throws: TransferFault.self) {
            try client.perform(request()) {
                rounds += 1
                return rounds > 3
            }
        }
        #expect(record.roundsLeft == 2)
    }
}
