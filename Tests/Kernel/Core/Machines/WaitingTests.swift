import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct WaitingTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let failure = Failure(.badResponse, "cannot fetch", at: "http://a/f", because: "HTTP 500")

    private var question: PendingFailure {
        PendingFailure(id: HookID(rawValue: 1), failure: failure, source: 0, wait: nil)
    }

    @Test func `each wait has a number of its own, and a stop voids it`() {
        var waiting = Waiting()
        let first = waiting.begin(until: start)
        let address = waiting.beginForAddress(after: failure)
        waiting.abandon()
        waiting.begin(for: question)
        let last = waiting.begin(until: start)
        #expect([first.generation, address, last.generation] == [1, 2, 5] && last.at == start)
        waiting.abandon()
        #expect(!waiting.isForAttempt && waiting.generation == 6)
    }

    @Test func `only a wait for time or a place may be cut short`() {
        var waiting = Waiting()
        #expect(!waiting.maySkip && !waiting.isForAttempt && waiting.due == nil)
        _ = waiting.begin(until: start)
        #expect(waiting.maySkip && waiting.isForAttempt && waiting.due == start)
        waiting.beginForPlace(until: start, isForLane: false)
        #expect(waiting.maySkip && waiting.isForPlace && waiting.due == start)
        _ = waiting.beginForAddress(after: failure)
        #expect(!waiting.maySkip && waiting.isForAttempt && !waiting.isForPlace && waiting.due == nil)
        waiting.begin(for: question)
        #expect(!waiting.maySkip && waiting.isForAttempt && waiting.pendingFailure == question)
        waiting.end()
        #expect(!waiting.isForAttempt && waiting.pendingFailure == nil)
    }

    @Test func `a place for a further lane is no attempt`() {
        var waiting = Waiting()
        waiting.beginForPlace(until: nil, isForLane: true)
        #expect(waiting.isForPlace && !waiting.isForAttempt && !waiting.maySkip && waiting.generation == 0)
        waiting.endForLane()
        #expect(!waiting.isForPlace)
        waiting.beginForPlace(until: nil, isForLane: false)
        waiting.endForLane()
        #expect(waiting.isForPlace && waiting.due == nil)
    }

    @Test func `one request is forced`() {
        var waiting = Waiting()
        waiting.force()
        #expect(waiting.takeForce() && !waiting.takeForce())
        waiting.force()
        waiting.abandon()
        #expect(waiting.takeForce() == false)
    }
}
