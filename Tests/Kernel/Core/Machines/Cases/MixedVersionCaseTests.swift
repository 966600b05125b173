import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Sequences of responses that must not join bytes of two versions, nor take a part for the whole.
@Suite struct MixedVersionCaseTests {
    private static let megabyte = Bench.megabyte
    private static let overlap = DownloadMachine.overlap

    // MARK: hosts

    @Test func `a response is judged as its own host's, wherever another redirect has led since`() {
        var bench = Bench { $0.ramp = .fixed(3) }
        bench.begin()
        bench.respond(Bench.redirect(to: "http://one.example/f"))
        bench.respond(Bench.whole(30 * Self.megabyte))
        bench.tick(after: 0.1)
        #expect(bench.machine.lanes.list.count == 3)
        let (second, third) = (bench.machine.lanes.list[1], bench.machine.lanes.list[2])
        bench.respond(Bench.redirect(to: "http://two.example/f"), to: second.id)
        let other = bench.machine.lanes.list.last
        bench.respond(Bench.redirect(to: "http://one.example/f"), to: third.id)
        guard let other else { return }
        // The first host's tag, sent by the second one.
        let part = Bench.part(other.cursor, other.end, of: 30 * Self.megabyte)
        bench.respond(part, to: other.id)
        #expect(!bench.said.contains(.admit(other.id)))
        #expect(bench.machine.remembered.records.map(\.host) == ["http://one.example"])
    }

    /// A download by a redirect that ended after one of its four megabytes.
    private static func cut(behind target: String) -> Bench {
        var bench = Bench { $0.retry.retries = 0 }
        bench.begin()
        bench.respond(Bench.redirect(to: target))
        bench.respond(Bench.whole(4 * megabyte))
        bench.progress(to: megabyte)
        bench.fail(.connectionLost)
        return bench
    }

    @Test func `the tag of another path on the same host proves nothing, its bytes do`() {
        let first = Self.cut(behind: "http://cdn.example/f?signature=1")
        var second = Bench()
        second.begin(Bench.journal([ByteRange(0, Self.megabyte)], of: first.machine.remembered))
        second.respond(Bench.redirect(to: "http://cdn.example/g"))
        #expect(second.requested == .closed(ByteRange(Self.megabyte - Self.overlap, 4 * Self.megabyte)))
        var same = Bench()
        same.begin(Bench.journal([ByteRange(0, Self.megabyte)], of: first.machine.remembered))
        same.respond(Bench.redirect(to: "http://cdn.example/f?signature=2"))
        #expect(same.requested == .closed(ByteRange(Self.megabyte, 4 * Self.megabyte)))
    }

    @Test(arguments: ["f?version=2&signature=1", "f?version=1&signature=2", "f?signature=1"])
    func `the tag of another query of a redirect's target proves nothing, but for its signature`(target: String) {
        let first = Self.cut(behind: "http://cdn.example/f?version=1&signature=1&X-Amz-Date=1")
        var second = Bench()
        second.begin(Bench.journal([ByteRange(0, Self.megabyte)], of: first.machine.remembered))
        second.respond(Bench.redirect(to: "http://cdn.example/\(target)"))
        let start = Self.megabyte - (target.contains("version=1") ? 0 : Self.overlap)
        #expect(second.requested == .closed(ByteRange(start, 4 * Self.megabyte)))
    }

    // MARK: tags

    @Test func `a tag that comes back after another one is stable, and the other one another version`() {
        var bench = Bench()
        bench.begin()
        bench.respond(Bench.whole(4 * Self.megabyte))
        bench.progress(to: Self.megabyte)
        bench.fail(.connectionLost)
        bench.ring()
        // A second node has another version.
        bench.respond(Bench.part(Self.megabyte, 4 * Self.megabyte, of: 4 * Self.megabyte, tag: "v2"))
        #expect(bench.requested == .closed(ByteRange(0, 1)))
        bench.respond(Bench.part(0, 1, of: 4 * Self.megabyte))
        #expect(bench.machine.remembered.records.first?.stability == .stable)
        #expect(bench.machine.written == Self.megabyte)
        bench.respond(Bench.part(Self.megabyte, 4 * Self.megabyte, of: 4 * Self.megabyte, tag: "v2"))
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
    }

    // MARK: lengths

    @Test func `a part without a total that ends with the compared bytes is not the end of the content`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: nil, tag: nil))
        #expect(bench.requested == .from(Self.megabyte - Self.overlap))
        bench.respond(Bench.part(Self.megabyte - Self.overlap, Self.megabyte, of: nil, tag: nil))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.machine.phase == .transferring && bench.machine.total == nil)
        // A request that begins there tells whether more follows.
        #expect(bench.requested == .from(Self.megabyte))
        var more = bench
        more.respond(Bench.part(Self.megabyte, Self.megabyte + 1, of: nil, tag: nil))
        #expect(more.machine.phase != .transferring || more.machine.total == nil)
        #expect(!more.said.contains(.admit(more.lane)))
        bench.respond(ResponseHead(status: 416))
        #expect(bench.machine.phase == .publishing && bench.machine.total == Self.megabyte)
    }

    @Test func `the end of a requested range may be shorter than the bytes that are repeated`() {
        let range = ByteRange(1000, 2000)
        var bench = Bench { $0.selection = .closed(range) }
        bench.begin(Bench.journal([ByteRange(0, 900)], total: nil, tag: nil, selection: .closed(range), base: 1000))
        #expect(bench.requested == .closed(range))
        bench.respond(Bench.part(1000, 2000, of: nil, tag: nil))
        #expect(bench.said.contains(.admit(bench.lane)) && bench.machine.server.rangesUsable)
    }

    @Test func `a second connection that gets the whole of the same version leaves the first one alone`() {
        var bench = Bench { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(Bench.whole(8 * Self.megabyte))
        let first = bench.machine.lanes.list[0].id
        bench.progress(to: Self.megabyte, lane: first)
        bench.respond(Bench.whole(8 * Self.megabyte))
        #expect(bench.machine.lanes.list.map(\.id) == [first] && !bench.said.contains(.drop(first)))
        #expect(bench.machine.lanes.list[0].end == 8 * Self.megabyte)
    }

    @Test func `responses shorter than the bytes that each would repeat are no ranges`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: 4 * Self.megabyte, tag: nil))
        let start = Self.megabyte - Self.overlap
        bench.respond(Bench.part(start, Self.megabyte + 1024, of: 4 * Self.megabyte, tag: nil))
        #expect(bench.requested == .whole && !bench.machine.server.rangesUsable)
        var last = Bench()
        last.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: Self.megabyte + 10, tag: nil))
        last.respond(Bench.part(start, Self.megabyte + 10, of: Self.megabyte + 10, tag: nil))
        #expect(last.said.contains(.admit(last.lane)), "the last ones may be short")
    }

    @Test(arguments: [true, false]) func `a 416 whose length is that of the bytes on disk proves no version`(
        agreed: Bool
    ) {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: nil))
        #expect(bench.requested == .from(Self.megabyte))
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: Self.megabyte)
        bench.respond(head)
        #expect(bench.machine.phase == .transferring)
        #expect(bench.requested == .closed(ByteRange(Self.megabyte - Self.overlap, Self.megabyte)))
        bench.respond(Bench.part(Self.megabyte - Self.overlap, Self.megabyte, of: Self.megabyte, tag: nil))
        bench.said = bench.machine.compared(bench.lane, agreed: agreed, now: bench.now)
        #expect(bench.machine.phase == (agreed ? .publishing : .probing))
        #expect(bench.said.contains(.startOver) == !agreed)
    }

    @Test func `a redirect's target may expire again after a 416 whose bytes are compared`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: nil))
        let given = bench.machine.sources[0].given
        bench.respond(Bench.redirect(to: "http://a.example/f?token=1"))
        bench.respond(ResponseHead(status: 403))
        #expect(bench.machine.sources[0].current == given)
        bench.respond(Bench.redirect(to: "http://a.example/f?token=2"))
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: Self.megabyte)
        bench.respond(head)
        #expect(bench.machine.sources[0].current != given)
        bench.respond(ResponseHead(status: 403))
        #expect(bench.machine.phase != .failed && bench.machine.sources[0].current == given)
    }

    @Test func `a 416 with the tag of the bytes on disk proves that they are all`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: nil))
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: Self.megabyte)
        head.entityTag = EntityTag(opaque: "v1", isWeak: false)
        bench.respond(head)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `a response of another length than the expected one discards nothing`() {
        for head in [Bench.whole(30, tag: "v2"), Bench.part(400, 600, of: 600, tag: "v2")] {
            var bench = Bench { $0.length = 5000 }
            bench.begin(Bench.journal([ByteRange(0, 400)], total: 5000))
            bench.respond(head)
            #expect(!bench.said.contains(.startOver) && bench.machine.written == 400)
            #expect(bench.machine.phase == .failed && bench.said.contains(.close(keeping: true)))
            #expect(bench.machine.failure?.why.contains("instead of the expected 5000") == true)
        }
    }

    // MARK: requested parts

    @Test func `bytes of another part stay when the requested one is refused`() {
        var bench = Bench { $0.selection = .from(10_000) }
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 5000))
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: 5000)
        bench.respond(head)
        #expect(bench.machine.phase == .failed && !bench.said.contains(.startOver))
        #expect(bench.said.contains(.close(keeping: true)))
    }

    @Test(arguments: [nil, ClaimOutcome.fresh, Bench.journal([ByteRange(0, 400)], total: 5000, tag: nil)])
    func `a part that begins where a file server's file ends is refused`(claim: ClaimOutcome?) {
        var bench = Bench(scheme: .ftp) {
            $0.selection = .from(5000)
            $0.retry.retries = 0
        }
        bench.begin(claim)
        bench.respond(ResponseHead(fileLength: 5000, modified: nil))
        #expect(bench.machine.phase == .failed && !bench.said.contains(.startOver))
    }

    // MARK: where two connections meet

    /// Two connections whose only validator is a date; the second has written nothing yet when the first ends.
    private func meeting() -> (bench: Bench, first: LaneID, second: LaneID) {
        var bench = Bench { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(Self.dated(Bench.whole(20 * Self.megabyte, tag: nil, date: 5)))
        bench.tick(after: 0.1)
        let (first, second) = (bench.machine.lanes.list[0].id, bench.machine.lanes.list[1].id)
        let middle = 10 * Self.megabyte
        let part = Bench.part(middle, 20 * Self.megabyte, of: 20 * Self.megabyte, tag: nil, date: 5)
        bench.respond(Self.dated(part), to: second)
        return (bench, first, second)
    }

    private static func dated(_ head: ResponseHead) -> ResponseHead {
        var head = head
        head.date = Bench.time(100)
        return head
    }

    @Test(arguments: [0, 1]) func `bytes of two responses that differ where they met are all discarded`(restarts: Int) {
        var (bench, first, second) = meeting()
        for _ in 0..<restarts { _ = bench.machine.budget.startedOver() }
        bench.progress(to: 10 * Self.megabyte, lane: first)
        bench.end(.stopped, lane: first)
        let third = bench.machine.lanes.list.last
        let start = third?.cursor ?? 0
        let part = Bench.part(start, 20 * Self.megabyte, of: 20 * Self.megabyte, tag: nil, date: 5)
        bench.respond(Self.dated(part))
        bench.progress(to: 20 * Self.megabyte - 1000, lane: third?.id)
        bench.progress(to: start, lane: second)
        #expect(bench.machine.reachedEnd(second) == Self.overlap)
        bench.said = bench.machine.joined(second, agreed: false, now: bench.now)
        #expect(bench.said.contains(.startOver) && bench.machine.lanes.map.done.isEmpty)
        #expect(bench.requested == .whole && bench.machine.lanes.list.count == 1)
        // Its ranges have been wrong twice.
        #expect(bench.machine.server.rangesUsable == (restarts == 0))
    }

    @Test(arguments: [true, false], [true, false])
    func `bytes that met without a comparison are compared before the file is finished`(isCut: Bool, agreed: Bool) {
        var (bench, first, second) = meeting()
        let middle = 10 * Self.megabyte
        if isCut {
            // The connection breaks while it is compared.
            bench.progress(to: middle - 1000, lane: first)
            bench.progress(to: 20 * Self.megabyte, lane: second)
            bench.end(.complete, lane: second)
            bench.progress(to: middle, lane: first)
            #expect(bench.machine.reachedEnd(first) == Self.overlap)
            bench.fail(.connectionLost, lane: first)
        } else {
            bench.progress(to: middle, lane: first)
            #expect(bench.machine.reachedEnd(first) == 0)
            bench.end(.stopped, lane: first)
            // It takes the latter half of the second one's work, and is compared where they meet.
            let third = bench.machine.lanes.list.last
            let start = third?.cursor ?? 0
            let part = Bench.part(start, 20 * Self.megabyte, of: 20 * Self.megabyte, tag: nil, date: 5)
            bench.respond(Self.dated(part))
            bench.progress(to: start - 1000, lane: second)
            bench.progress(to: 20 * Self.megabyte, lane: third?.id)
            bench.end(.complete, lane: third?.id)
            bench.progress(to: start, lane: second)
            #expect(bench.machine.reachedEnd(second) == Self.overlap)
            bench.said = bench.machine.joined(second, agreed: true, now: bench.now)
            bench.end(.stopped, lane: second)
        }
        #expect(bench.machine.phase == .transferring && bench.machine.lanes.map.isComplete)
        let place = ByteRange(middle - Self.overlap, middle + Self.overlap)
        #expect(bench.requested == .closed(place))
        let part = Bench.part(place.start, place.end, of: 20 * Self.megabyte, tag: nil, date: 5)
        bench.respond(Self.dated(part))
        bench.said = bench.machine.compared(bench.lane, agreed: agreed, now: bench.now)
        #expect(bench.machine.phase == (agreed ? .publishing : .probing))
    }

    @Test(arguments: [true, false], [true, false])
    func `bytes that met without a comparison are compared by the next run`(isComparing: Bool, agreed: Bool) {
        var (bench, first, second) = meeting()
        let middle = 10 * Self.megabyte
        if isComparing {
            bench.progress(to: middle - 1000, lane: first)
            bench.progress(to: 20 * Self.megabyte, lane: second)
            bench.end(.complete, lane: second)
            bench.progress(to: middle, lane: first)
            #expect(bench.machine.reachedEnd(first) == Self.overlap)
        } else {
            bench.progress(to: middle, lane: first)
            bench.end(.stopped, lane: first)
            #expect(bench.said.contains(.record), "a kill does not wait")
        }
        bench.said = bench.machine.pause()
        let left = bench.machine.remembered
        #expect(left.openJoints == [middle])
        var next = Bench()
        next.begin(Bench.journal([ByteRange(0, 20 * Self.megabyte)], of: left))
        let place = ByteRange(middle - Self.overlap, middle + Self.overlap)
        #expect(next.machine.phase == .transferring && next.requested == .closed(place))
        let part = Bench.part(place.start, place.end, of: 20 * Self.megabyte, tag: nil, date: 5)
        next.respond(Self.dated(part))
        next.said = next.machine.compared(next.lane, agreed: agreed, now: next.now)
        #expect(next.machine.phase == (agreed ? .publishing : .probing))
        #expect(next.machine.remembered.openJoints.isEmpty)
    }

    @Test func `bytes of several versions do not outlive a download that fails because of them`() {
        var (bench, first, second) = meeting()
        for _ in 0..<RetryBudget.mostRestarts { _ = bench.machine.budget.startedOver() }
        bench.progress(to: 10 * Self.megabyte - 1000, lane: first)
        bench.progress(to: 20 * Self.megabyte, lane: second)
        bench.end(.complete, lane: second)
        bench.progress(to: 10 * Self.megabyte, lane: first)
        #expect(bench.machine.reachedEnd(first) == Self.overlap)
        bench.said = bench.machine.joined(first, agreed: false, now: bench.now)
        #expect(bench.machine.phase == .failed)
        #expect(bench.said.contains(.startOver) && bench.machine.lanes.map.done.isEmpty)
    }
}
