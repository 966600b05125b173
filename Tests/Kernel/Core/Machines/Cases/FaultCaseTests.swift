import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

@Suite struct FaultCaseTests {
    @Test(arguments: [
        (TransferFault.Kind.tls, "certificate authority"), (.denied, "user name"), (.nameResolution, "host's name"),
        (.nameMissing, "host's name"), (.proxy, "the proxy"), (.notFound, "URL"),
        (.privateAddress, "private addresses"), (.connectionRefused, "the host and the port"),
        (.connectTimeout, "the host and the port"), (.unreachable, "the host and the port"), (.connectionLost, "later"),
        (.truncated, "later"), (.malformed, "owner"), (.other, "later"),
    ]) func `a failure has a remedy`(kind: TransferFault.Kind, advice: String) {
        var bench = Bench { $0.retry.retries = 0 }
        bench.begin()
        bench.fail(kind)
        #expect(bench.machine.phase == .failed)
        #expect(bench.machine.failure?.remedy.text.contains(advice) ?? false)
    }

    @Test func `a failure of TLS whose cause is known is not blamed on the clock`() {
        let plain = TransferFault(.tls, LocalizableMessage("tls-not-spoken", "no TLS"))
        #expect(plain.remedy?.text.contains("a scheme without TLS") == true)
        #expect(TransferFault.unusableAuthorities.remedy?.text.contains("clock") == false)
        #expect(TransferFault(.tls, LocalizableMessage("other", "no")).remedy?.text.contains("clock") == true)
    }

    @Test(arguments: [
        (401, "user name"), (403, "expired"), (404, "URL"), (407, "the proxy"), (429, "later"), (400, ""),
    ]) func `a status has a remedy`(status: Int, advice: String) {
        var bench = Bench { $0.retry.retries = 0 }
        bench.begin()
        bench.respond(ResponseHead(status: status))
        #expect(bench.machine.failure.map { $0.remedy.text.contains(advice) || $0.remedy.text == advice } ?? false)
        #expect(bench.machine.failure?.why == LocalizableMessage.httpStatus(status).description)
        #expect(bench.machine.failure?.why.hasPrefix("the server returned \(status)") == true)
    }

    @Test(arguments: [true, false]) func `a stream that fails leaves no partial file, and says nothing of one`(
        isFile: Bool
    ) {
        func run(_ change: (inout DownloadPlan) -> Void = { _ in }, _ end: (inout Bench) -> Void) -> String? {
            var bench = Bench {
                $0.keepsPartial = isFile
                $0.retry.retries = 0
                change(&$0)
            }
            bench.begin()
            bench.respond(Bench.whole(1000))
            bench.progress(to: 500)
            end(&bench)
            #expect(bench.machine.phase == .failed)
            return bench.machine.failure?.description
        }
        let sentences = [
            run { $0.fail(.connectionLost) }, run { $0.tick(after: 31) },
            run(
                { $0.checksums = [Checksum(algorithm: .md5, digest: [1])] },
                { bench in
                    bench.progress(to: 1000)
                    bench.end(.complete)
                    bench.said = bench.machine.digested([2])
                }),
        ]
        for sentence in sentences {
            #expect(sentence?.contains("partial") == isFile, "\(sentence ?? "")")
            if !isFile { #expect(sentence?.contains("resume") == false) }
        }
    }

    @Test func `a redirect's target may expire again after it has shown that the content changed`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 1000))
        let given = bench.machine.sources[0].given
        bench.respond(Bench.redirect(to: "http://a.example/f?token=1"))
        bench.respond(ResponseHead(status: 403))
        #expect(bench.machine.sources[0].current == given)
        bench.respond(Bench.redirect(to: "http://a.example/f?token=2"))
        bench.respond(Bench.part(400, 1200, of: 1200))
        #expect(bench.said.contains(.startOver) && bench.requested == .whole)
        bench.respond(ResponseHead(status: 403))
        #expect(bench.machine.phase == .probing && bench.machine.sources[0].current == given)
    }

    @Test(arguments: [
        ("ftp://b.example/f", "it points to ftp://b.example/f"), ("http://[::1", ""), ("file:///etc/passwd", ""),
    ]) func `a redirect leads to http or https or is refused`(place: String, why: String) {
        var bench = Bench()
        bench.begin()
        bench.respond(Bench.redirect(to: place))
        #expect(bench.machine.phase == .failed)
        #expect(bench.machine.failure?.code == .badResponse)
        #expect(bench.machine.failure?.what == "cannot follow the redirect of")
        #expect(bench.machine.failure?.why.isEmpty == false)
        if !why.isEmpty { #expect(bench.machine.failure?.why == why) }
    }

    @Test func `without retries each mirror is still tried once`() {
        var bench = Bench(hosts: ["a.example", "b.example", "c.example"]) { $0.retry.retries = 0 }
        bench.begin()
        var requested: [String] = []
        while bench.machine.phase != .failed, requested.count < 10 {
            requested.append(bench.machine.sources[bench.machine.lanes.list[0].source].given.host)
            bench.fail(.connectionRefused)
        }
        #expect(requested == ["a.example", "b.example", "c.example"])
        #expect(bench.machine.failure?.place.contains("c.example") == true)
    }

    @Test func `a length other than the announced one is refused before a byte of it is written`() {
        var bench = Bench(hosts: ["a.example", "b.example"]) { $0.length = 100 }
        bench.begin()
        bench.respond(Bench.whole(99))
        #expect(bench.notices.contains { $0.contains("it has 99 bytes instead of the expected 100") })
        bench.respond(Bench.whole(101))
        #expect(bench.machine.phase == .failed)
        #expect(bench.machine.failure?.code == .badResponse)
        #expect(bench.machine.failure?.why == "it has 101 bytes instead of the expected 100")
        #expect(bench.machine.written == 0)
    }

    @Test(arguments: [(Int64(100), DownloadState.publishing), (99, .failed), (101, .failed)])
    func `a length that was not announced is checked at the end`(length: Int64, phase: DownloadState) {
        var bench = Bench { $0.length = 100 }
        bench.begin()
        bench.respond(Bench.whole(nil))
        bench.progress(to: length)
        bench.end(.complete)
        #expect(bench.machine.phase == phase)
        if phase == .failed { #expect(bench.machine.failure?.code == .checksumMismatch) }
    }

    @Test func `events of closed lanes are ignored`() {
        var bench = Bench()
        bench.begin()
        let gone = LaneID(rawValue: 99)
        let before = bench.machine
        bench.respond(Bench.whole(5), to: gone)
        #expect(bench.said.isEmpty)
        bench.end(.complete, lane: gone)
        #expect(bench.said.isEmpty)
        bench.progress(to: 5, lane: gone)
        #expect(bench.machine.claimed(gone, .fresh, now: bench.now).isEmpty)
        #expect(bench.machine.claimed(bench.lane, .fresh, now: bench.now).isEmpty)
        #expect(bench.machine.compared(gone, agreed: false, now: bench.now).isEmpty)
        #expect(bench.machine.denied(gone, until: nil, now: bench.now).isEmpty)
        #expect(bench.machine.rang(77, now: bench.now).isEmpty)
        #expect(bench.machine == before)
    }

    @Test func `E1 a timeout of a range request is followed by one request without a range`() {
        var bench = Bench { $0.timeout = .seconds(10) }
        bench.begin(Bench.journal([ByteRange(0, 500)], total: 1000))
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
        bench.tick(after: 11)
        #expect(bench.requested == .whole && bench.machine.lanes.list.last?.work == .restarting)
        #expect(bench.notices == ["no response to a request with Range: retrying without it"])
        bench.respond(Bench.whole(1000))
        #expect(!bench.said.contains(.startOver) && !bench.machine.server.rangesUsable)
        #expect(bench.machine.lanes.list.first?.overlap == 500, "it is the same version: nothing is discarded")
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: 600)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == .whole)
    }

    @Test func `E1 a suspended time is not a timeout, and time after it is`() {
        var bench = Bench { $0.timeout = .seconds(10) }
        bench.begin(Bench.journal([ByteRange(0, 500)], total: 1000))
        bench.now = bench.now + .seconds(60)
        bench.machine.stoodStill(for: .seconds(55), now: bench.now)
        bench.tick(after: 4)
        #expect(bench.said.isEmpty && bench.requested == .closed(ByteRange(500, 1000)))
        bench.tick(after: 4)
        #expect(bench.requested == .whole)
    }

    @Test func `E1 a timeout of both means a silent server, and the range is tried again`() {
        var bench = Bench { $0.timeout = .seconds(10) }
        bench.begin(Bench.journal([ByteRange(0, 500)], total: 1000))
        bench.tick(after: 11)
        bench.tick(after: 11)
        #expect(bench.machine.written == 500 && bench.machine.lanes.list.isEmpty)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
    }

    @Test func `E1 after a 206, one timeout does not mark ranges broken, two do`() {
        var bench = Bench { $0.timeout = .seconds(10) }
        bench.begin(Bench.journal([ByteRange(0, 500)], total: 1000))
        bench.respond(Bench.part(500, 1000, of: 1000))
        bench.progress(to: 600)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(600, 1000)))
        bench.tick(after: 11)
        #expect(bench.notices.isEmpty && bench.machine.lanes.list.isEmpty)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(600, 1000)))
        bench.tick(after: 11)
        #expect(bench.notices == ["no response to a request with Range: retrying without it"])
        #expect(bench.requested == .whole && bench.machine.written == 600)
    }

    @Test(arguments: [false, true]) func `E1 ranges without a response are given up only where none was ever sent`(
        sendsParts: Bool
    ) {
        let total = 100 * Bench.megabyte
        var bench = Bench {
            $0.ramp = .fixed(4)
            $0.timeout = .seconds(10)
        }
        bench.begin()
        bench.respond(Bench.whole(total))
        let asking = bench.machine.lanes.list.filter { $0.stage == .asking }
        #expect(asking.count == 3)
        if sendsParts, case .closed(let range) = asking[0].request.range {
            bench.respond(Bench.part(range.start, range.end, of: total), to: asking[0].id)
        }
        for _ in 0..<12 {
            for lane in bench.machine.lanes.list where lane.isFlowing {
                bench.progress(to: lane.cursor + 1000, lane: lane.id)
            }
            bench.tick(after: 1)
        }
        #expect(bench.machine.lanes.list.allSatisfy { $0.isFlowing }, "the others were dropped")
        #expect(bench.machine.server.rangesUsable == sendsParts)
    }

    @Test func `a file server is requested over one connection and compared on resume`() {
        var bench = Bench(scheme: .ftp) { $0.ramp = .fixed(4) }
        bench.begin(Bench.journal([ByteRange(0, 8 * Bench.megabyte)], total: 100 * Bench.megabyte, tag: nil))
        #expect(bench.requested == .from(8 * Bench.megabyte - DownloadMachine.overlap))
        bench.respond(ResponseHead(fileLength: 100 * Bench.megabyte, modified: nil))
        _ = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: 9 * Bench.megabyte)
        bench.tick(after: 1)
        #expect(bench.machine.lanes.list.count == 1)
    }
}
