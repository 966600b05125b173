import Testing

@testable import PawlCore

/// Responses that are not of the content on disk: coded, of another version, or pages in its place.
@Suite struct ReplacedContentCaseTests {
    @Test func `of a coded body no part is used, neither from a response nor from disk`() {
        var coded = Bench.whole(4000, tag: "v1")
        coded.contentEncoding = "gzip"
        for selection in [RequestedRange.closed(ByteRange(0, 1000)), .from(0), .suffix(1000)] {
            var bench = Bench {
                $0.selection = selection
                $0.retry.retries = 0
            }
            bench.begin()
            bench.answer(coded)
            #expect(bench.machine.phase == .failed && bench.machine.failure?.code == .badResponse)
        }
        for before in [RequestedRange.whole, .closed(ByteRange(0, 1000))] {
            let facts = Representation(selection: before, coding: "gzip", total: 4000)
            var bench = Bench { $0.selection = .closed(ByteRange(0, 1000)) }
            bench.begin(Bench.journal([ByteRange(0, 1000)], of: facts))
            #expect(bench.requested == .closed(ByteRange(0, 1000)))
            bench.answer(Bench.part(0, 1000, of: 4000))
            #expect(bench.said.contains(.startOver))
        }
    }

    @Test func `a body that is no longer coded starts over at once, whatever its length`() {
        var bench = Bench()
        let record = ValidatorRecord(
            source: "http://a.example/f",
            host: "http://a.example",
            validators: Validators(entityTag: EntityTag(opaque: "v1", isWeak: false))
        )
        let facts = Representation(coding: "gzip", total: 4000, records: [record])
        bench.begin(Bench.journal([ByteRange(0, 1000)], of: facts))
        bench.answer(Bench.whole(5000, tag: "v1"))
        #expect(bench.said.contains(.startOver) && bench.machine.remembered.coding == nil)
        #expect(bench.machine.total == 5000)
    }

    @Test(arguments: [WebAddress.Scheme.ftp, .sftp])
    func `the last bytes of a file server's file are requested once its length is known`(
        _ scheme: WebAddress.Scheme
    ) {
        func head(_ length: Int64?) -> ResponseHead { ResponseHead(fileLength: length, modified: nil) }
        var bench = Bench(scheme: scheme) { $0.selection = .suffix(500) }
        bench.begin()
        #expect(bench.requested == .whole)
        var short = bench
        short.answer(head(1))
        #expect(short.machine.total == 1 && short.machine.lanes.first?.stage == .flowing)
        var unknown = bench
        unknown.answer(head(nil))
        #expect(unknown.machine.failure?.code == .badResponse)
        bench.answer(head(70_000))
        #expect(bench.requested == .from(69_500))
        var longer = bench
        longer.answer(head(70_100))
        #expect(longer.requested == .from(69_600))
        bench.answer(head(70_000))
        #expect(bench.machine.total == 500 && bench.machine.lanes.first?.stage == .flowing)
        bench.progress(to: 500)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `a response without validators after a change of the content must come twice`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 1000))
        bench.answer(Bench.part(400, 1200, of: 1200, tag: "v2"))
        #expect(bench.requested == .whole && bench.machine.written == 0)
        bench.answer(Bench.whole(26, tag: nil))
        #expect(bench.machine.phase == .probing && bench.machine.attempts == 1)
        bench.ring()
        var right = bench
        right.answer(Bench.whole(1200, tag: "v2"))
        #expect(right.machine.total == 1200 && right.machine.former == nil)
        bench.answer(Bench.whole(26, tag: nil))
        #expect(bench.machine.total == 26 && bench.machine.lanes.first?.stage == .flowing)
    }

    @Test func `complete bytes that the response at hand contradicts are not finished`() {
        for head in [Bench.whole(1000, tag: "v2"), Bench.whole(1001, tag: "v1")] {
            var bench = Bench()
            bench.begin(nil)
            bench.answer(head)
            #expect(bench.machine.lanes.first?.stage == .claiming)
            let found = Bench.journal([ByteRange(0, 1000)], total: 1000)
            bench.said = bench.machine.claimed(bench.lane, found, now: bench.now)
            #expect(bench.machine.phase == .transferring && bench.machine.lanes.count == 1)
        }
        var same = Bench()
        same.begin(nil)
        same.answer(Bench.whole(1000))
        let found = Bench.journal([ByteRange(0, 1000)], total: 1000)
        same.said = same.machine.claimed(same.lane, found, now: same.now)
        #expect(same.machine.phase == .publishing)
    }

    @Test func `an error page after a change of the content is not its new version`() {
        var bench = Bench()
        bench.machine.name = "film.mkv"
        var facts = Representation(total: 4000)
        facts.mediaType = "video/x-matroska"
        bench.begin(Bench.journal([ByteRange(0, 1000)], of: facts))
        var gone = ResponseHead(status: 416)
        gone.contentRange = .unsatisfied(total: 500)
        bench.answer(gone)
        #expect(bench.requested == .whole)
        var page = Bench.whole(125, tag: nil)
        page.contentType = "text/html"
        bench.answer(page)
        #expect(bench.machine.failure?.code == .badResponse)
        #expect(bench.machine.failure?.description.contains("text/html instead of video/x-matroska") == true)
    }
}
