import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Connections that break before they have sent the bytes to compare and others after them.
@Suite struct ShortResponseCaseTests {
    private static let megabyte = Bench.megabyte
    private static let total = 4 * megabyte
    private static let overlap = DownloadMachine.overlap
    private static let start = megabyte

    /// A download whose resumed request broke after `count` bytes, all of which were to be compared.
    private static func broken(after count: Int64, tag: String? = nil) -> Bench {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, start)], total: total, tag: tag))
        #expect(bench.requested == .closed(ByteRange(start - overlap, total)))
        bench.respond(Bench.part(start - overlap, total, of: total, tag: tag))
        bench.bring(count)
        bench.fail(.connectionLost)
        bench.ring()
        return bench
    }

    @Test func `the bytes are compared in parts that such a connection has brought, the last of them with new ones`() {
        var bench = Self.broken(after: 40_000)
        var parts: [ByteRange] = []
        while bench.machine.lanes.list.first?.isSettling == true, case .closed(let part)? = bench.requested {
            parts.append(part)
            #expect(part.count <= 30_000)
            bench.respond(Bench.part(part.start, part.end, of: Self.total, tag: nil))
            bench.bring(part.count)
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        #expect(bench.requested == .closed(ByteRange(Self.start - 10_000, Self.total)))
        #expect(parts.first?.end == Self.start - 10_000 && parts.last?.start == Self.start - Self.overlap)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.start == $1.end })
        bench.respond(Bench.part(Self.start - 10_000, Self.total, of: Self.total, tag: nil))
        bench.bring(10_000)
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: Self.start + 30_000)
        bench.fail(.connectionLost)
        #expect(bench.machine.written == Self.start + 30_000 && bench.machine.attempts == 1)
        bench.ring()
        // What was compared for the last response says nothing of the next one.
        #expect(bench.machine.lanes.list.first?.isSettling == true)
        #expect(bench.requested == .closed(ByteRange(Self.start - 10_000, Self.start + 20_000)))
    }

    @Test func `a few bytes that always end at the same place are the last ones of the content`() {
        var bench = Bench { $0.selection = .from(0) }
        bench.begin(Bench.journal([ByteRange(0, Self.start)], total: nil, tag: nil, selection: .from(0)))
        let end = Self.start + 3_000
        for _ in 0..<100 where bench.machine.isActive && bench.machine.written == Self.start {
            switch bench.requested {
            case .closed(let part):
                bench.respond(Bench.part(part.start, part.end, of: nil, tag: nil))
                bench.bring(part.count)
                bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
            case .from(let offset):
                bench.respond(Bench.part(offset, end, of: nil, tag: nil))
                guard bench.machine.lanes.list.last?.isFlowing == true else { continue }
                bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
                bench.progress(to: end)
                bench.end(.complete)
            default: Issue.record("\(bench.said)")
            }
        }
        #expect(bench.machine.failure == nil && bench.machine.written == end)
    }

    @Test func `a request that got no response is repeated without comparing the parts before it again`() {
        var bench = Self.broken(after: 40_000)
        while bench.machine.lanes.list.first?.isSettling == true, case .closed(let part)? = bench.requested {
            bench.respond(Bench.part(part.start, part.end, of: Self.total, tag: nil))
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        let last = RequestedRange.closed(ByteRange(Self.start - 10_000, Self.total))
        #expect(bench.requested == last)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == last)
    }

    @Test func `a connection that broke at once does not hide that the server sends short parts`() {
        var bench = Bench()
        bench.begin(.existing(length: Self.start))
        var requests = 0
        while bench.machine.isActive, requests < 200 {
            requests += 1
            guard case .closed(let part)? = bench.requested else { break }
            bench.respond(Bench.part(part.start, min(part.end, part.start + 20_000), of: nil, tag: nil))
            guard bench.machine.lanes.list.last?.isFlowing == true else { continue }
            if requests == 1 {
                bench.bring(3_000)
                bench.fail(.connectionLost)
                bench.ring()
            } else {
                bench.bring(part.count)
                bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
            }
        }
        #expect(requests < 200, "\(bench.said)")
    }

    @Test func `a part that differs is another version`() {
        var bench = Self.broken(after: 40_000)
        guard case .closed(let part)? = bench.requested else { return }
        bench.respond(Bench.part(part.start, part.end, of: Self.total, tag: nil))
        bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
    }

    @Test func `connections that bring less than twice the least comparison end the retries`() {
        var bench = Self.broken(after: 8_000)
        #expect(bench.requested == .closed(ByteRange(Self.start - Self.overlap, Self.total)))
        for _ in 1...2 {
            bench.respond(Bench.part(Self.start - Self.overlap, Self.total, of: Self.total, tag: nil))
            bench.bring(8_000)
            bench.fail(.connectionLost)
            bench.ring()
        }
        #expect(bench.machine.failure?.code == .network && bench.machine.written == Self.start)
    }

    @Test func `without any progress the retries end, and the failure says what broke`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.start)], total: Self.total, tag: nil))
        var requests = 0
        while bench.machine.phase == .transferring, requests < 20, case .closed(let part)? = bench.requested {
            requests += 1
            bench.respond(Bench.part(part.start, part.end, of: Self.total, tag: nil))
            bench.bring(100)
            bench.fail(.connectionLost)
            bench.ring()
        }
        #expect(requests == 3 && bench.machine.failure?.code == .network)
        let text = bench.machine.failure?.description ?? ""
        #expect(text.contains("before it had sent the bytes to compare") && text.contains("digests of pieces"))
        #expect(bench.machine.written == Self.start)
    }

    @Test func `a connection that brings many bytes again ends the comparison in parts`() {
        var bench = Self.broken(after: 40_000)
        #expect(bench.machine.sources[0].parts.breaksAfter == 40_000)
        while bench.machine.lanes.list.first?.isSettling == true, case .closed(let part)? = bench.requested {
            bench.respond(Bench.part(part.start, part.end, of: Self.total, tag: nil))
            bench.bring(part.count)
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        bench.respond(Bench.part(Self.start - 10_000, Self.total, of: Self.total, tag: nil))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.bring(400_000)
        bench.progress(to: Self.start + 390_000)
        bench.fail(.connectionLost)
        bench.ring()
        let resumed = Self.start + 390_000
        #expect(bench.requested == .closed(ByteRange(resumed - Self.overlap, Self.total)))
    }

    @Test func `a complete file that only a comparison can prove is compared in parts`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.start)], total: Self.start, tag: nil))
        #expect(bench.requested == .closed(ByteRange(Self.start - Self.overlap, Self.start)))
        bench.respond(Bench.part(Self.start - Self.overlap, Self.start, of: Self.start, tag: nil))
        bench.bring(40_000)
        bench.fail(.connectionLost)
        bench.ring()
        var compared: Int64 = 0
        while bench.machine.lanes.list.first?.isSettling == true, compared <= Self.overlap,
            case .closed(let part)? = bench.requested
        {
            #expect(part.count <= 30_000)
            compared += part.count
            bench.respond(Bench.part(part.start, part.end, of: Self.start, tag: nil))
            bench.bring(part.count)
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        #expect(compared == Self.overlap && bench.machine.phase == .publishing)
    }

    @Test
    func
        `a server whose parts are shorter than the bytes to compare gets requests for shorter ones where the whole breaks`()
    {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.start)], total: Self.total, tag: nil))
        let first = Self.start - Self.overlap
        bench.respond(Bench.part(first, first + 20_000, of: Self.total, tag: nil))
        // The whole may be the faster way.
        #expect(bench.requested == .whole && !bench.machine.server.rangesUsable)
        bench.respond(Bench.whole(Self.total, tag: nil))
        bench.bring(Self.start / 2)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.machine.server.rangesUsable && bench.machine.lanes.list.first?.isSettling == true)
        var requests = 0
        let wanted = Self.start + 30_000
        while bench.machine.written < wanted, requests < 50, case .closed(let part)? = bench.requested {
            requests += 1
            let lane = bench.machine.lanes.list.last
            let end = min(part.end, part.start + 20_000)
            bench.respond(Bench.part(part.start, end, of: Self.total, tag: nil))
            bench.bring(lane?.overlap ?? 0)
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
            guard lane?.isData == true else { continue }
            bench.progress(to: end)
            bench.end(.complete)
        }
        #expect(bench.machine.written == wanted && bench.machine.attempts == 0)
    }

    @Test func `parts that are too short for anything but a comparison end the retries`() {
        var bench = Bench { $0.selection = .from(0) }
        let facts = Representation(selection: .from(0), total: Self.total)
        bench.begin(Bench.journal([ByteRange(0, Self.start)], of: facts))
        for _ in 1...3 {
            guard case .closed(let part)? = bench.requested else { break }
            bench.respond(Bench.part(part.start, part.start + 5_000, of: Self.total, tag: nil))
            bench.ring()
        }
        #expect(bench.machine.failure?.code == .badResponse && bench.machine.written == Self.start)
    }

    @Test func `where only whole files are sent and all break, the failure says what to do`() {
        var bench = Bench()
        bench.begin()
        bench.respond(Bench.whole(Self.total, tag: nil))
        bench.progress(to: Self.start)
        bench.fail(.connectionLost)
        bench.ring()
        while bench.machine.phase == .transferring || bench.machine.phase == .probing {
            bench.respond(Bench.whole(Self.total, tag: nil))
            bench.progress(to: Self.start)
            bench.fail(.truncated)
            bench.ring()
        }
        let text = bench.machine.failure?.description ?? ""
        #expect(text.contains("sends only the whole file") && text.contains("mirror"))
        #expect(text.contains("the partial file is kept"))
    }

    @Test func `samples of an existing file are divided as well`() {
        var bench = Bench()
        bench.begin(.existing(length: Self.megabyte))
        var requests = 0
        var isBroken = false
        while bench.machine.lanes.list.first?.isSettling == true, requests < 30,
            case .closed(let part)? = bench.requested
        {
            requests += 1
            bench.respond(Bench.part(part.start, part.end, of: Self.total, tag: nil))
            if part.count > 20_000 {
                isBroken = true
                bench.bring(20_000)
                bench.fail(.connectionLost)
                bench.ring()
                continue
            }
            bench.bring(part.count)
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        #expect(isBroken && bench.machine.lanes.list.first?.isData == true)
        #expect(bench.machine.samples.isEmpty)
    }
}

extension Bench {
    /// The lane receives so many bytes that it compares.
    fileprivate mutating func bring(_ count: Int64) {
        let before = machine.lanes.list.last?.speed.received ?? 0
        let cursor = machine.lanes.list.last?.cursor ?? 0
        machine.progressed(lane, cursor: cursor, received: before + count, waits: false, now: now)
    }
}
