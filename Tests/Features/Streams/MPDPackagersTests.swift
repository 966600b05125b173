import PawlBase
import PawlStreams
import Testing

/// Presentations as packagers write them, without what does not matter here.
@Suite struct MPDPackagersTests {
    @Test func `FFmpeg's timelines`() throws {
        let plan = try Presentation.plan(
            """
            <?xml version="1.0" encoding="utf-8"?>
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink"
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:mpeg:DASH:schema:MPD:2011 DASH-MPD.xsd"
            profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" mediaPresentationDuration="PT21.3S"
            maxSegmentDuration="PT4.0S" minBufferTime="PT8.0S"><ProgramInformation></ProgramInformation>
            <ServiceDescription id="0"></ServiceDescription><Period id="0" start="PT0.0S">
            <AdaptationSet id="0" contentType="video" startWithSAP="1" segmentAlignment="true" lang="und">
            <Representation id="0" mimeType="video/mp4" codecs="avc1.42c00d" bandwidth="206467" width="320" height="180">
            <SegmentTemplate timescale="12800" initialization="init-stream$RepresentationID$.m4s"
            media="chunk-stream$RepresentationID$-$Number%05d$.m4s" startNumber="1"><SegmentTimeline>
            <S t="0" d="51200" r="4" /><S d="16896" /></SegmentTimeline></SegmentTemplate></Representation></AdaptationSet>
            <AdaptationSet id="2" contentType="audio" startWithSAP="1" segmentAlignment="true" lang="und">
            <Representation id="2" mimeType="audio/mp4" codecs="mp4a.40.2" bandwidth="64283" audioSamplingRate="48000">
            <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="1" />
            <SegmentTemplate timescale="48000" initialization="init-stream$RepresentationID$.m4s"
            media="chunk-stream$RepresentationID$-$Number%05d$.m4s" startNumber="1"><SegmentTimeline>
            <S t="0" d="191488" /><S d="192512" r="1" /></SegmentTimeline></SegmentTemplate></Representation>
            </AdaptationSet></Period></MPD>
            """)
        #expect(
            Presentation.names(plan)
                == ["dir/init-stream0.m4s"] + (1...6).map { "dir/chunk-stream0-0000\($0).m4s" })
        #expect(
            Presentation.names(plan, track: 1)
                == ["dir/init-stream2.m4s"] + (1...3).map { "dir/chunk-stream2-0000\($0).m4s" })
        #expect(plan.plan.tracks.map(\.language) == [nil, nil])
        #expect(plan.plan.tracks[0].parts[0].segments.last?.duration == 1_320_000)
    }

    @Test func `Shaka Packager's files with an index`() throws {
        let plan = try Presentation.plan(
            """
            <?xml version="1.0" encoding="UTF-8"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"
            profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" minBufferTime="PT2S" type="static"
            mediaPresentationDuration="PT21.32S"><Period id="0">
            <AdaptationSet id="0" contentType="video" maxWidth="640" maxHeight="360" subsegmentAlignment="true" par="16:9">
            <Representation id="0" bandwidth="223163" codecs="avc1.42c00d" mimeType="video/mp4" width="320" height="180">
            <BaseURL>v1.mp4</BaseURL><SegmentBase indexRange="833-912" timescale="12800"><Initialization range="0-832"/>
            </SegmentBase></Representation>
            <Representation id="1" bandwidth="534982" codecs="avc1.42c01e" mimeType="video/mp4" width="640" height="360">
            <BaseURL>v2.mp4</BaseURL><SegmentBase indexRange="835-914" timescale="12800"><Initialization range="0-834"/>
            </SegmentBase></Representation></AdaptationSet></Period></MPD>
            """)
        #expect(Presentation.names(plan) == ["dir/v2.mp4"])
        #expect(plan.indexes.map(\.segment.range) == [ByteRange(835, 915)])
        #expect(plan.plan.tracks[0].parts[0].segments[0].duration == 21_320_000)
    }

    @Test func `Shaka Packager's Periods go on with the media time`() throws {
        func period(_ id: Int, _ duration: String, _ offset: Int, _ number: Int, _ run: String) -> String {
            """
            <Period id="\(id)" duration="\(duration)"><AdaptationSet id="0" contentType="video" segmentAlignment="true">
            <Representation id="0" bandwidth="536470" codecs="avc1.42c01e" mimeType="video/mp4" width="640" height="360">
            <SegmentTemplate timescale="12800" initialization="v2-i.mp4" media="v2-$Number$.m4s"
            presentationTimeOffset="\(offset)" startNumber="\(number)"><SegmentTimeline>\(run)</SegmentTimeline>
            </SegmentTemplate></Representation></AdaptationSet></Period>
            """
        }
        let plan = try Presentation.plan(
            "<MPD type=\"static\" mediaPresentationDuration=\"PT21.32S\">"
                + period(0, "PT10S", 0, 1, "<S t=\"0\" d=\"51200\" r=\"1\"/><S t=\"102400\" d=\"25600\"/>")
                + period(
                    1, "PT11.32S", 128_000, 4, "<S t=\"128000\" d=\"51200\" r=\"1\"/><S t=\"230400\" d=\"42496\"/>")
                + "</MPD>")
        #expect(
            Presentation.names(plan)
                == ["dir/v2-i.mp4", "dir/v2-1.m4s", "dir/v2-2.m4s", "dir/v2-3.m4s", "dir/v2-i.mp4"]
                + (4...6).map { "dir/v2-\($0).m4s" })
        #expect(plan.plan.tracks[0].parts.map(\.isDiscontinuous) == [false, false])
        #expect(plan.plan.tracks[0].parts.map(\.timestampOffset) == [0, 0])
    }
}
