import PawlBase
import Testing

@testable import PawlStreams

/// Presentations that are running: which segments are there now, and how they are known again.
@Suite struct MPDLiveTests {
    private static let track = "video video/mp4 1000 - v"

    private func text(_ template: String, attributes: String = "") -> String {
        """
        <MPD type="dynamic" availabilityStartTime="1970-01-01T01:00:00+01:00" \(attributes)><Period start="PT100S">
        <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="1000">
        <SegmentTemplate timescale="1000" initialization="i.mp4" media="$Number$-$Time$.m4s" \(template)
        </Representation></AdaptationSet></Period></MPD>
        """
    }

    private func media(_ text: String, at seconds: Int64) throws -> HLSMedia {
        let address = try WebAddress.parse("https://a.example/x.mpd").address
        let document = try MPDDocument(Array(text.utf8), at: address, now: UnixTime(seconds: seconds))
        let plan = try MPDPlan(document, StreamChoice(), isNumberedByTime: true)
        return try #require(plan.media(ofTrack: Self.track, isEnded: !document.isRunning))
    }

    private func names(_ segments: [HLSMedia.Segment]) -> [String] {
        segments.map { String($0.segment.address.lastPathComponent.dropLast(4)) }
    }

    private func moment(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test func `segments of one duration are there when they have ended, and as long as the time shift`() throws {
        let text = text("duration=\"2000\"/>", attributes: "timeShiftBufferDepth=\"PT7S\"")
        let media = try media(text, at: 1101)
        // It began at 100 s: 1001 s are there, of which those before 994 s have left.
        #expect(names(media.segments) == ["498-994000", "499-996000", "500-998000"])
        #expect(media.segments.map(\.segment.number) == [1_094_000, 1_096_000, 1_098_000] && !media.isEnded)
        var recording = LiveRecording(duration: 60_000_000, now: moment(0))
        _ = recording.received(media, asked: moment(0), now: moment(0))
        let next = recording.received(try self.media(text, at: 1105), asked: moment(4), now: moment(4))
        #expect(names(next.segments) == ["501-1000000", "502-1002000"] && next.missed.isEmpty)
        let late = recording.received(try self.media(text, at: 1121), asked: moment(20), now: moment(20))
        #expect(late.missed.count == 5 && names(late.segments).first == "508-1014000")
    }

    @Test func `a timeline is followed by its times, which are rounded`() throws {
        var recording = LiveRecording(duration: 600_000_000, now: moment(0))
        func hear(_ runs: String, _ time: Double) throws -> LiveRecording.Addition {
            let media = try media(text("><SegmentTimeline>\(runs)</SegmentTimeline></SegmentTemplate>"), at: 1_000)
            return recording.received(media, asked: moment(time), now: moment(time))
        }
        #expect(names(try hear("<S t=\"0\" d=\"2000\" r=\"1\"/>", 0).segments) == ["1-0", "2-2000"])
        let next = try hear("<S t=\"2000\" d=\"2003\"/><S t=\"3998\" d=\"2000\" r=\"1\"/>", 2)
        #expect(names(next.segments) == ["2-3998", "3-5998"] && next.missed.isEmpty && recording.end == nil)
        let gap = try hear("<S t=\"12000\" d=\"2000\"/>", 4)
        #expect(gap.missed.count == 2 && names(gap.segments) == ["1-12000"])
        _ = try hear("<S t=\"0\" d=\"2000\"/>", 6)
        #expect(recording.end == .change("its segments are numbered anew"))
    }

    @Test func `times at the end of all numbers end the recording`() throws {
        var recording = LiveRecording(duration: 600_000_000, now: moment(0))
        for (time, run) in [(0, "t=\"0\" d=\"3\""), (2, "t=\"9223372036854775804\" d=\"3\"")] {
            let timeline = "><SegmentTimeline><S \(run)/></SegmentTimeline></SegmentTemplate>"
            _ = recording.received(
                try media(text(timeline), at: 1_000), asked: moment(Double(time)), now: moment(Double(time)))
        }
        #expect(recording.end == .change("its segments have other numbers"))
    }

    @Test func `a list that moves on is followed by its numbers`() throws {
        func list(_ start: Int, _ names: ClosedRange<Int>, _ more: String = "") -> String {
            text("/>").replacing(
                /<SegmentTemplate[^>]*>/,
                with:
                    "<SegmentList duration=\"2\" startNumber=\"\(start)\"><Initialization sourceURL=\"i.mp4\"/>\(more)"
                    + names.map { "<SegmentURL media=\"\($0).m4s\"/>" }.joined() + "</SegmentList>")
        }
        var recording = LiveRecording(duration: 60_000_000, now: moment(0))
        func hear(_ text: String, _ time: Double) throws -> LiveRecording.Addition {
            recording.received(try media(text, at: 1_000), asked: moment(time), now: moment(time))
        }
        #expect(names(try hear(list(4, 4...8), 0).segments) == ["6", "7", "8"])
        let next = try hear(list(6, 6...10), 4)
        #expect(names(next.segments) == ["9", "10"] && next.missed.isEmpty)
        let late = try hear(list(13, 13...14), 12)
        #expect(late.missed.count == 2 && names(late.segments) == ["13", "14"])
        // It moves on without saying so.
        _ = try hear(list(13, 14...15), 14)
        #expect(recording.end == .change("its segments are numbered anew"))
        // Times of a timeline.
        let timeline = "<SegmentTimeline><S t=\"50\" d=\"2\" r=\"1\"/></SegmentTimeline>"
        let timed = try media(list(1, 1...2, timeline), at: 1_000).segments.map(\.segment)
        #expect(timed.map(\.number) == [150, 152] && timed.map(\.step) == [2, 2])
    }

    @Test func `what is one file cannot be recorded while it grows`() throws {
        let one = text("/>").replacing(/<SegmentTemplate[^>]*>/, with: "<BaseURL>v.mp4</BaseURL><SegmentBase/>")
        let flaw = #expect(throws: StreamFlaw.self) { try media(one, at: 1_000) }
        #expect(flaw?.why.contains("neither a SegmentTemplate nor a SegmentList") == true)
    }

    @Test func `a document tells where it is requested next, and the time`() throws {
        let address = try WebAddress.parse("https://a.example/x/y.mpd").address
        func timing(_ scheme: String, _ value: String) -> String {
            "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:\(scheme)\" value=\"\(value)\"/>"
        }
        let more = [
            "<Location>z.mpd</Location><Location>ftp://b.example/</Location><Location>https://b.example/z.mpd</Location>",
            timing("ntp:2014", "n.example"), timing("http-xsdate:2014", "t.txt  https://t.example/?iso"),
            timing("direct:2014", "1970-01-02T00:00:01Z"), timing("direct:2014", "noon"),
            timing("http-head:2012", "now"), timing("http-iso:2014", "more"),
        ]
        let whole = Array(text("duration=\"2000\"/>").replacing("<Period", with: more.joined() + "<Period").utf8)
        let document = try MPDDocument(whole, at: address, now: UnixTime(seconds: 1_000))
        #expect(document.locations.map(\.text) == ["https://a.example/x/z.mpd", "https://b.example/z.mpd"])
        func response(_ url: String, _ isText: Bool) throws -> MPDTiming {
            .response(try WebAddress.parse(url).address, isText: isText)
        }
        #expect(
            try MPDTiming.list(whole, at: address) == [
                response("https://a.example/x/t.txt", true), response("https://t.example/?iso", true),
                .time(UnixTime(seconds: 86_401)), response("https://a.example/x/now", false),
            ])
        #expect(MPDTiming.list(Array("<MPD type=\"static\"/>".utf8), at: address).isEmpty)
        #expect(MPDTiming.time(Array(" 1970-01-02T00:00:01Z\r\n".utf8))?.seconds == 86_401)
        #expect(MPDTiming.time(Array("<html>".utf8)) == nil)
    }

    @Test func `a programme with an end is over when that has come`() throws {
        let text = text("duration=\"2000\"/>", attributes: "mediaPresentationDuration=\"PT110S\"")
        #expect(try !media(text, at: 105).isEnded)
        let ended = try media(text, at: 111)
        #expect(ended.isEnded && names(ended.segments).last == "5-8000")
    }

    @Test(arguments: [
        ("duration=\"2000\"/>", "availabilityStartTime", Int64(50)), ("duration=\"2000\"/>", "began", -5),
    ]) func `what has not begun has no segment, or is refused`(template: String, why: String, now: Int64) throws {
        let address = try WebAddress.parse("https://a.example/x.mpd").address
        #expect(throws: StreamFlaw.self) {
            try MPDDocument(Array(text(template).utf8), at: address, now: UnixTime(seconds: now))
        }
        let refused = #expect(throws: StreamFlaw.self) { try MPDDocument(Array(text(template).utf8), at: address) }
        #expect(refused?.why.contains("no time to record it is given") == true)
    }

    @Test func `dates of XML Schema are read`() {
        #expect(MPDNumbers.date("1970-01-02T00:00:01Z")?.seconds == 86_401)
        #expect(MPDNumbers.date("1970-01-02T00:00:01.5")?.seconds == 86_401)
        #expect(MPDNumbers.date("1970-01-02T00:00:00-01:30")?.seconds == 91_800)
        for text in ["", "1970-01-02", "1970-13-02T00:00:00Z", "1970-01-02T00:00:00X", "1970-01-02T00:00:00+1"] {
            #expect(MPDNumbers.date(text) == nil, "\(text)")
        }
    }
}
