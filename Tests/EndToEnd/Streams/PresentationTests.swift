import PawlTestKit
import Testing

/// DASH: presentations whose segments are generated boxes.
@Suite(.ownThreads) struct PresentationTests {
    private let bench: Bench
    private let initialization: [UInt8]
    private let fragments: [[UInt8]]

    init() throws {
        bench = try Bench()
        initialization = Self.box("ftyp", Array("iso6".utf8)) + Self.box("moov", Self.box("mvhd", [1, 2, 3, 4]))
        fragments = (0..<5).map { number in
            let media = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 7 &+ number &* 77) }
            return Self.box("styp", Array("msdh".utf8)) + Self.box("moof", Self.box("mfhd")) + Self.box("mdat", media)
        }
    }

    private static func box(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        number(content.count + 8) + Array(type.utf8) + content
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private var whole: Payload { Payload(initialization + fragments.flatMap { $0 }) }

    private func serve(_ representation: String, with more: String = "") -> String {
        let text = """
            <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT10S"><Period>
            <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="9" width="640" height="360">
            \(representation)</Representation></AdaptationSet>\(more)</Period></MPD>
            """
        return bench.origin.serve("/d/show.mpd", Payload(text: text)) { $0.contentType = "application/dash+xml" }
    }

    /// With a template for five segments of two seconds.
    private func serveTemplate(with more: String = "") -> String {
        bench.origin.serve("/d/v/i.mp4", Payload(initialization))
        for (number, bytes) in fragments.enumerated() { bench.origin.serve("/d/v/\(number).m4s", Payload(bytes)) }
        return serve(
            """
            <BaseURL>v/</BaseURL><SegmentTemplate duration="2" startNumber="0" initialization="i.mp4" media="$Number$.m4s"/>
            """, with: more)
    }

    @Test func `the segments of a template become one file`() throws {
        let outcome = try bench.get(serveTemplate())
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("show.mp4", from: whole) == nil)
        #expect(bench.folder.names == ["show.mp4"])
    }

    @Test func `a file with an index is fetched in its subsegments`() throws {
        let entries = fragments.flatMap { Self.number($0.count) + Self.number(2000) + Self.number(0) }
        let head = Self.number(0) + Self.number(1) + Self.number(1000) + Self.number(0) + Self.number(0)
        let index = Self.box("sidx", head + Self.number(fragments.count) + entries)
        let file = Payload(initialization + index + fragments.flatMap { $0 })
        bench.origin.serve("/d/v.mp4", file)
        let (start, end) = (initialization.count, initialization.count + index.count - 1)
        let outcome = try bench.get(serve("<BaseURL>v.mp4</BaseURL><SegmentBase indexRange=\"\(start)-\(end)\"/>"))
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("show.mp4", from: file) == nil)
        // The index, what is in front of the first subsegment, and each of them.
        #expect(bench.origin.ended("/d/v.mp4").count == 2 + fragments.count)
    }

    @Test(arguments: [Behaviour.SubstituteResponse.status(404), .loginPage])
    func `a segment that is missing is a failure, and is named`(
        instead: Behaviour.SubstituteResponse
    ) throws {
        let url = serveTemplate()
        bench.origin.adjust("/d/v/3.m4s") { $0.instead = instead }
        let outcome = try bench.get(url)
        #expect(outcome.code != 0 && outcome.message.contains("segment 4 of 5"), "\(outcome)")
        #expect(!bench.folder.names.contains("show.mp4"), "\(bench.folder.names)")
        bench.origin.serve("/d/v/3.m4s", Payload(fragments[3]))
        #expect(try bench.get(url).code == 0)
        #expect(bench.folder.difference("show.mp4", from: whole) == nil)
        // Again when the playlist is renewed before anything is on disk, and once to be compared with what is there.
        #expect(bench.origin.ended("/d/v/0.m4s").count <= 3)
    }

    @Test func `a cut fragment is never joined, though its length is right`() throws {
        let url = serveTemplate()
        bench.origin.serve("/d/v/2.m4s", Payload(Array(fragments[2].dropLast(5))))
        let outcome = try bench.get(url)
        #expect(outcome.code != 0 && outcome.message.contains("boxes of the MP4"), "\(outcome)")
        #expect(!bench.folder.names.contains("show.mp4"))
    }

    @Test func `subtitles become one file beside the video, with each cue once`() throws {
        let cue = "00:01.000 --> 00:03.000\nacross\n"
        bench.origin.serve("/d/t1.vtt", Payload(text: "WEBVTT\n\n\(cue)"))
        bench.origin.serve("/d/t2.vtt", Payload(text: "WEBVTT\n\n\(cue)\n00:06.000 --> 00:07.000\nnext\n"))
        let subtitles = """
            <AdaptationSet mimeType="text/vtt" lang="en"><Representation id="t">
            <SegmentTemplate duration="5" media="t$Number$.vtt"/></Representation></AdaptationSet>
            """
        let outcome = try bench.get(serveTemplate(with: subtitles), "--subtitles", "en")
        #expect(outcome.code == 0, "\(outcome)")
        let expected = "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nacross\n\n00:00:06.000 --> 00:00:07.000\nnext\n\n"
        #expect(bench.folder.difference("show.en.vtt", from: Payload(text: expected)) == nil, "\(bench.folder.names)")
        #expect(bench.folder.difference("show.mp4", from: whole) == nil)
    }

    private func serveLive(_ text: String, at path: String = "/d/show.mpd") -> String {
        bench.origin.serve(path, Payload(text: text)) { $0.contentType = "application/dash+xml" }
    }

    @Test(arguments: ["direct", "http-xsdate", "http-head"])
    func `a programme is recorded by the clock that it names`(scheme: String) throws {
        _ = serveTemplate()
        // It begins long after the time of this machine, and of most responses.
        let time = "2999-01-01T00:00:10Z"
        bench.origin.serve("/d/time", Payload(text: time + "\n"))
        if scheme == "http-head" {
            bench.origin.adjust("/d/time") {
                $0.hasDate = false
                $0.add(header: "Date: Tue, 01 Jan 2999 00:00:10 GMT")
            }
        }
        let timing =
            "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:\(scheme):2014\" value=\"\(scheme == "direct" ? time : "time")\"/>"
        func text(_ timing: String) -> String {
            """
            <MPD type="dynamic" availabilityStartTime="2999-01-01T00:00:00Z">\(timing)<Period start="PT0S">
            <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="9"><BaseURL>v/</BaseURL>
            <SegmentTemplate duration="2" startNumber="0" initialization="i.mp4" media="$Number$.m4s"/>
            </Representation></AdaptationSet></Period></MPD>
            """
        }
        let refused = try bench.get(serveLive(text("")), "--live", "6")
        #expect(refused.code == 22 && refused.message.contains("has not begun"), "\(refused)")
        let outcome = try bench.get(serveLive(text(timing)), "--live", "6")
        #expect(outcome.code == 0, "\(outcome)")
        // Ten seconds are there, of which the last six are recorded at once.
        let recorded = Payload(initialization + fragments[2...].flatMap { $0 })
        #expect(bench.folder.difference("show.mp4", from: recorded) == nil, "\(bench.folder.names)")
    }

    @Test func `a list that moves on is recorded, from where its document has gone`() throws {
        _ = serveTemplate()
        func text(_ type: String, _ location: String, _ numbers: ClosedRange<Int>) -> String {
            """
            <MPD type="\(type)" availabilityStartTime="2020-01-01T00:00:00Z"><Location>\(location)</Location><Period start="PT0S">
            <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="9"><BaseURL>/d/v/</BaseURL>
            <SegmentList duration="1" startNumber="\(numbers.lowerBound)"><Initialization sourceURL="i.mp4"/>
            \(numbers.map { "<SegmentURL media=\"\($0).m4s\"/>" }.joined())
            </SegmentList></Representation></AdaptationSet></Period></MPD>
            """
        }
        _ = serveLive(text("static", "/d/gone.mpd", 2...4), at: "/d/later/next.mpd")
        let url = serveLive(text("dynamic", "later/next.mpd", 0...2))
        let outcome = try bench.get(url, "--live", "1h")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.events("notice").contains { $0.line.contains("the programme has ended") }, "\(outcome)")
        #expect(bench.folder.difference("show.mp4", from: whole) == nil, "\(bench.folder.names)")
        #expect(bench.origin.ended("/d/show.mpd").count == 1)
    }

    @Test func `a place that has no document any more is left for the first one`() throws {
        _ = serveTemplate()
        let text = """
            <MPD type="dynamic" availabilityStartTime="2020-01-01T00:00:00Z"><Location>gone.mpd</Location><Period start="PT0S">
            <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="9"><BaseURL>/d/v/</BaseURL>
            <SegmentList duration="1" startNumber="0"><Initialization sourceURL="i.mp4"/>
            <SegmentURL media="0.m4s"/></SegmentList></Representation></AdaptationSet></Period></MPD>
            """
        let more = text.replacing("dynamic", with: "static").replacing(
            "<SegmentURL media=\"0.m4s\"/>", with: "<SegmentURL media=\"0.m4s\"/><SegmentURL media=\"1.m4s\"/>")
        let url = bench.origin.serve(
            "/d/show.mpd", versions: [Payload(text: text), Payload(text: more)], changing: .afterRequests(1)
        ) { $0.contentType = "application/dash+xml" }
        let outcome = try bench.get(url, "--live", "1h")
        #expect(outcome.code == 0, "\(outcome)")
        let recorded = Payload(initialization + fragments[0] + fragments[1])
        #expect(bench.folder.difference("show.mp4", from: recorded) == nil, "\(bench.folder.names)")
    }

    @Test func `what is encrypted or live is refused before a segment is requested`() throws {
        let protected = "<ContentProtection schemeIdUri=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"/>"
        _ = serveTemplate()
        let outcome = try bench.get(serve("\(protected)<SegmentTemplate duration=\"2\" media=\"v/$Number$.m4s\"/>"))
        #expect(outcome.code == 22 && outcome.message.contains("Widevine"), "\(outcome)")
        let live = bench.origin.serve("/d/live.mpd", Payload(text: "<MPD type=\"dynamic\"><Period/></MPD>"))
        let other = try bench.get(live)
        #expect(other.code == 22 && other.message.contains("still running"), "\(other)")
        #expect(bench.origin.ended("/d/v/0.m4s").isEmpty)
    }
}
