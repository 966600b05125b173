import Glibc
import PawlTestKit
import Testing

/// Programmes that are still running: recorded from now, for a time.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct LiveTests {
    private let site: StreamSite

    init() throws { site = try StreamSite(12) }

    /// The playlist with these segments of one second each.
    private func playlist(_ numbers: Range<Int>, end: String = "") -> Payload {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        for number in numbers { text += "#EXTINF:1.0,\ns\(number).ts\n" }
        return Payload(text: text + end)
    }

    /// Serves a playlist that moves on with each request.
    private func serve(_ versions: [Payload]) -> String {
        site.bench.origin.serve("/v/show.m3u8", versions: versions, changing: .afterRequests(1)) {
            $0.contentType = "application/vnd.apple.mpegurl"
        }
    }

    private func recorded(_ numbers: Range<Int>) -> Payload { Payload(numbers.flatMap { site.segments[$0] }) }

    @Test func `a recording has as many segments as were wanted, and requests none twice`() throws {
        let url = serve((0..<12).map { playlist($0..<min(12, $0 + 5)) })
        let outcome = try site.bench.get(url, "--live", "6")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: recorded(2..<8)) == nil)
        #expect(site.bench.folder.names == ["show.ts"] && site.requests == 6)
        // Another recording is another file.
        let later = try site.bench.get(serve([playlist(4..<8, end: "#EXT-X-ENDLIST\n")]), "--live", "1m")
        #expect(later.code == 0, "\(later)")
        #expect(site.bench.folder.difference("show (1).ts", from: recorded(4..<8)) == nil)
    }

    @Test func `it ends with the programme`() throws {
        let url = serve([playlist(0..<4), playlist(2..<6), playlist(2..<7, end: "#EXT-X-ENDLIST\n")])
        let outcome = try site.bench.get(url, "--live", "1h")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("show.ts", from: recorded(1..<7)) == nil)
        #expect(outcome.events("notice").contains { $0.line.contains("the programme has ended") }, "\(outcome)")
    }

    @Test func `a signal ends it, and it is complete so far`() throws {
        let url = serve([playlist(0..<4)])
        let process = try site.bench.start(url, "--live", "1h")
        #expect(site.bench.origin.wait { $0.of("/v/show.m3u8").count > 1 && $0.of("/v/s3.ts").count == 1 })
        // What is received is appended at once, and progress says so.
        #expect(process.line(in: .out, atMost: .patience) { $0.contains("\"written\":\(3 * 60 * 188)") } != nil)
        process.send(SIGTERM)
        #expect(process.wait() == .code(7), "\(process.errors)")
        #expect(site.bench.folder.difference("show.ts", from: recorded(1..<4)) == nil)
        #expect(site.bench.folder.names == ["show.ts"], "\(site.bench.folder.names)")
    }

    @Test func `segments that vanish fail it, or are gaps`() throws {
        let versions = [playlist(0..<3), playlist(5..<8, end: "#EXT-X-ENDLIST\n")]
        let outcome = try site.bench.get(serve(versions), "--live", "1h")
        #expect(outcome.code == 3 && outcome.message.contains("segment 4"), "\(outcome)")
        #expect(outcome.message.contains("left the playlist"), "\(outcome)")
        let allowed = try site.bench.get(serve(versions), "--live", "1h", "--allow-gaps", "2", "-o", "gaps.ts")
        #expect(allowed.code == 0, "\(allowed)")
        let kept = Payload([0, 1, 2, 5, 6, 7].flatMap { site.segments[$0] })
        #expect(site.bench.folder.difference("gaps.ts", from: kept) == nil)
        let finished = allowed.events("finished").first
        #expect(finished?.line.contains("\"gaps\":[\"segment 4 is left out") == true, "\(allowed)")
    }

    @Test func `sound that is apart is recorded beside the pictures`() throws {
        let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 1, 0x20, 0xFC, 7, 7]
        for number in 0..<6 { site.bench.origin.serve("/v/a\(number).aac", Payload(frame + frame)) }
        func sound(_ numbers: Range<Int>, end: String = "") -> Payload {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
            for number in numbers { text += "#EXTINF:1.0,\na\(number).aac\n" }
            return Payload(text: text + end)
        }
        let end = "#EXT-X-ENDLIST\n"
        _ = serve([playlist(0..<3), playlist(1..<5), playlist(2..<6, end: end)])
        site.bench.origin.serve(
            "/v/sound.m3u8", versions: [sound(0..<3), sound(1..<5), sound(2..<6, end: end)],
            changing: .afterRequests(1))
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            show.m3u8

            """
        let outcome = try site.bench.get(site.serve(Payload(text: master), at: "/v/both.m3u8"), "--live", "5m")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(site.bench.folder.difference("both.video.ts", from: recorded(0..<6)) == nil)
        let frames = Payload((0..<12).flatMap { _ in frame })
        #expect(site.bench.folder.difference("both.audio.en.aac", from: frames) == nil)
    }

    @Test func `a programme that has ended is downloaded whole, and one that runs needs a time`() throws {
        let ended = try site.bench.get(site.serve(site.playlist()), "--live", "2")
        #expect(ended.code == 0, "\(ended)")
        #expect(site.bench.folder.difference("show.ts", from: site.whole) == nil)
        let outcome = try site.bench.get(serve([playlist(0..<3)]), "-o", "other.ts")
        #expect(outcome.code == 22 && outcome.message.contains("no time to record it is given"), "\(outcome)")
        #expect(try site.bench.get(serve([playlist(0..<3)]), "--live", "soon").code == 28)
    }
}
