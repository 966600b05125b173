import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Servers that respond with 416, and the right length, to a range within it.
@Suite struct RefusedRangeCaseTests {
    private static func refused(_ total: Int64) -> ResponseHead {
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: total)
        return head
    }

    @Test(arguments: [ResponseHead(status: 416), refused(5000)]) func `a first range without an end is tried with one`(
        refusal: ResponseHead
    ) {
        var bench = Bench { $0.selection = .from(1000) }
        bench.begin()
        #expect(bench.requested == .from(1000))
        bench.respond(refusal)
        #expect(bench.requested == .closed(ByteRange(1000, ByteRange.longestFile)))
        #expect(bench.machine.attempts == 0)
        var failing = bench
        failing.respond(ResponseHead(status: 416))
        #expect(failing.machine.phase == .failed)
        bench.respond(Bench.part(1000, 5000, of: 5000))
        #expect(bench.machine.total == 4000 && bench.machine.lanes.list.first?.isFlowing == true)
    }

    @Test func `where ranges are given up, the whole is requested without one`() {
        var bench = Bench(hosts: ["a.example", "b.example"])
        bench.begin(Bench.journal([ByteRange(0, 400)], total: nil))
        #expect(bench.requested == .from(400))
        bench.respond(ResponseHead(status: 416))
        #expect(bench.requested == .closed(ByteRange(400, ByteRange.longestFile)))
        _ = bench.machine.stop()
        bench.machine.reset(total: nil)
        bench.said = bench.machine.openFirst(now: bench.now)
        #expect(bench.requested == .closed(ByteRange(0, ByteRange.longestFile)))
        var lie = Bench.part(0, 400, of: 400)
        lie.contentLength = 401
        bench.respond(lie)
        #expect(bench.requested == .whole && !bench.machine.server.rangesUsable)
    }

    @Test func `a 416 to a valid range is retried, and the next response continues`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 1000))
        #expect(bench.requested == .closed(ByteRange(400, 1000)))
        bench.respond(Self.refused(1000))
        #expect(bench.machine.phase == .transferring && bench.machine.written == 400)
        #expect(!bench.said.contains(.startOver) && bench.machine.server.rangesUsable)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(400, 1000)))
        bench.respond(Bench.part(400, 1000, of: 1000))
        #expect(bench.machine.lanes.list.first?.isFlowing == true)
    }

    @Test func `valid ranges that are refused again lead to a comparison with the whole`() {
        for retries in [0, 2] {
            var bench = Bench { $0.retry.retries = retries }
            bench.begin(Bench.journal([ByteRange(0, 400)], total: 1000))
            if retries > 0 {
                bench.respond(Self.refused(1000))
                bench.ring()
            }
            bench.respond(Self.refused(1000))
            #expect(bench.requested == .whole && bench.machine.written == 400)
            bench.respond(Bench.whole(1000))
            #expect(!bench.said.contains(.startOver) && bench.machine.written == 400)
            #expect(bench.machine.lanes.list.first?.overlap == 400)
            bench.fail(.connectionLost)
            #expect(bench.machine.written == 400)
            guard retries > 0 else { continue }
            bench.ring()
            #expect(bench.requested == .whole)
            bench.respond(Bench.whole(1000))
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
            bench.progress(to: 1000)
            bench.end(.complete)
            #expect(bench.machine.phase == .publishing)
        }
    }

    @Test func `bytes that cannot be continued are replaced once the whole arrives`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(300, 400), ByteRange(600, 700)], total: 1000))
        bench.respond(Self.refused(1000))
        #expect(bench.machine.server.rangesUsable && bench.machine.attempts == 1)
        bench.ring()
        bench.respond(Self.refused(1000))
        #expect(bench.requested == .whole && bench.machine.written == 200)
        bench.fail(.connectionLost)
        #expect(bench.machine.written == 200 && !bench.said.contains(.startOver))
        bench.ring()
        bench.respond(Bench.whole(1000))
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
        #expect(bench.notices.contains { $0.contains("started over from 0") })
        bench.progress(to: 1000)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `of bytes with gaps the beginning is compared with the whole, and kept`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400), ByteRange(600, 700)], total: 1000))
        bench.respond(Self.refused(1000))
        bench.ring()
        bench.respond(Self.refused(1000))
        #expect(bench.requested == .whole && bench.machine.written == 500)
        bench.respond(Bench.whole(1000))
        #expect(bench.said.contains(.discard(ByteRange(400, 700))) && !bench.said.contains(.startOver))
        #expect(bench.machine.written == 400 && bench.machine.lanes.list.first?.overlap == 400)
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: 1000)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `bytes with gaps stay where the server has sent parts in the same run`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400), ByteRange(600, 700)], total: 1000))
        bench.respond(Bench.part(400, 500, of: 1000))
        bench.progress(to: 500)
        bench.end(.complete)
        for _ in 0..<2 {
            bench.respond(Self.refused(1000))
            bench.ring()
        }
        bench.respond(Self.refused(1000))
        #expect(bench.machine.phase == .failed && bench.machine.written == 600)
    }

    @Test func `an existing file that was continued with gaps is not replaced`() {
        guard case .found(var journal) = Bench.journal([ByteRange(0, 400), ByteRange(600, 700)], total: 1000) else {
            return
        }
        journal.original = 300
        var bench = Bench()
        bench.begin(.found(journal))
        for _ in 0..<2 {
            bench.respond(Self.refused(1000))
            bench.ring()
        }
        bench.respond(Self.refused(1000))
        #expect(bench.machine.phase == .failed && bench.machine.written == 500)
    }

    private static let ends: [TransferEnd] = [
        .failed(TransferFault(.connectionLost, foreign: "it was reset")),
        .failed(TransferFault(.truncated, foreign: "it is short")), .complete, .stopped,
    ]

    @Test(arguments: ends) func `a response that breaks off during the comparison of all bytes discards none`(
        end: TransferEnd
    ) {
        let length = Bench.megabyte
        for refuses in [true, false] {
            var bench = Bench()
            bench.begin(Bench.journal([ByteRange(0, length)], total: length, tag: nil))
            #expect(bench.requested == .closed(ByteRange(length - DownloadMachine.overlap, length)))
            if refuses {
                bench.respond(Self.refused(length))
                bench.ring()
                bench.respond(Self.refused(length))
                #expect(bench.requested == .whole)
            }
            bench.respond(Bench.whole(length, tag: nil))
            #expect(bench.machine.lanes.list.first?.isSettling == true)
            #expect(bench.machine.lanes.list.first?.overlap == length)
            bench.end(end)
            #expect(bench.machine.written == length && !bench.said.contains(.startOver))
            bench.ring()
            #expect(bench.requested == .whole)
            bench.respond(Bench.whole(length, tag: nil))
            #expect(bench.machine.written == length && !bench.said.contains(.startOver))
            #expect(bench.machine.lanes.list.first?.overlap == length)
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
            #expect(bench.machine.phase == .publishing)
        }
    }

    @Test(arguments: ends) func `a part that breaks off during the comparison of its overlap discards nothing`(
        end: TransferEnd
    ) {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 1000, tag: nil))
        #expect(bench.requested == .closed(ByteRange(0, 1000)))
        bench.respond(Bench.part(0, 1000, of: 1000, tag: nil))
        #expect(bench.machine.lanes.list.first?.overlap == 400)
        bench.end(end)
        #expect(bench.machine.written == 400 && !bench.said.contains(.startOver))
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(0, 1000)))
    }

    @Test(arguments: ends)
    func `only a complete body of unknown length shows that the content ends before the bytes on disk`(end: TransferEnd)
    {
        var bench = Bench(scheme: .ftp)
        bench.begin(Bench.journal([ByteRange(0, 400)], total: nil, tag: nil))
        bench.respond(ResponseHead(fileLength: nil, modified: nil))
        #expect(bench.machine.lanes.list.first?.overlap == 400)
        bench.end(end)
        #expect(bench.said.contains(.startOver) == (end == .complete))
        #expect(bench.machine.written == (end == .complete ? 0 : 400))
    }

    @Test func `an FTP server that refuses the offset sends the whole file again`() {
        var bench = Bench(scheme: .ftp)
        bench.begin(Bench.journal([ByteRange(0, 400)], total: nil, tag: nil))
        bench.fail(.offsetRefused)
        #expect(bench.requested == .whole && bench.machine.written == 400)
        #expect(bench.notices.contains { $0.contains("the server refuses the offset") })
        bench.respond(ResponseHead(fileLength: 300, modified: nil))
        #expect(bench.said.contains(.startOver) && bench.machine.total == 300)
    }

    @Test func `an FTP file that proves to be another one at its end starts over`() {
        var bench = Bench(scheme: .ftp)
        bench.begin()
        bench.respond(ResponseHead(fileLength: 300, modified: nil))
        bench.said = bench.machine.claimed(bench.lane, .fresh, now: bench.now)
        bench.progress(to: 300)
        bench.fail(.contentChanged)
        #expect(bench.said.contains(.startOver) && bench.machine.phase == .probing)
        #expect(bench.requested == .whole && bench.machine.written == 0)
    }

    @Test func `a further connection whose valid range is refused is one too many`() {
        var bench = Bench { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(Bench.whole(100 * Bench.megabyte))
        #expect(bench.machine.lanes.list.count == 2)
        bench.respond(Self.refused(100 * Bench.megabyte))
        #expect(bench.machine.lanes.list.count == 1 && bench.machine.server.rangesUsable)
        bench.tick(after: 0.1)
        #expect(bench.machine.lanes.list.first?.end == 100 * Bench.megabyte, "it has its range back")
    }

    @Test func `a valid range that is refused before anything is known is retried, and fails in the end`() {
        var bench = Bench { $0.selection = .closed(ByteRange(100, 200)) }
        bench.begin()
        for _ in 0..<2 {
            bench.respond(Self.refused(1000))
            #expect(bench.machine.phase != .failed)
            bench.ring()
        }
        bench.respond(Self.refused(1000))
        #expect(bench.machine.phase == .failed && bench.machine.failure?.code == .badResponse)
        var beyond = Bench { $0.selection = .closed(ByteRange(1000, 2000)) }
        beyond.begin()
        beyond.respond(Self.refused(1000))
        #expect(beyond.machine.phase == .failed, "a range beyond the end stays one")
    }
}
