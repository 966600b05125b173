import PawlBase
import PawlStreams
import Testing

/// A presentation's text, and the plan that is made of it.
enum Presentation {
    static let address = "https://a.example/dir/x.mpd?token=1"

    static func plan(_ text: String, _ choice: StreamChoice = StreamChoice()) throws -> MPDPlan {
        try MPDPlan(MPDDocument(Array(text.utf8), at: WebAddress.parse(address).address), choice)
    }

    /// With one video of ten seconds.
    static func video(
        _ segmentation: String, bases: String = "", period: String = "",
        attributes: String = "id=\"v1\" bandwidth=\"1000\""
    ) -> String {
        """
        <?xml version="1.0"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S">
        <Period \(period)>\(bases)<AdaptationSet mimeType="video/mp4"><Representation \(attributes)>
        \(segmentation)
        </Representation></AdaptationSet></Period></MPD>
        """
    }

    /// The names of the segments of a track, with their ranges.
    static func names(_ plan: MPDPlan, track: Int = 0) -> [String] {
        plan.plan.tracks[track].parts.flatMap { part in
            ([part.initialization].compactMap(\.self) + part.segments).map { segment in
                let name = segment.address.text.split(separator: "/").dropFirst(2).joined(separator: "/")
                return name + (segment.range.map { " \($0)" } ?? "")
            }
        }
    }
}

@Suite struct MPDTests {
    private func names(_ segmentation: String, period: String = "") throws -> [String] {
        try Presentation.names(Presentation.plan(Presentation.video(segmentation, period: period)))
    }

    private func flaw(_ text: String, _ choice: StreamChoice = StreamChoice()) -> String? {
        do {
            _ = try Presentation.plan(text, choice)
            return nil
        } catch { return (error as? StreamFlaw)?.why }
    }

    // MARK: templates

    @Test func `a template counts from its first number to the end of the Period`() throws {
        let found = try names(
            """
            <SegmentTemplate timescale="1000" duration="4000" startNumber="3" media="$RepresentationID$-$Number%05d$.m4s"
            initialization="i-$RepresentationID$-$Bandwidth$.mp4"/>
            """)
        #expect(found == ["dir/i-v1-1000.mp4", "dir/v1-00003.m4s", "dir/v1-00004.m4s", "dir/v1-00005.m4s"])
    }

    @Test(arguments: [("PT10S", 5), ("PT10.0004S", 5), ("PT10.002S", 6), ("PT0.5S", 1), ("PT1M", 30)])
    func `the last segment of a template is where the Period ends`(duration: String, count: Int) throws {
        let found = try names(
            "<SegmentTemplate duration=\"2\" media=\"$Number$\"/>", period: "duration=\"\(duration)\"")
        #expect(found.count == count)
    }

    @Test func `an end number is the last one`() throws {
        let found = try names(
            "<SegmentTemplate duration=\"1\" startNumber=\"0\" endNumber=\"2\" media=\"$Number$$$\"/>")
        #expect(found == ["dir/0$", "dir/1$", "dir/2$"])
    }

    @Test func `a timeline gives times, and repeats them`() throws {
        let found = try names(
            """
            <SegmentTemplate timescale="10" media="$Time$-$Number$" presentationTimeOffset="500"><SegmentTimeline>
            <S t="500" d="20" r="1"/><S d="15"/><S t="560" d="10" r="-1"/></SegmentTimeline></SegmentTemplate>
            """)
        #expect(
            found == ["500-1", "520-2", "540-3", "560-4", "570-5", "580-6", "590-7"].map { "dir/" + $0 })
    }

    @Test func `an open repeat ends where the next run begins`() throws {
        let found = try names(
            """
            <SegmentTemplate media="$Time$"><SegmentTimeline>
            <S t="0" d="2" r="-1"/><S t="6" d="1" n="9"/></SegmentTimeline></SegmentTemplate>
            """)
        #expect(found == ["dir/0", "dir/2", "dir/4", "dir/6"])
    }

    @Test func `a run may have its own number and partial segments`() throws {
        let found = try names(
            """
            <SegmentTemplate media="$Number$_$SubNumber%02d$"><SegmentTimeline>
            <S t="0" d="4" k="2" r="1"/><S d="2" n="40"/></SegmentTimeline></SegmentTemplate>
            """)
        #expect(found == ["1_01", "1_02", "2_01", "2_02", "40_01"].map { "dir/" + $0 })
    }

    @Test func `a template inherits from the levels above`() throws {
        let text = """
            <MPD mediaPresentationDuration="PT4S"><Period><SegmentTemplate timescale="1000" startNumber="7"/>
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="2000" media="a-$Number$"/>
            <Representation id="1"><SegmentTemplate media="$RepresentationID$-$Number$"/></Representation>
            </AdaptationSet></Period></MPD>
            """
        #expect(try Presentation.names(Presentation.plan(text)) == ["dir/1-7", "dir/1-8"])
    }

    @Test(arguments: [
        "$Numbre$", "$Number%5d$", "$Number%0xd$", "$Number", "$RepresentationID%05d$", "$Number%099d$", "$ $",
    ]) func `a template that cannot be read is refused`(media: String) {
        let text = Presentation.video("<SegmentTemplate duration=\"2\" media=\"\(media)\"/>")
        #expect(flaw(text)?.contains("template") == true)
    }

    @Test func `a template without a number cannot have several segments`() {
        #expect(flaw(Presentation.video("<SegmentTemplate duration=\"2\" media=\"a\"/>")) != nil)
        #expect(flaw(Presentation.video("<SegmentTemplate media=\"a.vtt\"/>")) == nil)
    }

    // MARK: lists and files

    @Test func `a list has ranges of a file, or files`() throws {
        let found = try names(
            """
            <BaseURL>v.mp4</BaseURL><SegmentList duration="5"><Initialization range="0-99"/>
            <SegmentURL mediaRange="100-299"/><SegmentURL media="other.mp4" mediaRange="300-300"/></SegmentList>
            """)
        #expect(found == ["dir/v.mp4 [0, 100)", "dir/v.mp4 [100, 300)", "dir/other.mp4 [300, 301)"])
    }

    @Test func `a file without segments is one`() throws {
        let plan = try Presentation.plan(
            Presentation.video(
                "<BaseURL>v.mp4</BaseURL><SegmentBase indexRange=\"800-899\"><Initialization range=\"0-799\"/></SegmentBase>"
            ))
        #expect(Presentation.names(plan) == ["dir/v.mp4"])
        #expect(plan.indexes.map(\.segment.range) == [ByteRange(800, 900)])
        #expect(try names("<BaseURL>../up.mp4</BaseURL>") == ["up.mp4"])
        #expect(flaw(Presentation.video("")) != nil)
    }

    @Test func `a file is divided by its index, and its parts make it up`() throws {
        var plan = try Presentation.plan(
            Presentation.video("<BaseURL>v.mp4</BaseURL><SegmentBase indexRange=\"800-899\"/>"))
        let entries = Media.big(0, 4) + Media.big(1, 4) + Media.big(1000, 4) + Media.big(0, 8) + Media.big(2, 4)
        let sizes: [UInt64] = [100, 50]
        let sidx = Media.box(
            "sidx", entries + sizes.flatMap { Media.big($0, 4) + Media.big(5000, 4) + Media.big(0, 4) })
        let index = try #require(plan.indexes.first)
        try plan.divide(index, by: try #require(SegmentIndex(sidx, at: 800)))
        let start = 800 + Int64(sidx.count)
        #expect(
            Presentation.names(plan) == [
                "dir/v.mp4 [0, \(start))", "dir/v.mp4 [\(start), \(start + 100))",
                "dir/v.mp4 [\(start + 100), \(start + 150))",
            ])
        #expect(plan.plan.tracks[0].parts[0].segments.map(\.number) == [0, 1])
        #expect(plan.plan.tracks[0].parts[0].segments.map(\.duration) == [5_000_000, 5_000_000])
    }

    // MARK: addresses

    @Test func `each level's BaseURL is resolved against the one above, and several are mirrors`() throws {
        let text = """
            <MPD mediaPresentationDuration="PT2S"><BaseURL>https://cdn1.example/a/</BaseURL>
            <BaseURL>https://cdn2.example/b/</BaseURL><Period><BaseURL>p/</BaseURL><AdaptationSet mimeType="video/mp4">
            <BaseURL>./s/</BaseURL><Representation id="1"><BaseURL>r/</BaseURL>
            <SegmentTemplate duration="2" media="$Number$.m4s" initialization="/i.mp4"/></Representation>
            </AdaptationSet></Period></MPD>
            """
        let part = try #require(try Presentation.plan(text).plan.tracks.first?.parts.first)
        #expect(part.segments.map(\.address.text) == ["https://cdn1.example/a/p/s/r/1.m4s"])
        #expect(part.segments.map { $0.mirrors.map(\.text) } == [["https://cdn2.example/b/p/s/r/1.m4s"]])
        #expect(part.initialization?.address.text == "https://cdn1.example/i.mp4")
    }

    @Test func `only HTTP is followed`() {
        for url in ["file:///etc/passwd", "ftp://h/a", "data:,a", "s3://b/k"] {
            let text = Presentation.video(
                "<BaseURL>\(url)</BaseURL><SegmentTemplate duration=\"2\" media=\"$Number$\"/>")
            #expect(flaw(text)?.contains("the URL") == true)
        }
    }

    // MARK: refusals

    @Test func `what is live, linked or no MPD is refused`() {
        #expect(flaw("<MPD type=\"dynamic\"/>")?.contains("still running") == true)
        #expect(flaw("<html/>") == "it is no MPD")
        #expect(flaw("<MPD/>") == "it has no content")
        #expect(flaw(Presentation.video("", period: "xlink:href=\"http://h/\""))?.contains("xlink") == true)
        #expect(
            flaw(
                Presentation.video(
                    "<SegmentTemplate media=\"$Time$\"><SegmentTimeline xlink:href=\"a\"/></SegmentTemplate>"))?
                .contains("xlink") == true)
        #expect(flaw("<!DOCTYPE a [<!ENTITY b \"c\">]><MPD/>") != nil)
    }

    @Test func `content that is encrypted is refused by the systems' names`() throws {
        let text = Presentation.video("<BaseURL>v.mp4</BaseURL>").replacing(
            "<Representation",
            with: """
                <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"/>
                <ContentProtection schemeIdUri="urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED"/>
                <ContentProtection schemeIdUri="urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95"/><Representation
                """)
        do {
            _ = try Presentation.plan(text)
            Issue.record("it is planned")
        } catch let flaw as StreamFlaw {
            #expect(flaw.isProtected && flaw.why == "it is encrypted by DRM (Widevine, PlayReady)")
        }
    }

    @Test func `a set that needs an unknown feature is left out`() throws {
        let needing = "<EssentialProperty schemeIdUri=\"http://dashif.org/guidelines/trickmode\" value=\"1\"/><Repre"
        let text = Presentation.video("<BaseURL>v.mp4</BaseURL>").replacing("<Repre", with: needing)
        #expect(flaw(text) == "it needs the property http://dashif.org/guidelines/trickmode")
        let colour = text.replacing(
            "http://dashif.org/guidelines/trickmode", with: "urn:mpeg:mpegB:cicp:ColourPrimaries")
        #expect(flaw(colour) == nil)
    }

    @Test(arguments: [
        "<SegmentTemplate timescale=\"0\" duration=\"1\" media=\"$Number$\"/>",
        "<SegmentTemplate duration=\"x\" media=\"$Number$\"/>",
        "<SegmentTemplate timescale=\"100000\" duration=\"1\" media=\"$Number$\"/>",
        "<SegmentTemplate duration=\"1\" endNumber=\"9223372036854775807\" startNumber=\"9223372036854775807\" media=\"$Number$\"/>",
        "<SegmentTemplate duration=\"1\" endNumber=\"9223372036854775806\" startNumber=\"0\" media=\"$Number$\"/>",
        "<SegmentTemplate duration=\"9223372036854775807\" endNumber=\"3\" media=\"$Number$\"/>",
        "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"0\"/></SegmentTimeline></SegmentTemplate>",
        "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1\" r=\"100000\"/></SegmentTimeline></SegmentTemplate>",
        "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1\" r=\"-1\"/><S d=\"1\"/></SegmentTimeline></SegmentTemplate>",
        "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S t=\"9223372036854775807\" d=\"9\"/></SegmentTimeline></SegmentTemplate>",
        "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1\" k=\"3\"/></SegmentTimeline></SegmentTemplate>",
        "<SegmentTemplate duration=\"2\"/>", "<SegmentList/>",
        "<SegmentList><SegmentURL mediaRange=\"9-3\"/></SegmentList>",
        "<SegmentList><SegmentURL mediaRange=\"0-9223372036854775807\"/></SegmentList>",
        "<SegmentList><SegmentURL mediaRange=\"0-\"/></SegmentList>",
        "<BaseURL>a</BaseURL><SegmentBase indexRange=\"x\"/>",
    ]) func `segments without an end, or beyond the limits, are refused`(segmentation: String) {
        #expect(flaw(Presentation.video(segmentation)) != nil)
    }

    @Test(arguments: ["P1Y", "PT", "P", "10S", "PT1H1H", "PT-1S", "PT1.5M", "P9999999D", "PT1S2", "PTS", "P1DT"])
    func `a duration that cannot be read is refused`(text: String) {
        let template = "<SegmentTemplate duration=\"2\" media=\"$Number$\"/>"
        #expect(flaw(Presentation.video(template, period: "duration=\"\(text)\"")) != nil)
    }

    @Test func `an MPD is told by its content`() {
        for text in ["<MPD>", " <?xml version='1.0'?>\n<!-- a -->\n<MPD ", "\u{FEFF}<mpd:MPD xmlns:mpd=\"a\">"] {
            #expect(MPDDocument.isLikely(Array(text.utf8)))
        }
        for text in ["", "<html><MPD>", "MPD", "{}", "#EXTM3U"] { #expect(!MPDDocument.isLikely(Array(text.utf8))) }
    }
}
