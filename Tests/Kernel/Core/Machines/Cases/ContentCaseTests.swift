import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

@Suite struct ContentCaseTests {
    @Test func `the server's time is omitted on request`() {
        var bench = Bench { $0.keepsServerTime = false }
        bench.begin()
        bench.respond(Bench.whole(5, date: 77))
        bench.progress(to: 5)
        bench.end(.complete)
        #expect(bench.said.contains(.publish(length: 5, modified: nil)))
        #expect(
            bench.machine.published() == [.notify(.phase(.finished)), .notify(.finished(length: 5, wasThere: false))])
    }

    @Test func `digests are written and parsed as hexadecimal digits`() {
        #expect(Hexadecimal.text([0, 10, 255] as [UInt8]) == "000aff")
        #expect(Hexadecimal.bytes("000aFF") == [0, 10, 255])
        #expect(Hexadecimal.bytes("") == [])
        #expect(Hexadecimal.bytes("00a") == nil && Hexadecimal.bytes("0g") == nil)
    }

    @Test func `C3 a complete journal needs no request`() {
        for claim in [nil, Bench.journal([ByteRange(0, 1000)], total: 1000)] {
            var bench = Bench()
            bench.begin(claim)
            if claim == nil {
                bench.respond(Bench.whole(1000))
                bench.said = bench.machine.claimed(
                    bench.lane, Bench.journal([ByteRange(0, 1000)], total: 1000), now: bench.now)
            }
            #expect(bench.machine.phase == .publishing && bench.machine.lanes.list.isEmpty)
        }
    }

    @Test func `a complete journal without a validator is not trusted`() {
        for claim in [nil, Bench.journal([ByteRange(0, 1000)], total: 1000, tag: nil)] {
            var bench = Bench()
            bench.begin(claim)
            if claim == nil {
                bench.respond(Bench.whole(1000))
                let journal = Bench.journal([ByteRange(0, 1000)], total: 1000, tag: nil)
                bench.said = bench.machine.claimed(bench.lane, journal, now: bench.now)
            }
            #expect(bench.machine.phase != .publishing && bench.machine.lanes.list.count == 1)
        }
    }

    @Test func `an empty journal accepts the response`() {
        var bench = Bench()
        bench.begin(nil)
        bench.respond(Bench.whole(1000))
        bench.said = bench.machine.claimed(bench.lane, Bench.journal([], total: 1000), now: bench.now)
        #expect(bench.said.contains(.reserve(1000)) && bench.said.contains(.admit(bench.lane)))
        #expect(bench.machine.phase == .transferring && bench.machine.written == 0)
    }

    @Test(arguments: [(Int64(1000), DownloadState.finished), (999, .failed), (1001, .transferring)])
    func `C3 a file that is found after the response is compared with its length`(total: Int64, phase: DownloadState) {
        var bench = Bench()
        bench.begin(nil)
        bench.respond(Bench.whole(total))
        bench.said = bench.machine.claimed(bench.lane, .existing(length: 1000), now: bench.now)
        if total == 1000 {
            bench.respond(Bench.part(0, 1000, of: 1000))
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        #expect(bench.machine.phase == phase)
        // A longer file and a complete one get their names back unchanged.
        #expect(bench.said.contains(.restoreOriginal) == (total <= 1000))
        if total < 1000 { #expect(bench.machine.failure?.code == .cannotResume) }
        if total > 1000 { #expect(bench.requested == .closed(ByteRange(0, 1000))) }
    }

    @Test func `B5 a suffix range that starts over begins at its response's start`() {
        var bench = Bench { $0.selection = .suffix(500) }
        bench.begin(
            Bench.journal([ByteRange(300, 500)], total: 1000, tag: nil, date: 5, selection: .suffix(500), base: 500))
        #expect(bench.machine.lanes.list.last?.work == .restarting && bench.requested == .suffix(500))
        bench.respond(Bench.part(500, 1000, of: 1000, tag: nil, date: 5))
        #expect(bench.said.contains(.startOver) && bench.machine.total == 500)
        bench.progress(to: 100)
        bench.fail(.connectionLost)
        bench.ring()
        // Existing bytes are compared first.
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
    }

    @Test func `A8 a URL that replaced another is remembered if its bytes agree`() {
        var bench = Bench(hosts: ["a.example", "b.example"]) { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(Bench.whole(8 * Bench.megabyte))
        _ = bench.machine.claimed(bench.lane, .fresh, now: bench.now)
        bench.progress(to: Bench.megabyte)
        let other = WebAddress(scheme: .http, host: "c.example", port: 80, path: "/f", query: nil)
        bench.said = bench.machine.replaceSource(1, with: other, now: bench.now)
        for _ in 0..<3 where bench.machine.lanes.list.last?.work != .settling { bench.tick(after: 1) }
        #expect(bench.machine.lanes.list.last?.isSettling == true)
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.said.contains(.record))
        #expect(bench.machine.provenAddresses.contains(other.text))
    }

    @Test func `a late total that is less than the existing bytes means other content`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 200_000)], total: nil, tag: nil, date: 5))
        guard case .from(let start) = bench.requested else {
            Issue.record("\(String(describing: bench.requested))")
            return
        }
        #expect(start < 150_000)
        bench.respond(Bench.part(start, 150_000, of: 150_000, tag: nil, date: 5))
        #expect(bench.notices.first?.contains("it has 150000 bytes, fewer than are on disk") == true)
    }

    @Test func `a part that is complete is complete even without a known total`() {
        var bench = Bench { $0.selection = .closed(ByteRange(100, 200)) }
        bench.begin(Bench.journal([ByteRange(0, 100)], total: nil, selection: .closed(ByteRange(100, 200)), base: 100))
        #expect(bench.machine.phase == .publishing && bench.machine.lanes.list.isEmpty)
    }

    @Test func `a part ends where it was requested to end, even when it is compared without a length`() {
        var bench = Bench { $0.selection = .closed(ByteRange(0, 200)) }
        var whole = Bench.whole(nil, tag: nil)
        whole.acceptRanges = .none
        bench.begin()
        bench.respond(whole)
        bench.progress(to: 100)
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(whole)
        #expect(bench.machine.lanes.list.map(\.overlap) == [100] && !bench.said.contains(.startOver))
        #expect(bench.machine.lanes.list.map(\.end) == [200])
    }

    @Test func `a complete journal without a validator is compared`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 1000)], total: 1000, tag: nil))
        #expect(bench.requested == .closed(ByteRange(0, 1000)))
        bench.respond(Bench.part(0, 1000, of: 1000, tag: nil))
        #expect(bench.said.contains(.admit(bench.lane)))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.machine.phase == .publishing && bench.machine.lanes.list.isEmpty)
    }

    @Test func `starting over because nothing can be compared is reported`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(500, 1000)], total: 1000, tag: nil, date: 5))
        #expect(bench.requested == .whole)
        #expect(bench.notices.contains { $0.contains("the bytes on disk cannot be compared") })
    }

    @Test func `the journal records the source of its values`() {
        var bench = Bench(hosts: ["a.example", "b.example"])
        bench.begin()
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(Bench.whole(1000))
        let said = bench.machine.remembered.records
        #expect(said.map(\.source) == ["http://b.example/f"] && said.map(\.host) == ["http://b.example"])
        #expect(bench.machine.remembered.total == 1000)
    }

    @Test func `E2 content that changes with every full response is a failure`() {
        var bench = Bench()
        bench.begin()
        for turn in 1...20 where bench.machine.phase != .failed {
            var head = Bench.whole(1000, tag: "v\(turn)", date: Int64(turn))
            head.acceptRanges = .none
            bench.respond(head)
            bench.progress(to: Int64(turn * 10))
            bench.fail(.connectionLost)
            bench.ring()
        }
        #expect(bench.machine.failure?.code == .cannotResume)
        #expect(bench.machine.failure?.why.contains("changed 6 times") ?? false)
    }

    @Test func `sources with different totals have changed content`() {
        var bench = Bench(hosts: ["a.example", "b.example"])
        bench.begin()
        bench.respond(Bench.whole(nil))
        bench.progress(to: 500)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.machine.lanes.list.last?.source == 1)
        bench.respond(Bench.part(0, 1000, of: 1000, tag: nil))
        _ = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.machine.total == 1000)
        bench.progress(to: 600)
        bench.fail(.connectionLost)
        bench.ring()
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.machine.lanes.list.last?.source == 0 && bench.requested == .closed(ByteRange(600, 1000)))
        bench.respond(Bench.part(600, 900, of: 900))
        #expect(bench.machine.budget.restarts == 1 && bench.said.contains(.startOver))
    }

    @Test func `A9 a 416 that contradicts the existing bytes is changed content`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(300, 500)], total: nil))
        var refusal = ResponseHead(status: 416)
        refusal.contentRange = .unsatisfied(total: 0)
        bench.respond(refusal)
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
    }

    @Test func `fewer bytes than the comparison needs show that ranges do not work`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 500_000)], total: 1_000_000, tag: nil, date: 5))
        let start = 500_000 - DownloadMachine.overlap
        #expect(bench.requested == .closed(ByteRange(start, 1_000_000)))
        bench.respond(Bench.part(start, start + 100, of: 1_000_000, tag: nil, date: 5))
        #expect(!bench.machine.server.rangesUsable && bench.requested == .whole)
    }

    @Test func `bytes before no gap prove nothing where tags vary`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(500_000, 1_000_000)], total: 1_000_000, date: 5))
        #expect(bench.requested == .closed(ByteRange(0, 500_000)))
        bench.respond(Bench.part(0, 500_000, of: 1_000_000, tag: "token", date: 5))
        #expect(bench.requested == .closed(ByteRange(0, 1)))
        bench.respond(Bench.part(0, 1, of: 1_000_000, tag: "other", date: 5))
        #expect(bench.machine.lanes.list.last?.work == .restarting && bench.requested == .whole)
        #expect(bench.notices.contains { $0.contains("the bytes on disk cannot be compared") })
    }

    @Test func `a comparison with too few bytes is inconclusive`() {
        var bench = Bench()
        bench.begin(
            Bench.journal([ByteRange(500_000, 1_000_000)], of: Representation(selection: nil, total: 1_000_000)))
        let start: Int64 = 500_000
        bench.respond(Bench.part(start, start + 10, of: 1_000_000, tag: "other", date: 5))
        #expect(bench.machine.lanes.list.last?.work == .restarting && bench.requested == .whole)
    }

    @Test func `a gap at the start is skipped for one that can be compared`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(200_000, 400_000)], total: 1_000_000, tag: nil, date: 5))
        #expect(bench.requested == .closed(ByteRange(400_000 - DownloadMachine.overlap, 1_000_000)))
    }
}
