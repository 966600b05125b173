import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

@Suite struct `Compared bytes without information` {
    private static let megabyte: Int64 = 1 << 20
    private static let overlap = DownloadMachine.overlap
    private static let place = ByteRange(0, overlap)

    /// The first MiB of four is on disk, and nothing but its bytes identifies it.
    private func resumed(_ hosts: [String] = ["a.example"]) -> Bench {
        var bench = Bench(hosts: hosts)
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: 4 * Self.megabyte, tag: nil))
        return bench
    }

    private func respond(_ bench: inout Bench, of total: Int64 = 4 * megabyte) {
        guard case .closed(let range)? = bench.requested else {
            Issue.record("\(bench.said)")
            return
        }
        bench.respond(Bench.part(range.start, range.end, of: total, tag: nil))
    }

    private func compare(_ bench: inout Bench, agrees: Bool = true, elsewhere: [ByteRange] = []) {
        bench.said = bench.machine.compared(bench.lane, agreed: agrees, elsewhere: elsewhere, now: bench.now)
    }

    @Test func `a place that is near is compared by the response that adds bytes`() {
        var bench = resumed()
        respond(&bench)
        #expect(bench.machine.comparisonCandidates(bench.lane)?.others.isEmpty == false)
        let first = bench.lane
        compare(&bench, elsewhere: [Self.place])
        #expect(bench.said.contains(.drop(first)))
        #expect(bench.requested == .closed(ByteRange(0, 4 * Self.megabyte)))
        respond(&bench)
        #expect(bench.machine.lanes.list.map(\.overlap) == [Self.megabyte])
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(0, 4 * Self.megabyte)), "nothing was compared yet")
        respond(&bench)
        compare(&bench)
        #expect(bench.machine.lanes.list.map(\.overlap) == [0])
        bench.progress(to: 2 * Self.megabyte)
        bench.fail(.connectionLost)
        bench.ring()
        let range = ByteRange(2 * Self.megabyte - Self.overlap, 4 * Self.megabyte)
        #expect(bench.requested == .closed(range), "an agreement counts for one response")
    }

    /// The first 8 MiB of twelve are on disk.
    private func resumedLate() -> Bench {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 8 * Self.megabyte)], total: 12 * Self.megabyte, tag: nil))
        return bench
    }

    @Test func `another place is compared before the response adds a byte`() {
        var bench = resumedLate()
        let request = bench.requested
        respond(&bench, of: 12 * Self.megabyte)
        compare(&bench, elsewhere: [Self.place])
        #expect(bench.requested == .closed(Self.place) && bench.machine.isComparingElsewhere)
        respond(&bench, of: 12 * Self.megabyte)
        #expect(bench.machine.comparisonCandidates(bench.lane) == nil, "that place was chosen for its bytes")
        compare(&bench)
        #expect(bench.requested == request)
        respond(&bench, of: 12 * Self.megabyte)
        compare(&bench, elsewhere: [Self.place])
        #expect(bench.machine.lanes.list.map(\.overlap) == [0], "it may add bytes now")
        bench.progress(to: 9 * Self.megabyte)
        bench.fail(.connectionLost)
        bench.ring()
        respond(&bench, of: 12 * Self.megabyte)
        compare(&bench, elsewhere: [Self.place])
        #expect(bench.requested == .closed(Self.place), "an agreement counts for one response")
        respond(&bench, of: 12 * Self.megabyte)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == .closed(Self.place), "the place is compared again after its connection broke")
    }

    @Test func `bytes that differ elsewhere are another content`() {
        var bench = resumed()
        respond(&bench)
        compare(&bench, elsewhere: [Self.place])
        respond(&bench)
        compare(&bench, agrees: false)
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
    }

    @Test func `all places are compared where none has information`() {
        var bench = resumed()
        respond(&bench)
        let places = bench.machine.comparisonSpread
        #expect(places.count > 8)
        compare(&bench, elsewhere: places)
        var compared: [ByteRange] = []
        while bench.machine.isComparingElsewhere, compared.count < 100 {
            if case .closed(let range)? = bench.requested { compared.append(range) }
            respond(&bench)
            compare(&bench)
        }
        #expect(compared == places.filter { $0.end < Self.megabyte })
        #expect(bench.requested == .closed(ByteRange(Self.megabyte - Self.overlap, 4 * Self.megabyte)))
    }

    @Test func `a mirror with such bytes is not proven by them`() {
        var bench = Bench(hosts: ["a.example", "b.example"]) { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(Bench.whole(8 * Self.megabyte))
        bench.progress(to: 2 * Self.megabyte)
        bench.tick(after: 1)
        guard let lane = bench.machine.lanes.list.first(where: { $0.isSettling })?.id else {
            Issue.record("the mirror is not compared: \(bench.machine.lanes.list)")
            return
        }
        let end = bench.machine.lane(lane)?.cursor ?? 0
        bench.respond(Bench.part(end - Self.overlap, end, of: 8 * Self.megabyte, tag: "m"), to: lane)
        #expect(bench.machine.comparisonCandidates(lane) != nil)
        bench.said = bench.machine.compared(lane, agreed: true, elsewhere: [Self.place], now: bench.now)
        #expect(!bench.machine.sources[1].isProven && bench.requested == .closed(Self.place))
        bench.respond(Bench.part(0, Self.overlap, of: 8 * Self.megabyte, tag: "m"))
        compare(&bench)
        #expect(bench.machine.sources[1].isProven)
    }

    @Test func `tags and dates that prove the version need no information`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: 4 * Self.megabyte))
        #expect(bench.machine.comparisonCandidates(bench.lane) == nil)
        var whole = resumed()
        whole.machine.lanes.discard(ByteRange(Self.overlap, Self.megabyte))
        #expect(whole.machine.comparisonCandidates(whole.lane)?.others.isEmpty ?? true, "all of it was compared")
    }

    @Test(arguments: [true, false]) func `a URL that the user gives is compared at several places`(isSame: Bool) {
        let fresh = WebAddress(scheme: .http, host: "c.example", port: 80, path: "/f", query: nil)
        var bench = Bench()
        bench.begin()
        bench.respond(Bench.whole(4 * Self.megabyte, tag: nil))
        bench.progress(to: Self.megabyte)
        bench.said = bench.machine.replaceSource(0, with: fresh, now: bench.now)
        respond(&bench)
        compare(&bench)
        let places = ComparisonSample.places(of: ByteRange(0, Self.megabyte)).dropLast()
        for place in places {
            #expect(bench.requested == .closed(place) && bench.machine.provenAddresses == ["http://a.example/f"])
            respond(&bench)
            compare(&bench, agrees: isSame)
            guard isSame else {
                #expect(bench.machine.failure?.code == .cannotResume)
                return
            }
        }
        respond(&bench)
        compare(&bench)
        #expect(bench.machine.provenAddresses == ["http://a.example/f", fresh.text])
        #expect(bench.machine.lanes.list.map(\.overlap) == [0])
    }
}
