import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// The origin of bytes on disk, and the proof that a response has to give.
@Suite struct IdentityCaseTests {
    private static let megabyte = Bench.megabyte
    private static let overlap = DownloadMachine.overlap

    // MARK: another tag

    @Test(arguments: [false, true])
    func `bytes are compared after a third tag, which another host's redirected response does not show`(
        isRedirected: Bool
    ) {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: 2 * Self.megabyte))
        bench.respond(Bench.part(Self.megabyte, 2 * Self.megabyte, of: 2 * Self.megabyte, tag: "v2"))
        if isRedirected { bench.respond(Bench.redirect(to: "http://b.example/f")) }
        bench.respond(Bench.part(0, 1, of: 2 * Self.megabyte, tag: "v3"))
        #expect(bench.notices.count == (isRedirected ? 0 : 1))
        #expect(bench.machine.remembered.records.map(\.stability) == [.varying])
        #expect(!bench.said.contains(.startOver) && bench.machine.written == Self.megabyte)
    }

    // MARK: the requested part

    @Test(
        arguments: [
            (.from(1_000_000), .whole), (.whole, .from(1_000_000)), (.from(5), .from(6)),
            (.closed(ByteRange(5, 500)), .closed(ByteRange(100, 600))), (.suffix(50), .whole),
            (.closed(ByteRange(5, 500)), .suffix(50)),
        ] as [(RequestedRange, RequestedRange)])
    func `bytes of another part are replaced by the first accepted response`(
        before: RequestedRange, now: RequestedRange
    ) {
        let plan = DownloadPlan(sources: [
            WebAddress(scheme: .http, host: "a.example", port: 80, path: "/f", query: nil)
        ])
        var selected = plan
        selected.selection = before
        var bench = Bench { $0.selection = now }
        let base = selected.base(total: 2_000_000)
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 2_000_000, selection: before, base: base))
        #expect(bench.machine.phase == .transferring && bench.requested == now)
        #expect(bench.notices.contains { $0.contains("another range") })
        // Until then the journal records what they are.
        #expect(bench.machine.remembered.selection == before && bench.machine.remembered.base == base)
        bench.respond(ResponseHead(status: 404))
        #expect(bench.machine.phase == .failed && bench.said.contains(.close(keeping: true)))
        #expect(!bench.said.contains(.startOver))
    }

    @Test func `bytes of another part are gone when the requested ones arrive`() {
        var bench = Bench { $0.selection = .from(1000) }
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 5000))
        bench.respond(Bench.part(1000, 5000, of: 5000))
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
        #expect(bench.machine.remembered.selection == .from(1000) && bench.machine.remembered.base == 1000)
        #expect(bench.machine.total == 4000)
    }

    @Test func `bytes that both parts share stay in place`() {
        var longer = Bench()
        longer.begin(Bench.journal([ByteRange(0, 400)], total: 5000, selection: .closed(ByteRange(0, 400))))
        #expect(longer.requested == .closed(ByteRange(400, 5000)))
        var shorter = Bench { $0.selection = .closed(ByteRange(0, 300)) }
        shorter.begin(Bench.journal([ByteRange(0, 400)], total: 5000))
        #expect(shorter.machine.phase == .publishing)
        #expect(shorter.said.contains(.publish(length: 300, modified: nil)))
    }

    @Test func `a journal without a recorded part is compared at both ends and in the middle`() {
        var old = Representation(selection: nil, base: nil)
        old.total = 8 * Self.megabyte
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 4 * Self.megabyte)], of: old))
        for start in [0, 2 * Self.megabyte, 4 * Self.megabyte - Self.overlap] {
            #expect(bench.requested == .closed(ByteRange(start, start + Self.overlap)))
            #expect(bench.machine.remembered.selection == nil)
            bench.respond(Bench.part(start, start + Self.overlap, of: 8 * Self.megabyte))
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        #expect(bench.machine.remembered.selection == .whole)
        #expect(bench.requested == .closed(ByteRange(4 * Self.megabyte, 8 * Self.megabyte)))
    }

    // MARK: content coding

    @Test func `plain bytes are never appended to coded ones`() {
        var coded = Representation(coding: "gzip", total: nil)
        coded.prove(
            "http://a.example/f", at: "http://a.example", Validators(entityTag: EntityTag(opaque: "v1", isWeak: false)))
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], of: coded))
        #expect(bench.requested == .whole && bench.machine.lanes.list.last?.work == .restarting)
        bench.respond(Bench.whole(5000))
        #expect(bench.said.contains(.startOver) && bench.machine.remembered.coding == nil)
    }

    @Test func `a response of another coding is another version even with the same tag`() {
        var bench = Bench()
        bench.begin()
        var coded = Bench.whole(nil)
        coded.contentEncoding = "GZIP"
        bench.respond(coded)
        #expect(bench.machine.remembered.coding == "gzip")
        bench.progress(to: 400)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == .whole)
        var other = Bench()
        other.begin(Bench.journal([ByteRange(0, 400)], total: nil))
        var part = Bench.part(400, 5000, of: 5000)
        part.contentEncoding = "br"
        other.respond(part)
        #expect(other.requested == .whole && other.machine.lanes.list.last?.work == .restarting)
        part = Bench.whole(nil)
        part.contentEncoding = "br"
        other.respond(part)
        #expect(other.machine.written == 0 && other.said.contains(.startOver))
        #expect(other.machine.remembered.coding == "br")
    }

    // MARK: totals

    @Test func `a response of another total before any byte was written is another version`() {
        var bench = Bench { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(Bench.whole(20 * Self.megabyte))
        bench.tick(after: 0.1)
        #expect(bench.machine.lanes.list.count == 2)
        let (first, second) = (bench.machine.lanes.list[0].id, bench.machine.lanes.list[1].id)
        bench.fail(.connectionLost, lane: first)
        #expect(bench.machine.written == 0)
        let start = 10 * Self.megabyte
        bench.respond(Bench.part(start, 20 * Self.megabyte, of: 30 * Self.megabyte, tag: "v2"), to: second)
        #expect(bench.machine.total == nil && bench.requested == .whole)
        bench.respond(Bench.whole(30 * Self.megabyte, tag: "v2"))
        #expect(bench.machine.total == 30 * Self.megabyte)
        #expect(bench.machine.remembered.total == 30 * Self.megabyte)
    }

    // MARK: validators

    @Test(arguments: [("w2", true), ("w2", false)])
    func `a weak tag that changes under the same date is settled by one more response`(tag: String, isWeak: Bool) {
        for comesAgain in [true, false] {
            var bench = Bench()
            bench.begin(weakJournal())
            var head = Bench.part(
                Self.megabyte - Self.overlap, 4 * Self.megabyte, of: 4 * Self.megabyte, tag: tag, date: 5)
            head.entityTag?.isWeak = isWeak
            bench.respond(head)
            #expect(bench.requested == .closed(ByteRange(0, 1)))
            var probe = Bench.part(0, 1, of: 4 * Self.megabyte, tag: comesAgain ? tag : "w3", date: 5)
            probe.entityTag?.isWeak = isWeak
            bench.respond(probe)
            if comesAgain {
                #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
            } else {
                #expect(bench.machine.remembered.records.first?.stability == .varying)
                #expect(bench.requested == .closed(ByteRange(Self.megabyte - Self.overlap, 4 * Self.megabyte)))
                bench.respond(head)
                #expect(
                    bench.said.contains(.admit(bench.lane)) && bench.machine.lanes.list.last?.overlap == Self.overlap)
                // It does not count for the next one.
                bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
                bench.progress(to: 2 * Self.megabyte)
                bench.fail(.connectionLost)
                bench.ring()
                #expect(bench.machine.lanes.list.last?.overlap == Self.overlap)
            }
        }
    }

    private func weakJournal() -> ClaimOutcome {
        var weak = Representation(total: 4 * Self.megabyte)
        weak.prove(
            "http://a.example/f", at: "http://a.example",
            Validators(entityTag: EntityTag(opaque: "w1", isWeak: true), lastModified: Bench.time(5), date: nil))
        return Bench.journal([ByteRange(0, Self.megabyte)], of: weak)
    }

    @Test func `a tag that was seen twice and differs is another version, whatever the bytes are`() {
        var bench = Bench()
        bench.begin()
        bench.respond(Bench.whole(4 * Self.megabyte))
        bench.progress(to: Self.megabyte)
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(Bench.part(Self.megabyte, 4 * Self.megabyte, of: 4 * Self.megabyte))
        bench.progress(to: 2 * Self.megabyte)
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(Bench.part(2 * Self.megabyte, 4 * Self.megabyte, of: 4 * Self.megabyte, tag: "v2"))
        #expect(bench.said.contains(.startOver) && bench.machine.written == 0)
    }

    @Test func `content that is generated per response is fetched over one connection`() {
        var bench = Bench { $0.ramp = .fixed(4) }
        bench.begin()
        var head = Bench.whole(40 * Self.megabyte, tag: nil, date: 5)
        head.date = Bench.time(5)
        bench.respond(head)
        bench.progress(to: Self.megabyte)
        bench.tick(after: 1)
        #expect(bench.machine.lanes.list.count == 1)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.machine.lanes.list.count == 1 && bench.machine.lanes.list.last?.overlap == Self.overlap)
    }

    @Test func `lanes with only a date as validator are compared where they meet`() {
        for agreed in [true, false] {
            var bench = Bench { $0.ramp = .fixed(2) }
            bench.begin()
            func dated(_ head: ResponseHead) -> ResponseHead {
                var head = head
                head.date = Bench.time(100)
                return head
            }
            bench.respond(dated(Bench.whole(20 * Self.megabyte, tag: nil, date: 5)))
            bench.tick(after: 0.1)
            #expect(bench.machine.lanes.list.count == 2)
            let (first, second) = (bench.machine.lanes.list[0].id, bench.machine.lanes.list[1].id)
            let middle = 10 * Self.megabyte
            bench.respond(
                dated(Bench.part(middle, 20 * Self.megabyte, of: 20 * Self.megabyte, tag: nil, date: 5)), to: second)
            bench.progress(to: middle - 1000, lane: first)
            bench.progress(to: 20 * Self.megabyte, lane: second)
            bench.end(.complete, lane: second)
            bench.progress(to: middle, lane: first)
            #expect(bench.machine.reachedEnd(first) == Self.overlap)
            #expect(bench.machine.phase == .transferring)
            bench.said = bench.machine.joined(first, agreed: agreed, now: bench.now)
            #expect(bench.said.contains(.startOver) == !agreed)
            guard agreed else { continue }
            bench.end(.stopped, lane: first)
            #expect(bench.machine.phase == .publishing)
        }
    }

    @Test func `a weak response beside one that sends bytes is rejected`() {
        var bench = Bench { $0.ramp = .fixed(2) }
        bench.begin()
        bench.respond(Bench.whole(20 * Self.megabyte))
        bench.progress(to: Self.megabyte)
        bench.tick(after: 0.1)
        let second = bench.machine.lanes.list[1]
        bench.respond(Bench.part(second.cursor, 20 * Self.megabyte, of: 20 * Self.megabyte, tag: nil), to: second.id)
        #expect(bench.said.contains(.drop(second.id)) && bench.machine.lanes.list.count == 1)
        bench.tick(after: 5)
        #expect(bench.machine.lanes.list.count == 1)
    }

    // MARK: hosts

    @Test func `another URL's tag proves nothing, its bytes do`() {
        var bench = Bench(hosts: ["b.example"])
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: 4 * Self.megabyte))
        let places = ComparisonSample.places(of: ByteRange(0, Self.megabyte))
        for (number, place) in places.enumerated() {
            #expect(bench.requested == .closed(place))
            bench.respond(Bench.part(place.start, place.end, of: 4 * Self.megabyte))
            var other = bench
            other.said = other.machine.compared(other.lane, agreed: false, now: other.now)
            let isRestarting = other.machine.lanes.list.contains { $0.work == .restarting }
            #expect(other.said.contains(.startOver) || isRestarting)
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
            #expect(bench.machine.samples.count == places.count - number - 1)
        }
        var complete = Bench(hosts: ["b.example"])
        complete.begin(Bench.journal([ByteRange(0, 1000)], total: 1000))
        #expect(complete.machine.phase == .transferring && complete.requested == .closed(ByteRange(0, 1000)))
    }

    @Test func `a redirect to a host other than before is compared in the same response`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: 4 * Self.megabyte))
        #expect(bench.machine.lanes.list.last?.overlap == 0)
        bench.respond(Bench.redirect(to: "http://cdn.example/f"))
        #expect(bench.requested == .closed(ByteRange(Self.megabyte - Self.overlap, 4 * Self.megabyte)))
        bench.respond(Bench.part(Self.megabyte - Self.overlap, 4 * Self.megabyte, of: 4 * Self.megabyte))
        #expect(bench.said.contains(.admit(bench.lane)))
        #expect(bench.machine.remembered.records.count == 1, "not before the comparison")
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.said.contains(.record))
        #expect(bench.machine.remembered.records.map(\.host) == ["http://a.example", "http://cdn.example"])
    }

    // MARK: HTML pages

    private static func page(_ length: Int64 = 6000, type: String = "text/html") -> ResponseHead {
        var head = Bench.whole(length, tag: nil)
        head.contentType = type
        return head
    }

    /// A page of which a strong tag is known.
    private static var knownPage: Representation {
        var known = Representation(total: 5000, mediaType: "text/html")
        known.prove(
            "http://a.example/f", at: "http://a.example", Validators(entityTag: EntityTag(opaque: "v1", isWeak: false)))
        return known
    }

    @Test func `a page of another type keeps the part file, one of the same type must come twice`() {
        var known = Representation(total: 5000, mediaType: "video/x-matroska")
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], of: known))
        bench.respond(Self.page(30, type: "application/json; charset=utf-8"))
        #expect(bench.machine.phase == .failed && bench.said.contains(.close(keeping: true)))

        known.mediaType = "application/json"
        var json = Bench()
        json.begin(Bench.journal([ByteRange(0, 400)], of: known))
        json.respond(Self.page(type: "application/json"))
        #expect(json.machine.written == 400 && json.machine.lanes.list.isEmpty)
        json.ring()
        json.respond(Self.page(type: "application/json"))
        #expect(json.machine.written == 0 && json.said.contains(.startOver))
    }

    @Test(arguments: [nil, "application/octet-stream", "text/plain"], [20, nil] as [Int64?])
    func `a short response without validators never replaces longer bytes with them`(type: String?, length: Int64?) {
        var short = Bench.whole(length, tag: nil)
        short.contentType = type
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 100), ByteRange(200, 400)], total: 5000))
        for _ in 0..<2 {
            bench.respond(short)
            #expect(bench.machine.phase == .transferring && bench.machine.written == 300)
            bench.ring()
        }
        bench.respond(short)
        #expect(bench.machine.phase == .failed && bench.said.contains(.close(keeping: true)))
        #expect(bench.machine.failure?.description.contains("the partial file is kept") == true)
        #expect(bench.machine.remembered.suspect == nil)
    }

    @Test func `a page of the same type that comes again in the next run is the new version`() {
        for next: Int64 in [6000, 7000] {
            var first = Bench { $0.retry.retries = 0 }
            let known = Representation(total: 5000, mediaType: "text/html")
            first.begin(Bench.journal([ByteRange(0, 400)], of: known))
            first.respond(Self.page())
            #expect(first.machine.phase == .failed && first.said.contains(.record))
            var second = Bench { $0.retry.retries = 0 }
            second.begin(Bench.journal([ByteRange(0, 400)], of: first.machine.remembered))
            second.respond(Self.page(next))
            #expect(second.said.contains(.startOver) == (next == 6000), "another page begins the count again")
        }
    }

    @Test func `a part between two pages shows that they were errors`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], of: Self.knownPage))
        bench.respond(Self.page())
        bench.ring()
        bench.respond(Bench.part(400, 5000, of: 5000))
        #expect(bench.machine.remembered.suspect == nil && bench.machine.lanes.list.first?.isFlowing == true)
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(Self.page())
        #expect(bench.machine.written == 400 && !bench.said.contains(.startOver))
    }

    @Test func `a part after a page makes the journal forget the page`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], of: Self.knownPage))
        bench.respond(Bench.part(400, 5000, of: 5000))
        bench.progress(to: 500)
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(Self.page())
        #expect(bench.said.contains(.record) && bench.machine.remembered.suspect != nil)
        bench.ring()
        bench.respond(Bench.part(500, 5000, of: 5000))
        #expect(bench.machine.remembered.suspect == nil)
        #expect(bench.said == [.record, .admit(bench.lane)])
    }

    // MARK: ranges

    @Test func `ranges have an end if the total is known, and are tried with one after a 416`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], total: nil))
        #expect(bench.requested == .from(400))
        bench.respond(ResponseHead(status: 416))
        #expect(bench.requested == .closed(ByteRange(400, ByteRange.longestFile)))
        bench.respond(Bench.part(400, 5000, of: 5000))
        #expect(bench.machine.total == 5000)
        bench.progress(to: 600)
        bench.fail(.connectionLost)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(600, 5000)))
    }

    @Test func `a 416 to every range leads to a request without`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 400)], total: nil))
        bench.respond(ResponseHead(status: 416))
        bench.respond(ResponseHead(status: 416))
        #expect(bench.requested == .whole)
    }

    // MARK: existing files

    @Test func `a file of the same length is compared at both ends and in the middle`() {
        for agreed in [true, false] {
            var bench = Bench()
            bench.begin(.existing(length: 4 * Self.megabyte))
            for start in [0, 2 * Self.megabyte, 4 * Self.megabyte - Self.overlap] {
                #expect(bench.requested == .closed(ByteRange(start, start + Self.overlap)))
                bench.respond(Bench.part(start, start + Self.overlap, of: 4 * Self.megabyte))
                let agrees = agreed || start == 0
                bench.said = bench.machine.compared(bench.lane, agreed: agrees, now: bench.now)
                if !agrees { break }
            }
            #expect(bench.machine.phase == (agreed ? .finished : .failed))
            #expect(bench.said.contains(.restoreOriginal))
        }
    }

    @Test func `a server without ranges has to send all of an existing file`() {
        var bench = Bench()
        bench.begin(.existing(length: 4 * Self.megabyte))
        bench.respond(Bench.whole(4 * Self.megabyte))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.respond(Bench.whole(4 * Self.megabyte))
        #expect(bench.machine.lanes.list.last?.overlap == 4 * Self.megabyte)
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.machine.phase == .finished)
    }

    @Test func `a file that is longer than the requested content is not changed`() {
        var bench = Bench { $0.selection = .closed(ByteRange(0, 10)) }
        bench.begin(.existing(length: 20))
        #expect(bench.machine.phase == .failed && bench.said.contains(.restoreOriginal))
    }

    @Test func `complete bytes on disk and all received bytes make a complete file`() {
        var bench = Bench()
        bench.begin(Bench.journal([ByteRange(0, 1000)], total: 1000, tag: nil))
        bench.respond(Bench.whole(1000, tag: nil))
        #expect(bench.said.contains(.admit(bench.lane)))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `a file server's file that is shorter now starts over with a notice`() {
        var bench = Bench(scheme: .ftp)
        bench.begin(Bench.journal([ByteRange(0, 4 * Self.megabyte)], total: 8 * Self.megabyte, tag: nil))
        bench.respond(ResponseHead(fileLength: 2 * Self.megabyte, modified: nil))
        #expect(bench.said.contains(.startOver) && bench.machine.phase == .probing)
        #expect(bench.notices.contains { $0.contains("started over") })
    }
}
