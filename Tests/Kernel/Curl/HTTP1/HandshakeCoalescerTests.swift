import Testing

@testable import PawlBase
@testable import PawlHTTP

@Suite struct HandshakeCoalescerTests {
    private let near = ConnectionKey(TransferRequest(port: 1, scheme: .https))
    private let far = ConnectionKey(TransferRequest(port: 2, scheme: .https))

    private func after(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: 1_000_000_000) + .milliseconds(milliseconds)
    }

    @Test func `one handshake goes first, and the others follow its result`() {
        var handshakes = HandshakeCoalescer()
        let before = [0, 0, 9].map { handshakes.allows(near, at: after($0)) }
        #expect(before == [true, false, false])
        handshakes.responded(near)
        let waitingForHandshake = handshakes.allows(near, at: after(9))
        #expect(waitingForHandshake)
        #expect(handshakes.deadline == nil)
    }

    @Test func `a late result is not waited for`() {
        var handshakes = HandshakeCoalescer()
        let first = handshakes.allows(near, at: after(0))
        #expect(first && handshakes.deadline == after(10))
        let others = [10, 10].map { handshakes.allows(near, at: after($0)) }
        #expect(others == [true, true])
        #expect(handshakes.deadline == nil)
    }

    @Test func `routes do not wait for each other`() {
        var handshakes = HandshakeCoalescer()
        let firsts = [handshakes.allows(near, at: after(0)), handshakes.allows(far, at: after(3))]
        let seconds = [near, far].map { handshakes.allows($0, at: after(3)) }
        #expect(firsts == [true, true] && seconds == [false, false])
        handshakes.responded(near)
        let thirds = [near, far].map { handshakes.allows($0, at: after(4)) }
        #expect(thirds == [true, false])
        #expect(handshakes.deadline == after(13))
    }

    @Test func `a late result for which nobody waits is not due for ever`() {
        var handshakes = HandshakeCoalescer()
        let firsts = [handshakes.allows(near, at: after(0)), handshakes.allows(far, at: after(8))]
        #expect(firsts == [true, true] && handshakes.deadline == after(10))
        let second = handshakes.allows(far, at: after(11))
        #expect(!second && handshakes.deadline == after(18))
    }

    @Test func `the known results are bounded, and forgetting one costs a wait`() {
        var handshakes = HandshakeCoalescer()
        let firsts = (1...200).map {
            handshakes.allows(ConnectionKey(TransferRequest(port: $0, scheme: .https)), at: after(0))
        }
        #expect(!firsts.contains(false))
        handshakes.responded(near)
        let again = [1, 2].map { handshakes.allows(near, at: after($0)) }
        #expect(again == [true, false])
    }
}
