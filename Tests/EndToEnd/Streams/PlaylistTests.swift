import Glibc
import PawlTestKit
import Testing

/// HLS: one file without holes, or a failure that names the segment.
@Suite(.ownThreads) struct PlaylistTests {
    @Test func `the segments of a playlist become one file`() throws {
        let site = try StreamSite()
        let outcome = try site.bench.get(site.serve(site.playlist()))
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
        #expect(site.bench.folder.names == ["show.ts"] && site.requests == 8)
        let again = try site.bench.get(site.bench.origin.url("/v/show.m3u8"))
        #expect(
            again.code == 0 && again.events("finished").first?.line.contains("\"wasThere\":true") == true, "\(again)")
        // The name follows from the first segment.
        #expect(site.requests == 8 + 1 && site.bench.folder.names == ["show.ts"])
    }

    @Test func `a playlist is recognized by its type, and by its content`() throws {
        let site = try StreamSite()
        let typed = site.serve(site.playlist(), at: "/v/play") + "?id=1"
        #expect(try site.bench.get(typed, "-o", "typed.ts").code == 0)
        #expect(site.bench.folder.difference("typed.ts", from: site.whole) == nil)
        let named = site.bench.origin.serve("/v/named.m3u8", site.playlist()) { $0.contentType = "text/plain" }
        #expect(try site.bench.get(named).code == 0)
        #expect(site.bench.folder.difference("named.ts", from: site.whole) == nil)
        let titles = Payload(text: "#EXTM3U\n#EXTINF:-1,A song\nhttp://127.0.0.1:1/song.mp3\n")
        #expect(try site.bench.get(site.serve(titles, at: "/v/radio.m3u8")).code == 0)
        #expect(site.bench.folder.difference("radio.m3u8", from: titles) == nil)
        #expect(try site.bench.get("--as-file", typed, "-o", "list").code == 0)
        #expect(site.bench.folder.difference("list", from: site.playlist()) == nil)
    }

    @Test func `a master playlist may lead to another one, once`() throws {
        let site = try StreamSite(2)
        func master(_ name: String, _ target: String) -> String {
            let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(target)\n"
            return site.serve(Payload(text: text), at: "/v/\(name).m3u8")
        }
        site.serve(site.playlist())
        _ = master("inner", "show.m3u8")
        #expect(try site.bench.get(master("outer", "inner.m3u8")).code == 0)
        #expect(site.bench.folder.difference("outer.ts", from: site.whole) == nil)
        let outcome = try site.bench.get(master("outermost", "outer.m3u8"))
        #expect(outcome.code == 22 && outcome.message.contains("lists variants"), "\(outcome)")
    }

    @Test func `variants of equal attributes are mirrors of each other`() throws {
        let site = try StreamSite()
        let other = try OriginServer(address: "127.0.0.2")
        defer { other.stop() }
        site.serve(site.playlist())
        other.serve("/w/show.m3u8", site.playlist()) { $0.contentType = "application/vnd.apple.mpegurl" }
        for (number, bytes) in site.segments.enumerated() { other.serve("/w/s\(number).ts", Payload(bytes)) }
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=640x360
            \(other.url("/w/show.m3u8"))
            #EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=640x360
            \(other.url("/x/show.m3u8"))

            """
        other.serve("/x/show.m3u8", site.playlist()) { $0.contentType = "application/vnd.apple.mpegurl" }
        for (number, bytes) in site.segments.enumerated() { other.serve("/x/s\(number).ts", Payload(bytes)) }
        for number in [1, 6] { other.adjust("/w/s\(number).ts") { $0.instead = .status(503) } }
        let outcome = try site.bench.get(
            site.serve(Payload(text: master), at: "/v/master.m3u8"), "--retries", "2", "--retry-delay", "0.01")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("master.ts", from: site.whole) == nil)
        #expect(!other.ended("/x/s1.ts").isEmpty && other.ended("/x/s0.ts").isEmpty)
    }

    @Test func `a playlist that is too large is to be had as a file`() throws {
        let site = try StreamSite(1)
        let large = Payload(text: "#EXTM3U\n" + String(repeating: "#\n", count: 9 << 20))
        let outcome = try site.bench.get(site.serve(large))
        #expect(outcome.code == 35 && outcome.message.contains("itself as a file"), "\(outcome)")
        #expect(!outcome.message.contains("raise the limit"), "\(outcome)")
    }

    @Test func `a segment that the server compressed is decoded`() throws {
        let site = try StreamSite(3)
        let url = site.serve(site.playlist())
        site.bench.origin.adjust(StreamSite.path(1)) { $0.coding = .gzip }
        #expect(try site.bench.get(url).code == 0)
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
        site.bench.origin.serve(StreamSite.path(1), Payload([1, 2, 3])) { $0.add(header: "Content-Encoding: br") }
        let outcome = try site.bench.get(url, "-o", "other.ts")
        #expect(outcome.code == 22 && outcome.message.contains("the server compressed it (br)"), "\(outcome)")
    }

    @Test func `sound that is apart is a file beside, and is told`() throws {
        let site = try StreamSite(2)
        site.serve(site.playlist())
        let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 1, 0x20, 0xFC, 7, 7]
        site.bench.origin.serve("/v/a.aac", Payload(frame + frame))
        let sound = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.aac\n#EXT-X-ENDLIST\n"
        site.serve(Payload(text: sound), at: "/v/sound.m3u8")
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            show.m3u8

            """
        let url = site.serve(Payload(text: master), at: "/v/m.m3u8")
        let outcome = try site.bench.get(url, "-o", "film.ts")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.names.sorted() == ["film.audio.en.aac", "film.video.ts"])
        let notices = outcome.events("notice").map(\.line)
        #expect(notices.contains { $0.contains("also ") && $0.contains("m.m3u8") }, "\(notices)")
        #expect(notices.contains { $0.contains("ffmpeg -i ") }, "\(notices)")
        let refused = try site.bench.get(url, "--audio", "fr")
        #expect(refused.code == 22 && refused.message.contains("only in en"), "\(refused)")
    }

    enum Fault: CaseIterable { case missing, page, short, unsynced, shortRange, empty }

    @Test(arguments: Fault.allCases) func `a segment that is not to be had is a failure, and is named`(
        fault: Fault
    ) throws {
        let site = try StreamSite()
        let url = site.serve(
            site.playlist(before: fault == .shortRange ? [3: "#EXT-X-BYTERANGE:99999@0\n"] : [:]))
        switch fault {
        case .missing: site.bench.origin.adjust("/v/s3.ts") { $0.instead = .status(404) }
        case .page: site.bench.origin.adjust("/v/s3.ts") { $0.instead = .loginPage }
        case .short: site.bench.origin.serve("/v/s3.ts", Payload(Array(site.segments[3].dropLast(100))))
        case .unsynced: site.bench.origin.serve("/v/s3.ts", Payload(site.segments[3].map { $0 ^ 0x47 }))
        case .shortRange: break
        case .empty: site.bench.origin.serve("/v/s3.ts", Payload([]))
        }
        let outcome = try site.bench.get(url)
        #expect(outcome.code != 0 && outcome.message.contains("segment 4 of 8"), "\(outcome)")
        #expect(!site.bench.folder.names.contains("show.ts"), "\(site.bench.folder.names)")
        guard fault != .shortRange else { return }
        // What was there is not requested again.
        site.bench.origin.serve("/v/s3.ts", Payload(site.segments[3]))
        let before = site.bench.origin.ended("/v/s0.ts").count
        let later = try site.bench.get(url)
        #expect(later.code == 0, "\(later)")
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
        #expect(site.bench.origin.ended("/v/s0.ts").count == before)
    }

    @Test func `gaps are left out only if that is allowed, and are told`() throws {
        let site = try StreamSite()
        let url = site.serve(site.playlist(before: [1: "#EXT-X-GAP\n"]))
        for number in [3, 5] { site.bench.origin.adjust(StreamSite.path(number)) { $0.instead = .status(404) } }
        let refused = try site.bench.get(url, "--allow-gaps", "1")
        #expect(refused.code == 3 && !site.bench.folder.names.contains("show.ts"), "\(refused)")
        let outcome = try site.bench.get(url, "--allow-gaps", "3")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.events("notice").contains { $0.line.contains("segment 6 is left out") }, "\(outcome)")
        let kept = [0, 2, 4, 6, 7].flatMap { site.segments[$0] }
        #expect(site.bench.folder.difference("show.ts", from: Payload(kept)) == nil)
        #expect(site.bench.origin.ended("/v/s1.ts").isEmpty, "its author says that it is not there")
    }

    @Test func `addresses that expire are taken from the playlist again`() throws {
        let site = try StreamSite()
        let url = site.bench.origin.serve(
            "/v/show.m3u8", versions: (0..<40).map { site.playlist(query: "?sig=\($0)") }, changing: .afterRequests(1))
        // The first signature is good for four segments.
        for number in site.segments.indices {
            site.bench.origin.vary(StreamSite.path(number)) { facts, behaviour in
                let signature = Int(facts.request.target.split(separator: "=").last ?? "") ?? 0
                if number > signature * 4 + 3 { behaviour.instead = .status(403) }
            }
        }
        let outcome = try site.bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
        #expect(site.bench.origin.ended("/v/show.m3u8").count == 2)
    }

    @Test func `a playlist that changed since starts over`() throws {
        let site = try StreamSite()
        let url = site.serve(site.playlist())
        site.bench.origin.adjust("/v/s5.ts") { $0.instead = .status(404) }
        #expect(try site.bench.get(url).code == 3)
        site.serve(
            site.playlist(before: [2: "#EXT-X-DISCONTINUITY\n"], end: "#EXTINF:1,\ns0.ts?again\n#EXT-X-ENDLIST\n"))
        site.bench.origin.serve("/v/s5.ts", Payload(site.segments[5]))
        let outcome = try site.bench.get(url)
        #expect(
            outcome.code == 0 && outcome.events("notice").contains { $0.line.contains("starts over") }, "\(outcome)")
        let expected = Payload((site.segments + [site.segments[0]]).flatMap { $0 })
        #expect(site.bench.folder.difference("show.ts", from: expected) == nil)
    }

    @Test func `killed many times, only what was in progress is requested again`() throws {
        let site = try StreamSite(40, packets: 400)
        let url = site.serve(site.playlist())
        for number in site.segments.indices {
            site.bench.origin.adjust(StreamSite.path(number)) { $0.pace = 1_500_000 }
        }
        var kills = 0
        while kills < 24 {
            let sent = site.bench.origin.log.bodySent()
            let process = try site.bench.start(url, "-x", "2")
            let isUnderWay = site.bench.origin.wait { $0.bodySent() > sent + 100_000 } && process.exit == nil
            process.send(SIGKILL)
            process.wait()
            guard isUnderWay else { break }
            kills += 1
        }
        let outcome = try site.bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
        // Two were in progress, and the last one on disk is compared.
        #expect(site.requests <= 40 + 3 * kills && kills >= 8, "\(site.requests) requests, \(kills) kills")
        #expect(site.bench.folder.names == ["show.ts"])
    }

    @Test func `a stream that is interrupted continues behind its last segment`() throws {
        let site = try StreamSite(20)
        let url = site.serve(site.playlist())
        site.bench.origin.adjust("/v/s9.ts") { $0.delay = .untilReleased }
        let process = try site.bench.start(url, "-x", "1")
        #expect(site.bench.origin.wait(held: 1, of: "/v/s9.ts"))
        process.send(SIGTERM)
        #expect(process.wait() == .code(7), "\(process.errors)")
        site.bench.origin.adjust("/v/s9.ts") { $0.delay = .none }
        let outcome = try site.bench.get(url)
        #expect(outcome.code == 0 && outcome.events("started").first?.number("resumedAt") == 9 * 60 * 188, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
        #expect(site.requests == 20 + 2, "one was in progress, and the last one on disk is compared")
    }

    @Test func `what was replaced between two runs is not joined with what is on disk`() throws {
        let site = try StreamSite()
        let url = site.serve(site.playlist())
        site.bench.origin.adjust("/v/s4.ts") { $0.instead = .status(404) }
        #expect(try site.bench.get(url).code == 3)
        let others = site.segments.map { segment in
            segment.enumerated().map { $0.offset % 188 == 0 ? $0.element : ~$0.element }
        }
        for (number, segment) in others.enumerated() {
            site.bench.origin.serve(StreamSite.path(number), Payload(segment))
        }
        let outcome = try site.bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.events("notice").contains { $0.line.contains("segment 4 of 8 has other bytes") }, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: Payload(others.flatMap(\.self))) == nil)
    }

    @Test func `segments that were left out are not left out without permission`() throws {
        let site = try StreamSite()
        let url = site.serve(site.playlist())
        for number in [2, 5] { site.bench.origin.adjust(StreamSite.path(number)) { $0.instead = .status(404) } }
        #expect(try site.bench.get(url, "--allow-gaps", "1").code == 3)
        for number in [2, 5] { site.bench.origin.serve(StreamSite.path(number), Payload(site.segments[number])) }
        let outcome = try site.bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
    }

    @Test func `subtitles that were interrupted begin anew, with one header and each cue once`() throws {
        let bench = try Bench()
        let parts = [
            "WEBVTT\n\n00:01.000 --> 00:02.000\na\n\n00:09.000 --> 00:11.000\nover\n",
            "WEBVTT\n\n00:09.000 --> 00:11.000\nover\n\n00:12.000 --> 00:13.000\nb\n",
        ]
        for (number, part) in parts.enumerated() { bench.origin.serve("/v/y\(number).vtt", Payload(text: part)) }
        bench.origin.adjust("/v/y1.vtt") { $0.instead = .status(404) }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\ny0.vtt\n#EXTINF:10,\ny1.vtt\n#EXT-X-ENDLIST\n"
        let url = bench.origin.serve("/v/y.m3u8", Payload(text: text)) {
            $0.contentType = "application/vnd.apple.mpegurl"
        }
        #expect(try bench.get(url).code == 3)
        bench.origin.serve("/v/y1.vtt", Payload(text: parts[1]))
        #expect(try bench.get(url).code == 0)
        let file = String(decoding: FileSystem.contents(bench.folder.path + "/y.vtt") ?? [], as: UTF8.self)
        for word in ["WEBVTT", "over", "00:12.000"] {
            #expect(file.split(separator: word, omittingEmptySubsequences: false).count == 2, "\(file)")
        }
    }

    @Test(arguments: [
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n", "",
    ])
    func `protected and live streams are refused before a segment is requested`(key: String) throws {
        let site = try StreamSite()
        let outcome = try site.bench.get(
            site.serve(site.playlist(before: [0: key], end: key.isEmpty ? "" : "#EXT-X-ENDLIST\n")))
        #expect(outcome.code == 22, "\(outcome)")
        #expect(outcome.message.contains(key.isEmpty ? "still running" : "FairPlay"), "\(outcome)")
        #expect(site.requests == 0 && site.bench.folder.names.isEmpty)
    }

    @Test func `logins stay with the playlist's origin`() throws {
        let site = try StreamSite(2)
        let other = try OriginServer(address: "127.0.0.2")
        defer { other.stop() }
        other.serve("/far.ts", Payload(site.segments[1]))
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\ns0.ts\n#EXTINF:2,\n\(other.url("/far.ts"))\n#EXT-X-ENDLIST\n"
        let url = site.serve(Payload(text: text))
        let outcome = try site.bench.get(
            url, "-H", "Authorization: Bearer secret", "-H", "X-Token: secret", "--referer", "http://page.test/")
        #expect(outcome.code == 0, "\(outcome)")
        let near = try #require(site.bench.origin.ended("/v/s0.ts").first?.request)
        let far = try #require(other.ended("/far.ts").first?.request)
        #expect(near.header("Authorization") == "Bearer secret" && near.header("X-Token") == "secret")
        #expect(far.header("Authorization") == nil && far.header("X-Token") == nil)
        #expect(far.header("Referer") == "http://page.test/")
    }
}
