import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Servers that send the whole content where a part was requested: the bytes on disk stay while nothing shows that they are
/// others.
@Suite struct WholeResponseCaseTests {
    private static let megabyte = Bench.megabyte
    private static let total = 4 * Bench.megabyte

    /// Header fields that prove nothing, in one response and the next.
    enum Fields: CaseIterable {
        case none, weakTag, date, anotherTag

        var before: (tag: String?, date: Int64?) {
            switch self {
            case .none, .weakTag: (nil, nil)
            case .date: (nil, 5)
            case .anotherTag: ("v1", nil)
            }
        }

        func whole(_ total: Int64?) -> ResponseHead {
            switch self {
            case .none: return Bench.whole(total, tag: nil)
            case .weakTag:
                var head = Bench.whole(total, tag: nil)
                head.entityTag = EntityTag(opaque: "v1", isWeak: true)
                return head
            case .date: return Bench.whole(total, tag: nil, date: 5)
            case .anotherTag: return Bench.whole(total, tag: "v2")
            }
        }

        func journal(total: Int64?) -> ClaimOutcome {
            Bench.journal([ByteRange(0, Bench.megabyte)], total: total, tag: before.tag, date: before.date)
        }
    }

    private static func expectComparison(_ bench: Bench) {
        #expect(!bench.said.contains(.startOver) && bench.machine.written == megabyte)
        #expect(bench.machine.lanes.list.map(\.overlap) == [megabyte], "all that is on disk is compared")
        #expect(bench.machine.lanes.list.map(\.cursor) == [megabyte] && !bench.machine.server.rangesUsable)
        #expect(!bench.notices.contains { $0.contains("started over") })
    }

    @Test(arguments: Fields.allCases, [total, nil])
    func `A4 the whole instead of a part is compared with the bytes on disk`(fields: Fields, total: Int64?) {
        var bench = Bench()
        bench.begin(fields.journal(total: total))
        #expect(bench.requested != .whole)
        bench.respond(fields.whole(total))
        Self.expectComparison(bench)
        // It breaks before it has brought more than there is, and so does the next one.
        for _ in 0..<2 {
            bench.fail(.connectionLost)
            #expect(bench.machine.written == Self.megabyte && !bench.said.contains(.startOver))
            bench.ring()
            #expect(bench.requested == .whole)
            bench.respond(fields.whole(total))
            Self.expectComparison(bench)
        }
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: Self.total)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing && bench.machine.total == Self.total)
    }

    @Test
    func `a whole without a length is compared if its tag proves the known one, else it replaces the bytes on disk`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: Self.total, tag: "v1"))
        bench.respond(Bench.whole(nil, tag: "v1"))
        Self.expectComparison(bench)
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: Self.total)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing && bench.machine.total == Self.total)

        var weak = Bench()
        weak.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: Self.total, tag: nil))
        weak.respond(Bench.whole(nil, tag: nil))
        #expect(weak.said.contains(.startOver) && weak.machine.written == 0)
    }

    @Test(arguments: Fields.allCases) func `bytes that differ from the whole are discarded, and only then`(
        fields: Fields
    ) {
        var bench = Bench()
        bench.begin(fields.journal(total: Self.total))
        bench.respond(fields.whole(Self.total))
        Self.expectComparison(bench)
        bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
        #expect(bench.notices.contains { $0.contains("the bytes on disk differ") })
        #expect(bench.requested == .whole)
    }

    @Test func `a whole that says that the content changed replaces the bytes on disk at once`() {
        for head in [Bench.whole(Self.total, tag: nil, date: 6), Bench.whole(Self.total + 1, tag: nil, date: 5)] {
            var bench = Bench()
            bench.begin(Fields.date.journal(total: Self.total))
            bench.respond(head)
            #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
        }
    }

    @Test func `an entity tag that differs from the only one before proves nothing after the comparison`() {
        var bench = Bench()
        bench.begin(Fields.anotherTag.journal(total: Self.total))
        bench.respond(Fields.anotherTag.whole(Self.total))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.said.contains(.record), "before a byte of it is added")
        #expect(bench.machine.remembered.records.map(\.stability) == [.varying])
    }

    @Test func `E1 the whole after a range without a response is compared, whatever its validators`() {
        for fields in Fields.allCases {
            var bench = Bench { $0.timeout = .seconds(10) }
            bench.begin(fields.journal(total: Self.total))
            bench.tick(after: 11)
            #expect(bench.requested == .whole)
            bench.respond(fields.whole(Self.total))
            Self.expectComparison(bench)
            #expect(bench.notices.contains { $0.contains("does not respond to requests with Range") })
        }
    }

    @Test func `an FTP server that refuses the offset sends the whole for a comparison`() {
        var bench = Bench(scheme: .ftp)
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: nil, tag: nil))
        bench.fail(.offsetRefused)
        #expect(bench.requested == .whole)
        bench.respond(ResponseHead(fileLength: Self.total, modified: nil))
        Self.expectComparison(bench)
    }

    @Test func `of bytes with gaps the beginning is compared with the whole`() {
        var bench = Bench()
        let runs = [ByteRange(0, Self.megabyte), ByteRange(2 * Self.megabyte, 3 * Self.megabyte)]
        bench.begin(Bench.journal(runs, total: Self.total, tag: nil))
        bench.respond(Fields.none.whole(Self.total))
        Self.expectComparison(bench)
        #expect(bench.said.contains(.discard(ByteRange(Self.megabyte, 3 * Self.megabyte))))
    }

    // MARK: what is said

    /// Content that differs with each response, over connections that break.
    private static func fickle(_ change: (inout DownloadPlan) -> Void = { _ in }) -> Bench {
        var bench = Bench(change)
        bench.begin()
        for _ in 0..<2 {
            bench.respond(Bench.whole(total, tag: nil))
            bench.progress(to: megabyte)
            bench.fail(.connectionLost)
            bench.ring()
            bench.respond(Bench.part(megabyte - DownloadMachine.overlap, total, of: total, tag: nil))
            bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        }
        return bench
    }

    @Test func `content that differs with each response is the reason of the failure`() {
        var bench = Self.fickle()
        #expect(!bench.machine.server.rangesUsable && bench.requested == .whole)
        for _ in 0..<20 where bench.machine.phase != .failed {
            bench.respond(Bench.whole(Self.total, tag: nil))
            if bench.machine.lanes.list.first?.overlap ?? 0 > 0 {
                bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
            } else {
                bench.progress(to: Self.megabyte)
                bench.fail(.connectionLost)
                bench.ring()
            }
        }
        #expect(bench.machine.failure?.code == .cannotResume)
        #expect(bench.machine.failure?.why.contains("the content changed 6 times") == true)
    }

    @Test func `a server whose ranges were given up since its content differs does send ranges`() {
        var bench = Self.fickle()
        for _ in 0..<3 {
            bench.respond(Bench.whole(Self.total, tag: nil))
            bench.fail(.connectionLost)
            bench.ring()
        }
        let failure = bench.machine.failure
        #expect(failure?.why.contains("sends only the whole file") == false)
        #expect(failure?.why.contains("the content differs between responses") == true)
        #expect(failure?.remedy.text.contains("a server that sends ranges") == false)
    }

    @Test func `the requested range that replaces another one is not called the whole file`() {
        for selection in [RequestedRange.closed(ByteRange(500, 4000)), .from(500)] {
            var bench = Bench { $0.selection = selection }
            bench.begin(Bench.journal([ByteRange(0, 2000)], total: 4000))
            #expect(bench.notices == ["the bytes on disk are of another range: starting over with the requested one"])
            bench.respond(Bench.part(500, 4000, of: 4000))
            #expect(bench.said.contains(.startOver) && bench.notices.isEmpty)
        }
    }
}
