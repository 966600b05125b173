import PawlBase
import PawlCollections
import PawlPipe
import PawlSystem
import PawlTestKit
import Testing

struct PipeScheduleTests {
    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func `no more than the slots and the host's limit are under way, and hosts take turns`() {
        var schedule = PipeSchedule(slots: 3, perHost: 2)
        for number in 0..<5 { schedule.add(number, of: "a") }
        schedule.add(5, of: "b")
        let first = (0..<9).map { _ in schedule.next(now: at(0)) }
        #expect(first.compactMap(\.self).sorted() == [0, 1, 5])
        schedule.ended(of: "b")
        #expect(schedule.next(now: at(0)) == nil, "a has two under way")
        schedule.ended(of: "a")
        #expect(schedule.next(now: at(0)) == 2)
        #expect(schedule.active == 2 && schedule.waiting == 2)
    }

    @Test func `a host pauses between two samples`() {
        var schedule = PipeSchedule(slots: 9, perHost: 9, delay: .seconds(2))
        for number in 0..<3 { schedule.add(number, of: "a") }
        #expect(schedule.next(now: at(0)) == 0)
        #expect(schedule.next(now: at(0)) == nil)
        #expect(schedule.nextStart == at(2))
        #expect(schedule.next(now: at(1.9)) == nil)
        #expect(schedule.next(now: at(2)) == 1)
        schedule.slowDown("a", to: .seconds(5))
        schedule.ended(of: "a")
        #expect(schedule.next(now: at(4)) == 2)
        schedule.ended(of: "a")
        schedule.ended(of: "a")
        schedule.add(3, of: "a")
        #expect(schedule.next(now: at(8.9)) == nil, "an idle host keeps its pause")
        #expect(schedule.next(now: at(9)) == 3)
    }

    @Test func `a host that asks for a pause holds up no other`() {
        var schedule = PipeSchedule(slots: 2, perHost: 2, delay: .seconds(1))
        for number in 0..<3 { schedule.add(number, of: "a") }
        #expect(schedule.next(now: at(0)) == 0)
        schedule.postpone(0, of: "a", until: at(60))
        #expect(schedule.active == 0 && schedule.waiting == 3)
        schedule.add(3, of: "b")
        schedule.add(4, of: "b")
        #expect(schedule.next(now: at(0)) == 3)
        #expect(schedule.next(now: at(1)) == 4)
        schedule.ended(of: "b")
        schedule.ended(of: "b")
        #expect(schedule.next(now: at(59.9)) == nil && schedule.nextStart == at(60))
        schedule.remove(1, of: "a")
        #expect(schedule.next(now: at(60)) == 0, "what was postponed is first")
        #expect(schedule.next(now: at(61)) == 2)
        #expect(schedule.waiting == 0)
    }

    @Test func `what holds up started samples starts first, and alone if nothing else may`() {
        var schedule = PipeSchedule(slots: 3, perHost: 1)
        schedule.add(0, of: "a")
        schedule.add(1, of: "a")
        schedule.add(2, of: "b")
        schedule.add(3, of: "b", isUrgent: true)
        #expect(schedule.next(now: at(0), onlyUrgent: true) == 3)
        #expect(schedule.next(now: at(0), onlyUrgent: true) == nil)
        schedule.add(4, of: "b", isUrgent: true)
        #expect(schedule.next(now: at(0), onlyUrgent: true) == nil, "its host has no place")
        #expect(schedule.next(now: at(0)) == 0)
        schedule.ended(of: "b")
        schedule.pause("b", until: at(5))
        #expect(schedule.next(now: at(0)) == nil && schedule.nextStart == at(5))
        #expect(schedule.next(now: at(5), onlyUrgent: true) == 4)
        schedule.ended(of: "b")
        schedule.add(5, of: "b", isUrgent: true)
        schedule.remove(5, of: "b")
        #expect(schedule.next(now: at(5), onlyUrgent: true) == nil)
        #expect(schedule.next(now: at(5)) == 2)
        schedule.ended(of: "a")
        #expect(schedule.next(now: at(5)) == 1 && schedule.waiting == 0)
    }

    @Test func `a refused sample waits by itself while others of its host are served`() {
        var schedule = PipeSchedule(slots: 2, perHost: 2)
        for number in 0..<5 { schedule.add(number, of: "a") }
        #expect([schedule.next(now: at(0)), schedule.next(now: at(0))] == [0, 1])
        schedule.served("a")
        schedule.ended(of: "a")
        schedule.rest(1, of: "a", in: "a", until: at(20), now: at(0))
        #expect(schedule.waiting == 4 && schedule.active == 0)
        #expect([schedule.next(now: at(0)), schedule.next(now: at(0))] == [2, 3])
        schedule.ended(of: "a")
        schedule.ended(of: "a")
        #expect(schedule.next(now: at(0)) == 4)
        schedule.ended(of: "a")
        #expect(schedule.next(now: at(19)) == nil && schedule.nextStart == at(20))
        #expect(schedule.next(now: at(20)) == 1)
        schedule.ended(of: "a")
        #expect(schedule.waiting == 0 && schedule.nextStart == nil)
    }

    @Test func `a host that refuses one after another gets no request until the longest pause is over`() {
        var schedule = PipeSchedule(slots: 2, perHost: 2)
        for number in 0..<5 { schedule.add(number, of: "a") }
        #expect([schedule.next(now: at(0)), schedule.next(now: at(0))] == [0, 1])
        schedule.rest(0, of: "a", in: "a", until: at(60), now: at(0))
        #expect(schedule.next(now: at(0)) == nil, "the other one will show whether it is the host")
        schedule.rest(1, of: "a", in: "a", until: at(30), now: at(0.5))
        #expect(schedule.next(now: at(59)) == nil)
        #expect(schedule.next(now: at(60)) != nil)
    }

    @Test func `what is under way and says nothing holds up others for a second only`() {
        var schedule = PipeSchedule(slots: 3, perHost: 3)
        for number in 0..<4 { schedule.add(number, of: "a") }
        for _ in 0..<2 { _ = schedule.next(now: at(0)) }
        schedule.rest(0, of: "a", in: "a", until: at(60), now: at(0))
        #expect(schedule.next(now: at(0.9)) == nil)
        #expect(schedule.next(now: at(1)) == 2)
        schedule.served("a")
        #expect(schedule.next(now: at(1)) == 3)
    }

    @Test func `resting samples are removed with the others`() {
        var schedule = PipeSchedule(slots: 3, perHost: 3)
        for number in 0..<4 { schedule.add(number, of: "a") }
        for _ in 0..<3 { _ = schedule.next(now: at(0)) }
        for number in 0..<3 { schedule.rest(number, of: "a", in: "a", until: at(60), now: at(0)) }
        schedule.remove(1, of: "a")
        #expect(schedule.waiting == 3)
        #expect(schedule.removeAll(of: "a") { $0 != 3 }.sorted() == [0, 2])
        #expect(schedule.removeAll() == [3] && schedule.waiting == 0)
    }

    @Test func `in its turn a host starts samples one after another, up to a limit`() {
        var schedule = PipeSchedule(slots: 1, perHost: 2)
        for number in 0..<40 { schedule.add(number, of: number == 1 ? "b" : "a") }
        var started: [Int] = []
        while let number = schedule.next(now: at(0)) {
            started.append(number)
            schedule.ended(of: number == 1 ? "b" : "a", keepsConnection: true)
        }
        #expect(started.firstIndex(of: 1) == PipeSchedule.longestTurn + 1)
        #expect(started.count == 40)
    }

    @Test func `a host whose connection is lost, or that has a delay, has no turn of several samples`() {
        for delay in [Interval.zero, .seconds(1)] {
            var schedule = PipeSchedule(slots: 1, perHost: 2, delay: delay)
            schedule.add(0, of: "a")
            schedule.add(1, of: "a")
            schedule.add(2, of: "b")
            #expect(schedule.next(now: at(0)) == 0)
            schedule.ended(of: "a", keepsConnection: delay > .zero)
            #expect(schedule.next(now: at(0)) == 2)
        }
    }

    @Test func `a host that is looked up takes no place, and starts when its address is known`() {
        var schedule = PipeSchedule(slots: 1, perHost: 2)
        schedule.add(0, of: "a", needsLookup: true)
        schedule.add(1, of: "a", needsLookup: true)
        schedule.add(2, of: "b", needsLookup: true)
        schedule.add(3, of: "c")
        #expect(schedule.next(now: at(0)) == 3, "it needs no lookup")
        schedule.ended(of: "c")
        #expect(schedule.nextLookup(now: at(0)) == "a" && schedule.nextLookup(now: at(0)) == "b")
        #expect(schedule.nextLookup(now: at(0)) == nil && schedule.isLookedUp("a"))
        #expect(schedule.next(now: at(0)) == nil)
        schedule.lookedUp("b", hasAddresses: true)
        #expect(schedule.next(now: at(0)) == 2 && schedule.next(now: at(0)) == nil)
        schedule.lookedUp("a", hasAddresses: false, until: at(5))
        #expect(schedule.nextLookup(now: at(4.9)) == nil && schedule.nextStart == at(5))
        #expect(schedule.nextLookup(now: at(5)) == "a", "also while all places are taken")
        schedule.lookedUp("a", hasAddresses: true)
        schedule.ended(of: "b")
        #expect(schedule.next(now: at(5)) == 0)
        schedule.lookUpAgain("a")
        schedule.postpone(0, of: "a", until: at(6))
        #expect(schedule.next(now: at(6)) == nil && schedule.nextLookup(now: at(6)) == "a")
        #expect(schedule.removeAll(of: "a") { $0 == 0 } == [0])
        schedule.lookedUp("a", hasAddresses: true)
        #expect(schedule.next(now: at(6)) == 1 && schedule.waiting == 0)
    }

    @Test func `lookups do not run far ahead of what can start`() {
        var schedule = PipeSchedule(slots: 1, perHost: 2)
        for number in 0..<200 { schedule.add(number, of: "h\(number)", needsLookup: true) }
        var count = 0
        while let host = schedule.nextLookup(now: at(0)) {
            schedule.lookedUp(host, hasAddresses: true)
            count += 1
        }
        #expect(count == 64)
        for _ in 0..<200 {
            guard let number = schedule.next(now: at(1)) else { break }
            schedule.ended(of: "h\(number)")
            if let host = schedule.nextLookup(now: at(1)) { schedule.lookedUp(host, hasAddresses: true) }
        }
        #expect(schedule.waiting == 0)
    }

    @Test(arguments: [Interval.milliseconds(3), .zero]) func `every sample starts once, whatever the order of ends`(
        delay: Interval
    ) {
        var dice = Dice(seed: 7)
        var schedule = PipeSchedule(slots: 5, perHost: 2, delay: delay)
        var active: [String: Int] = [:]
        var running: [String] = []
        var started: Set<Int> = []
        var now = at(0)
        for number in 0..<2000 { schedule.add(number, of: "h\(number % 7)", isFirst: number % 11 == 0) }
        while started.count < 2000 {
            if let number = schedule.next(now: now) {
                let host = "h\(number % 7)"
                #expect(started.insert(number).inserted)
                active[host, default: 0] += 1
                running.append(host)
                #expect(active[host] ?? 0 <= 2 && running.count <= 5)
            } else if running.isEmpty {
                now = schedule.nextStart ?? now
            } else {
                let index = Int(dice.next() % UInt64(running.count))
                let host = running.remove(at: index)
                active[host, default: 0] -= 1
                schedule.ended(of: host, keepsConnection: dice.next() % 2 == 0)
                now = now + .milliseconds(1)
            }
        }
        #expect(schedule.waiting == 0)
    }
}

struct ArchiveHeadTests {
    @Test func `a header of tar has its checksum, and long names have a record of their own`() {
        let header = TarHeader.file("a.jpg", length: 8)
        #expect(header.count == 512)
        let sum = header.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
        #expect(
            String(decoding: header[148..<154], as: UTF8.self) == String(
                repeating: "0", count: 6 - String(sum, radix: 8).count) + String(sum, radix: 8))
        let name = String(repeating: "n", count: 150)
        let long = TarHeader.file(name, length: 8)
        #expect(long.count == 3 * 512)
        #expect(String(decoding: long[512...], as: UTF8.self).hasPrefix("160 path=\(name)\n"))
        let folder = String(repeating: "d", count: 600) + "/"
        let deep = TarHeader.folder(folder)
        #expect(deep.count == 4 * 512 && deep[3 * 512 + 156] == UInt8(ascii: "5"))
        #expect(String(decoding: deep[512...], as: UTF8.self).hasPrefix("611 path=\(folder)\n"))
        #expect(TarHeader.padding(after: 512).isEmpty && TarHeader.padding(after: 513).count == 511)
    }

    @Test func `a manifest is comments in tar, at most as long as readers accept, of whole characters`() {
        let manifest = Array(String(repeating: "{\"t\":\"é漢\"}\n", count: 200_000).utf8)
        var writer = TarManifest.Writer()
        let headers = writer.feed(manifest[...]) + writer.finish()
        #expect(headers.count.isMultiple(of: 512) && TarManifest.manifest(in: headers) == manifest)
        var count = 0
        for start in stride(from: 0, to: headers.count, by: 512)
        where headers[start...].starts(with: "pax_global_header".utf8) {
            count += 1
            let digits = String(decoding: headers[(start + 124)..<(start + 135)], as: UTF8.self)
            let length = Int(digits, radix: 8) ?? 0
            #expect(length > 0 && length <= 1 << 20)
            let records = headers[(start + 512)..<(start + 512 + length)]
            #expect(String(validating: records, as: UTF8.self) != nil, "a character is cut")
        }
        #expect(count == 3)
        #expect(TarManifest.manifest(in: Array(headers.dropLast(512))) == nil)
    }

    @Test func `a trailer is found before the last member, however long that is`() {
        for length in [0, 1, 511, 512, 100_000] {
            let trailer = ShardTrailer(input: String(repeating: "a", count: 64), length: 0)
            let archive =
                TarHeader.comment(trailer.bytes) + TarHeader.file("a.json", length: Int64(length))
                + [UInt8](repeating: 32, count: length) + TarHeader.padding(after: Int64(length))
            let whole = archive + TarHeader.end(after: Int64(archive.count))
            #expect(whole.count.isMultiple(of: 10_240))
            let found = TarManifest.trailer(in: whole)
            #expect(found?.trailer == trailer && found?.start == 0)
        }
        #expect(TarManifest.trailer(in: TarHeader.end(after: 0)) == nil)
    }

    @Test func `a stream of gzip contains what was written, and is read by others`() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        var stream = StoredGzipWriter()
        let member = StoredGzipWriter.header + stream.feed(bytes[..<7]) + stream.feed(bytes[7...]) + stream.finish()
        #expect(StoredGzipWriter.content(of: member) == bytes)
        #expect(Gzip.decompress(member, limit: 1 << 20) == bytes)
    }

    @Test func `a record of WARC has its head`() {
        var record = WarcRecord(.response, seed: "s", date: UnixTime(seconds: 951_782_400))
        record.target = "http://a/"
        let head = String(decoding: record.head(length: 3), as: UTF8.self)
        #expect(head.hasPrefix("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:"))
        #expect(head.contains("\r\nWARC-Date: 2000-02-29T00:00:00Z\r\nWARC-Target-URI: http://a/\r\n"))
        #expect(head.hasSuffix("\r\nContent-Length: 3\r\n\r\n"))
        let response = WarcRecord.responseHead(
            status: 200, fields: [("Transfer-Encoding", "chunked"), ("Content-Type", "text/plain")], length: 3)
        #expect(
            String(decoding: response, as: UTF8.self)
                == "HTTP/1.1 200 \r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n")
    }
}
