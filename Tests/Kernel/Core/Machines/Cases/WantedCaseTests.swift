import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// The byte that a reader waits for.
@Suite struct WantedCaseTests {
    private static let total = 40 * Bench.megabyte
    private static let index = 39 * Bench.megabyte

    private static func flowing(_ ramp: ConnectionRamp.Mode, tag: String? = "v1") -> Bench {
        var bench = Bench { $0.ramp = ramp }
        bench.begin()
        bench.respond(Bench.whole(total, tag: tag))
        bench.progress(to: Bench.megabyte)
        return bench
    }

    private static func range(_ action: Action?) -> RequestedRange? {
        if case .open(let order) = action { order.requested } else { nil }
    }

    @Test func `beside the only lane of an automatic number another one begins at the byte`() {
        var bench = Self.flowing(.automatic(maximum: 8))
        let said = bench.machine.want(Self.index, now: bench.now)
        #expect(said.first == .limit(bench.machine.lanes.list[0].id, end: Self.index))
        #expect(Self.range(said.last) == .closed(ByteRange(Self.index, Self.total)))
        #expect(bench.machine.want(Self.index, now: bench.now).isEmpty, "it is on its way")
        #expect(bench.machine.lanes.map.isConserved)
    }

    @Test func `the only connection that may be used is not given up before the server has sent a part`() {
        var bench = Self.flowing(.fixed(1))
        #expect(bench.machine.want(Self.index, now: bench.now).isEmpty)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(Self.index, Self.total)), "the next request is for it")
        bench.respond(Bench.part(Self.index, Self.total, of: Self.total))
        let said = bench.machine.want(10 * Bench.megabyte, now: bench.now)
        guard case .drop = said.first else { return #expect(Bool(false), "\(said)") }
        #expect(Self.range(said.last) == .closed(ByteRange(10 * Bench.megabyte, Self.total)))
        bench.respond(Bench.part(10 * Bench.megabyte, Self.total, of: Self.total))
        #expect(bench.machine.want(20 * Bench.megabyte, now: bench.now).isEmpty, "once a second at most")
        bench.now = bench.now + .seconds(2)
        #expect(bench.machine.want(20 * Bench.megabyte, now: bench.now).count == 2)
        #expect(bench.machine.lanes.map.isConserved)
    }

    @Test func `bytes that come soon, or are there, are waited for`() {
        var bench = Self.flowing(.automatic(maximum: 8))
        for byte in [0, Bench.megabyte - 1, Bench.megabyte, Bench.megabyte + Planner.shortWay] {
            #expect(bench.machine.want(byte, now: bench.now).isEmpty)
        }
    }

    @Test func `where only a comparison tells versions apart, the bytes come in their order`() {
        var bench = Self.flowing(.automatic(maximum: 8), tag: nil)
        #expect(bench.machine.want(Self.index, now: bench.now).isEmpty)
    }
}
