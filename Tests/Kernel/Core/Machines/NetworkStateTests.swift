import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct NetworkStateTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let noRoute = AttemptFault.transfer(TransferFault(.unreachable, foreign: "no route"))
    private let noName = AttemptFault.transfer(TransferFault(.nameMissing, foreign: "no such name"))
    private let lost = AttemptFault.silent(hasResponse: false)

    @Test func `with a network every failure is judged as any other, and nothing waits`() {
        var network = Network(isOnline: true, now: start)
        for fault in [noRoute, noName, lost] {
            #expect(network.failed(fault, source: 0, usable: [0], hasBytes: true) == .judged)
        }
        #expect(!network.wait(RetryPolicy(), now: start) && !network.tries(now: start + .seconds(60)))
        #expect(
            !network.doubts(silentSince: start, now: start + .seconds(60))
                && network == Network(isOnline: true, now: start))
    }

    @Test func `want of a route leads to a wait once all sources lack one`() {
        var network = Network(isOnline: false, now: start)
        #expect(network.failed(noRoute, source: 0, usable: [0, 2], hasBytes: false) == .repeated)
        #expect(network.isUnreached(0) && !network.isUnreached(2))
        #expect(network.failed(noRoute, source: 2, usable: [0, 2], hasBytes: false) == .wait)
        _ = network.wait(RetryPolicy(), now: start)
        #expect(!network.isUnreached(0))
        #expect(network.failed(noRoute, source: 0, usable: [0, 2], hasBytes: false) == .repeated)
        #expect(network.failed(noRoute, source: 0, usable: [0, 2], hasBytes: false) == .wait)
    }

    @Test(arguments: [false, true]) func `a missing name is want of a route after bytes were received`(hasBytes: Bool) {
        var network = Network(isOnline: false, now: start)
        let consequence = network.failed(noName, source: 0, usable: [0], hasBytes: hasBytes)
        #expect(consequence == (hasBytes ? .wait : .judged))
    }

    @Test func `a lost connection is followed by one attempt that does not count`() {
        var network = Network(isOnline: false, now: start)
        #expect(network.failed(lost, source: 0, usable: [0], hasBytes: true) == .repeated)
        #expect(network.failed(lost, source: 0, usable: [0], hasBytes: true) == .judged)
        _ = network.wait(RetryPolicy(), now: start)
        #expect(network.failed(lost, source: 0, usable: [0], hasBytes: true) == .repeated)
    }

    @Test func `attempts during the wait come later and later, until something responds`() {
        var network = Network(isOnline: false, now: start)
        #expect(!network.wait(RetryPolicy(), now: start) && !network.isTrying)
        #expect(!network.tries(now: start + .milliseconds(1999)) && network.tries(now: start + .seconds(2)))
        #expect(network.isTrying && network.wait(RetryPolicy(), now: start) && !network.isTrying)
        #expect(!network.tries(now: start + .seconds(3)) && network.tries(now: start + .seconds(4)))
        #expect(network.responded() && !network.responded() && !network.isTrying)
        #expect(!network.wait(RetryPolicy(), now: start) && network.tries(now: start + .seconds(2)))
        #expect(network.endAttempt() && !network.endAttempt())
    }

    @Test func `the user ends a wait`() {
        var network = Network(isOnline: false, now: start)
        _ = network.wait(RetryPolicy(), now: start)
        network.endWait(now: start)
        #expect(network.tries(now: start) && !network.tries(now: start + .seconds(60)))
    }

    @Test func `silent connections are doubted once, some time after the report`() {
        var network = Network(isOnline: false, now: start)
        let late = start + Network.patience + .milliseconds(1)
        #expect(!network.doubts(silentSince: start + .milliseconds(1), now: late))
        #expect(!network.doubts(silentSince: Instant(nanoseconds: 0), now: start + .seconds(1)))
        #expect(network.doubts(silentSince: start, now: late))
        network.check()
        #expect(!network.doubts(silentSince: start, now: late))
    }
}
