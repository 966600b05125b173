import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

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
            bench.respond(coded)
            #expect(bench.machine.phase == .failed && bench.machine.failure?.code == .badResponse)
        }
        for before in [RequestedRange.whole, .closed(ByteRange(0, 1000))] {
            let facts = Representation(selection: before, coding: "gzip", total: 4000)
            var bench = Bench { $0.selection = .closed(ByteRange(0, 1000)) }
            bench.begin(Bench.journal([ByteRange(0, 1000)], of: facts))
            #expect(bench.requested == .closed(ByteRange(0, 1000)))
            bench.respond(Bench.part(0, 1000, of: 4000))
            #expect(bench.said.contains(.startOver))
        }
    }

    @Test func `a body that is no longer coded starts over at once, whatever its length`() {
        var bench = Bench()
        let record = ValidatorRecord(
            source: "http://a.example/f", host: "http://a.example",
            validators: Validators(entityTag: EntityTag(opaque: "v1", isWeak: false)))
        let facts = Representation(coding: "gzip", total: 4000, records: [record])
        bench.begin(Bench.journal([ByteRange(0, 1000)], of: facts))
        bench.respond(Bench.whole(5000, tag: "v1"))
        #expect(bench.said.contains(.startOver) && bench.machine.remembered.coding == nil)
        #expect(bench.machine.total == 5000)
    }

    @Test(arguments: [WebAddress.Scheme.ftp, .sftp])
    func `the last bytes of a file server's file are requested once its length is known`(_ scheme: WebAddress.Scheme) {
        func head(_ length: Int64?) -> ResponseHead { ResponseHead(fileLength: length, modified: nil) }
        var bench = Bench(scheme: scheme) { $0.selection = .suffix(500) }
        bench.begin()
        #expect(bench.requested == .whole)
        var short = bench
        short.respond(head(1))
        #expect(short.machine.total == 1 && short.machine.lanes.list.first?.isFlowing == true)
        var unknown = bench
        unknown.respond(head(nil))
        #expect(unknown.machine.failure?.code == .badResponse)
        bench.respond(head(70_000))
        #expect(bench.requested == .from(69_500))
        var longer = bench
        longer.respond(head(70_100))
        #expect(longer.requested == .from(69_600))
        bench.respond(head(70_000))
        #expect(bench.machine.total == 500 && bench.machine.lanes.list.first?.isFlowing == true)
        bench.progress(to: 500)
        bench.end(.complete)
        #expect(bench.machine.phase == (scheme == .sftp ? .transferring : .publishing))
    }

    @Test(arguments: [WebAddress.Scheme.ftp, .sftp])
    func `a part of a file server's file ends with the file, and is requested without an end`(
        _ scheme: WebAddress.Scheme
    ) {
        var bench = Bench(scheme: scheme) { $0.selection = .closed(ByteRange(1000, 9000)) }
        bench.begin()
        #expect(bench.requested == .from(1000))
        var unknown = bench
        bench.respond(ResponseHead(fileLength: 5000, modified: nil))
        #expect(bench.machine.total == 4000)
        bench.progress(to: 4000)
        bench.end(.complete)
        #expect(bench.machine.phase == (scheme == .sftp ? .transferring : .publishing))
        unknown.respond(ResponseHead(fileLength: nil, modified: nil))
        unknown.said = unknown.machine.claimed(unknown.lane, .fresh, now: unknown.now)
        unknown.progress(to: 4000)
        unknown.end(.complete)
        #expect(unknown.machine.phase == .publishing && unknown.machine.written == 4000)
        var rest = Bench(scheme: scheme) { $0.selection = .closed(ByteRange(1000, 9000)) }
        let part = RequestedRange.closed(ByteRange(1000, 9000))
        rest.begin(Bench.journal([ByteRange(0, 400)], total: 5000, tag: nil, selection: part, base: 1000))
        #expect(rest.requested == .from(1000) && rest.machine.lanes.list.first?.overlap == 400)
        var middle = Bench(scheme: scheme) { $0.selection = part }
        middle.begin(Bench.journal([ByteRange(0, 400)], total: 9001, tag: nil, selection: part, base: 1000))
        #expect(middle.requested == part)
    }

    @Test(arguments: [true, false])
    func `the end of an SFTP file is compared, as its length may be that of another one`(agrees: Bool) {
        func complete(_ checksums: [Checksum]) -> Bench {
            var bench = Bench(scheme: .sftp) { $0.checksums = checksums }
            bench.begin()
            bench.respond(ResponseHead(fileLength: 100_000, modified: nil))
            bench.progress(to: 100_000)
            bench.end(.complete)
            return bench
        }
        let checksum = Checksum(algorithm: .sha256, digest: Array(repeating: 1, count: 32))
        #expect(complete([checksum]).machine.phase == .verifying)
        var bench = complete([])
        #expect(bench.requested == .closed(ByteRange(34_464, 100_000)))
        bench.respond(ResponseHead(fileLength: nil, modified: nil))
        bench.said = bench.machine.compared(bench.lane, agreed: agrees, now: bench.now)
        #expect(bench.machine.phase == (agrees ? .publishing : .probing))
        #expect(bench.said.contains(.startOver) != agrees)
    }

    @Test(arguments: [WebAddress.Scheme.ftp, .sftp])
    func `a complete part file of a file server is compared at its end before it is finished`(
        _ scheme: WebAddress.Scheme
    ) {
        var bench = Bench(scheme: scheme)
        let source = bench.machine.sources[0]
        let dated = Validators(entityTag: nil, lastModified: Bench.time(5), date: nil)
        let record = ValidatorRecord(source: source.text, host: source.host, validators: dated)
        let facts = Representation(selection: .whole, base: 0, total: 1000, records: [record])
        bench.begin(Bench.journal([ByteRange(0, 1000)], of: facts))
        #expect(bench.machine.phase == .transferring && bench.machine.lanes.list.first?.isSettling == true)
    }

    @Test func `a file without a length that has no byte of the part ends before it`() {
        for bytes: Int64 in [0, 1] {
            var bench = Bench(scheme: .ftp) { $0.selection = .from(500) }
            bench.begin()
            bench.respond(ResponseHead(fileLength: nil, modified: nil))
            if bytes > 0 { bench.progress(to: bytes) }
            bench.end(.complete)
            #expect(bench.machine.phase == (bytes > 0 ? .publishing : .failed))
            #expect(bench.machine.failure?.code == (bytes > 0 ? nil : .badResponse))
        }
    }

    @Test func `the last bytes of a file without SIZE are requested again where its length may have changed`() {
        var bench = Bench(scheme: .ftp) { $0.selection = .suffix(500) }
        bench.begin()
        bench.respond(ResponseHead(fileLength: 70_000, modified: nil))
        let known = bench.said.compactMap { if case .open(let order) = $0 { order.knownLength } else { nil } }
        #expect(bench.requested == .from(69_500) && known == [70_000])
        bench.respond(ResponseHead(fileLength: nil, modified: nil))
        #expect(bench.requested == .whole)
        while bench.machine.isActive {
            bench.respond(ResponseHead(fileLength: 70_000, modified: nil))
            bench.respond(ResponseHead(fileLength: nil, modified: nil))
        }
        #expect(bench.machine.failure?.code == .badResponse)
    }

    @Test func `a response without validators after a change of the content must come twice`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 1000))
        bench.respond(Bench.part(400, 1200, of: 1200, tag: "v2"))
        #expect(bench.requested == .whole && bench.machine.written == 0)
        bench.respond(Bench.whole(26, tag: nil))
        #expect(bench.machine.phase == .probing && bench.machine.attempts == 1)
        bench.ring()
        var right = bench
        right.respond(Bench.whole(1200, tag: "v2"))
        #expect(right.machine.total == 1200 && right.machine.continuity.former == nil)
        bench.respond(Bench.whole(26, tag: nil))
        #expect(bench.machine.total == 26 && bench.machine.lanes.list.first?.isFlowing == true)
    }

    private static func page(_ length: Int64, _ type: String, tag: String? = nil) -> ResponseHead {
        var page = Bench.whole(length, tag: tag)
        page.contentType = type
        return page
    }

    private static func typedJournal() -> ClaimOutcome {
        let source = Source(WebAddress(scheme: .http, host: "a.example", port: 80, path: "/f", query: nil))
        let tagged = Validators(entityTag: EntityTag(opaque: "v1", isWeak: false))
        let record = ValidatorRecord(source: source.text, host: source.host, validators: tagged)
        return Bench.journal(
            [ByteRange(0, 400)],
            of: Representation(total: 1000, mediaType: "application/octet-stream", records: [record]))
    }

    @Test(arguments: ["text/html", "application/json", "text/plain"])
    func `a page after a change of the content is no version of a file without an ending`(type: String) {
        for tag in [nil, "page"] {
            var bench = Bench()
            bench.machine.named("download")
            bench.begin(Self.typedJournal())
            var change = Bench.part(400, 1200, of: 1200, tag: "v2")
            change.contentType = "application/octet-stream"
            bench.respond(change)
            #expect(bench.requested == .whole && bench.machine.written == 0)
            while bench.machine.isActive {
                bench.respond(Self.page(26, type, tag: tag))
                bench.ring()
                #expect(bench.machine.total == nil)
            }
            #expect(bench.machine.failure?.code == .badResponse)
        }
    }

    @Test func `a 416 with another length discards nothing before the whole has shown to be a new version`() {
        var refused = ResponseHead(status: 416)
        refused.contentRange = .unsatisfied(total: 26)
        refused.contentType = "text/html"
        for tag in [nil, "v2"] {
            var bench = Bench()
            bench.begin(Self.typedJournal())
            bench.respond(refused)
            #expect(bench.requested == .whole && bench.machine.written == 400)
            var right = bench
            right.respond(Self.page(26, "application/octet-stream", tag: tag))
            #expect((right.machine.total == 26) == (tag != nil), "a response without any validator must come twice")
            bench.respond(Self.page(26, "text/html", tag: tag))
            #expect(bench.machine.written == 400 && bench.machine.total == 1000)
        }
    }

    @Test func `a part of a page discards nothing`() {
        var bench = Bench()
        bench.begin(Self.typedJournal())
        var page = Bench.part(400, 600, of: 600, tag: nil)
        page.contentType = "text/html"
        bench.respond(page)
        #expect(bench.machine.written == 400 && bench.machine.failure?.code == .badResponse)
    }

    @Test func `a page of a mirror is not the content of which the first source has sent nothing yet`() {
        var bench = Bench(hosts: ["a.example", "b.example"])
        bench.begin()
        bench.respond(Bench.whole(1000))
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.machine.lanes.list.first?.source == 1 && bench.requested == .whole)
        var page = Bench.whole(26, tag: nil)
        page.contentType = "application/json"
        bench.respond(page)
        #expect(bench.machine.total == nil && bench.machine.phase == .probing)
    }

    @Test func `complete bytes that the response at hand contradicts are not finished`() {
        for head in [Bench.whole(1000, tag: "v2"), Bench.whole(1001, tag: "v1")] {
            var bench = Bench()
            bench.begin(nil)
            bench.respond(head)
            #expect(bench.machine.lanes.list.first?.stage == .claiming)
            let found = Bench.journal([ByteRange(0, 1000)], total: 1000)
            bench.said = bench.machine.claimed(bench.lane, found, now: bench.now)
            #expect(bench.machine.phase == .transferring && bench.machine.lanes.list.count == 1)
        }
        var same = Bench()
        same.begin(nil)
        same.respond(Bench.whole(1000))
        let found = Bench.journal([ByteRange(0, 1000)], total: 1000)
        same.said = same.machine.claimed(same.lane, found, now: same.now)
        #expect(same.machine.phase == .publishing)
    }

    @Test func `an error page after a change of the content is not its new version`() {
        var bench = Bench()
        bench.machine.named("film.mkv")
        var facts = Representation(total: 4000)
        facts.mediaType = "video/x-matroska"
        bench.begin(Bench.journal([ByteRange(0, 1000)], of: facts))
        var gone = ResponseHead(status: 416)
        gone.contentRange = .unsatisfied(total: 500)
        bench.respond(gone)
        #expect(bench.requested == .whole)
        var page = Bench.whole(125, tag: nil)
        page.contentType = "text/html"
        bench.respond(page)
        #expect(bench.machine.failure?.code == .badResponse)
        #expect(bench.machine.failure?.description.contains("text/html instead of video/x-matroska") == true)
    }
}
