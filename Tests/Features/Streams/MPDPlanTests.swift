import PawlBase
import PawlStreams
import Testing

/// Which representations become tracks.
@Suite struct MPDPlanTests {
    private let programme = """
        <MPD mediaPresentationDuration="PT4S"><Period><SegmentTemplate duration="2"
        media="$RepresentationID$-$Number$" initialization="$RepresentationID$-i"/>
        <AdaptationSet contentType="video" mimeType="video/mp4">
        <Representation id="low" bandwidth="500000" width="640" height="360" codecs="avc1.42c01e"/>
        <Representation id="high" bandwidth="3000000" width="1920" height="1080" codecs="avc1.640028"/>
        <Representation id="mid" bandwidth="1500000" width="1280" height="720" codecs="avc1.64001f"/></AdaptationSet>
        <AdaptationSet contentType="video" mimeType="video/mp4"><Role schemeIdUri="urn:mpeg:dash:role:2011" value="sign"/>
        <Representation id="sign" bandwidth="9000000" width="3840" height="2160"/></AdaptationSet>
        <AdaptationSet mimeType="audio/mp4" lang="de"><Role schemeIdUri="urn:mpeg:dash:role:2011" value="dub"/>
        <Representation id="de" bandwidth="128000"/></AdaptationSet>
        <AdaptationSet mimeType="audio/mp4" lang="en-US"><Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
        <Label>Original</Label><Representation id="en64" bandwidth="64000" codecs="mp4a.40.2"/>
        <Representation id="en192" bandwidth="192000" codecs="mp4a.40.2"/></AdaptationSet>
        <AdaptationSet mimeType="text/vtt" lang="en"><Representation id="sub"><BaseURL>s.vtt</BaseURL><SegmentBase/>
        </Representation></AdaptationSet>
        <AdaptationSet mimeType="image/jpeg"><Representation id="thumbs"/></AdaptationSet></Period></MPD>
        """

    private func ids(_ quality: String, audio: String = "", subtitles: String = "none") throws -> [String] {
        var choice = StreamChoice()
        choice.quality = try #require(StreamChoice.Quality(parsing: quality))
        if !audio.isEmpty { choice.audio = try #require(StreamChoice.Languages(parsing: audio)) }
        choice.subtitles = try #require(StreamChoice.Languages(parsing: subtitles))
        let plan = try Presentation.plan(programme, choice)
        return plan.plan.tracks.map { $0.identity.split(separator: " ").last.map(String.init) ?? "" }
            + plan.notices.map { _ in "notice" }
    }

    @Test func `the best video and the main sound are taken`() throws {
        #expect(try ids("best") == ["high", "en192"])
        #expect(try ids("worst") == ["low", "en64"])
    }

    @Test func `a height or a bitrate chooses the video`() throws {
        #expect(try ids("720p") == ["mid", "en192"])
        #expect(try ids("900") == ["mid", "en192", "notice"])
        #expect(try ids("1600k") == ["mid", "en192"])
    }

    @Test func `sound and subtitles are chosen by language`() throws {
        #expect(try ids("best", audio: "de,en", subtitles: "en") == ["high", "de", "en192", "sub"])
        #expect(try ids("best", audio: "all", subtitles: "all") == ["high", "de", "en192", "sub"])
        #expect(try ids("best", audio: "none") == ["high"])
        #expect(try ids("best", audio: "en,fr", subtitles: "fr") == ["high", "en192", "notice", "notice"])
        #expect(throws: StreamFlaw("it has no audio in these languages, only in de, en-US")) {
            try ids("best", audio: "fr")
        }
    }

    @Test func `a track tells what it is`() throws {
        var choice = StreamChoice()
        choice.subtitles = .all
        let tracks = try Presentation.plan(programme, choice).plan.tracks
        #expect(tracks.map(\.content) == [.video, .audio, .subtitles])
        #expect(tracks.map(\.container) == [.fragments, .fragments, .webVTT])
        #expect(tracks.map(\.language) == [nil, "en-US", "en"])
        #expect(tracks.map(\.name) == [nil, "Original", nil])
        #expect(tracks.map(\.codecs) == ["avc1.640028", "mp4a.40.2", nil])
        #expect(tracks.map(\.bandwidth) == [3_000_000, 192_000, 0])
        #expect(tracks[0].parts[0].segments.map(\.duration) == [2_000_000, 2_000_000])
    }

    @Test func `without pictures, the bitrate is that of the sound`() throws {
        let text = """
            <MPD mediaPresentationDuration="PT4S"><Period><AdaptationSet mimeType="audio/mp4">
            <SegmentTemplate duration="2" media="$RepresentationID$-$Number$"/>
            <Representation id="a" bandwidth="64000"/><Representation id="b" bandwidth="192000"/></AdaptationSet>
            </Period></MPD>
            """
        var choice = StreamChoice()
        for (quality, name) in [("best", "b"), ("100k", "a"), ("720p", "b"), ("worst", "a")] {
            choice.quality = try #require(StreamChoice.Quality(parsing: quality))
            #expect(try Presentation.names(Presentation.plan(text, choice)).first == "dir/\(name)-1")
        }
    }

    // MARK: several Periods

    private func periods(_ second: String, start: String = "") -> String {
        """
        <MPD mediaPresentationDuration="PT30S"><Period id="1" duration="PT20S"><AdaptationSet mimeType="video/mp4" lang="en">
        <SegmentTemplate duration="10" media="a$Number$" initialization="ai"/>
        <Representation id="1" bandwidth="10" width="4" height="3" codecs="avc1"/>
        <Representation id="2" bandwidth="20" width="8" height="6" codecs="avc1"/></AdaptationSet></Period>
        <Period id="2" \(start)><AdaptationSet mimeType="video/mp4" lang="en">
        \(second)</AdaptationSet></Period></MPD>
        """
    }

    @Test func `another Period goes on with the same form and codecs`() throws {
        let text = periods(
            """
            <SegmentTemplate duration="5" media="b$RepresentationID$-$Number$" initialization="bi"/>
            <Representation id="x" bandwidth="900" width="16" height="12" codecs="avc1"/>
            <Representation id="y" bandwidth="21" width="8" height="6" codecs="avc1"/>
            <Representation id="z" bandwidth="20" width="8" height="6" codecs="hev1"/>
            """)
        let plan = try Presentation.plan(text)
        #expect(
            Presentation.names(plan) == ["ai", "a1", "a2", "bi", "by-1", "by-2"].map { "dir/" + $0 })
        let parts = plan.plan.tracks[0].parts
        #expect(parts.map(\.isDiscontinuous) == [false, true])
        #expect(parts.map(\.timestampOffset) == [0, 20_000_000])
        #expect(parts.flatMap(\.segments).map(\.number) == [0, 1, 2, 3])
    }

    @Test func `another Period of other forms has the quality that is asked for`() throws {
        let plan = try Presentation.plan(
            periods(
                """
                <SegmentTemplate duration="10" media="b$RepresentationID$-$Number$"/>
                <Representation id="x" bandwidth="900" width="16" height="12"/>
                <Representation id="y" bandwidth="10" width="2" height="2"/>
                """))
        #expect(Presentation.names(plan).last == "dir/bx-1")
    }

    @Test func `media time that goes on is no discontinuity`() throws {
        let plan = try Presentation.plan(
            periods(
                """
                <SegmentTemplate timescale="10" duration="100" presentationTimeOffset="200" media="b$Number$"/>
                <Representation id="2" width="8" height="6" codecs="avc1"/>
                """))
        #expect(plan.plan.tracks[0].parts.map(\.isDiscontinuous) == [false, false])
    }

    @Test func `a Period without what others have is refused, without subtitles it is not`() throws {
        let text = periods("<Representation id=\"1\"><BaseURL>b.mp4</BaseURL></Representation>").replacing(
            "<Period id=\"2\" >", with: "<Period id=\"2\"><AdaptationSet mimeType=\"audio/mp4\"/>")
        let missing = text.replacing("mimeType=\"video/mp4\" lang=\"en\">\n<Repr", with: "mimeType=\"audio/mp4\"><Repr")
        #expect(throws: StreamFlaw("its Period 2 has no video, and others have")) { try Presentation.plan(missing) }
        let subtitled = text.replacing(
            "</AdaptationSet></Period>\n<Period",
            with: """
                </AdaptationSet><AdaptationSet mimeType="text/vtt" lang="en"><Representation><BaseURL>s.vtt</BaseURL>
                </Representation></AdaptationSet></Period><Period
                """)
        var choice = StreamChoice()
        choice.subtitles = .all
        let plan = try Presentation.plan(subtitled, choice)
        #expect(plan.plan.tracks.map(\.parts.count) == [2, 1])
    }

    @Test func `Periods follow each other, and must not turn back`() throws {
        let base = "<Representation id=\"1\"><BaseURL>b.mp4</BaseURL></Representation>"
        let plan = try Presentation.plan(periods(base, start: "start=\"PT25S\""))
        #expect(plan.plan.tracks[0].parts.map(\.timestampOffset) == [0, 25_000_000])
        #expect(plan.plan.tracks[0].parts[1].segments[0].duration == 5_000_000)
        let late = periods(base, start: "start=\"PT5S\"").replacing("<Period id=\"1\"", with: "<Period start=\"PT9S\"")
        #expect(throws: StreamFlaw("its Period 2 begins before the one in front")) { try Presentation.plan(late) }
        let open = periods(base).replacing(" duration=\"PT20S\"", with: "")
        #expect(throws: StreamFlaw("nothing tells when its Period 2 begins")) { try Presentation.plan(open) }
    }
}
