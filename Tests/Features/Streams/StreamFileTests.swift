import PawlBase
import PawlStreams
import Testing

/// What of a presentation becomes one file.
@Suite struct StreamFileTests {
    private func files(_ first: String, _ second: String) throws -> [[String]] {
        let text = """
            <MPD mediaPresentationDuration="PT4S"><Period duration="PT2S"><AdaptationSet mimeType="video/mp4">
            <Representation id="1" codecs="avc1">\(first)</Representation></AdaptationSet></Period>
            <Period><AdaptationSet mimeType="video/mp4"><Representation id="1" codecs="avc1">\(second)</Representation>
            </AdaptationSet></Period></MPD>
            """
        return try StreamFile.files(of: Presentation.plan(text).plan).map { file in
            file.items.map { $0.segment.address.text.split(separator: "/").last.map(String.init) ?? "" }
        }
    }

    private func template(_ initialization: String, _ name: String, offset: Int) -> String {
        """
        <SegmentTemplate duration="2" initialization="\(initialization)" media="\(name)$Number$"
        presentationTimeOffset="\(offset)"/>
        """
    }

    @Test func `Periods with one initialization are one file while their media time goes on`() throws {
        let first = template("i", "a", offset: 0)
        #expect(try files(first, template("i", "b", offset: 2)) == [["i", "a1", "b1"]])
        #expect(try files(first, template("i", "b", offset: 0)) == [["i", "a1"], ["i", "b1"]])
        #expect(try files(first, template("j", "b", offset: 2)) == [["i", "a1"], ["j", "b1"]])
    }

    private func playlist(_ text: String, _ content: StreamTrack.Content, language: String? = nil) throws -> StreamTrack
    {
        let address = WebAddress(scheme: .https, host: "h", port: 443, path: "/a/b.m3u8", query: nil)
        let list = try HLSPlaylist.parse(Array("#EXTM3U\n\(text)#EXT-X-ENDLIST\n".utf8), from: address)
        guard case .media(let media) = list else { throw StreamFlaw("it is no media playlist") }
        var track = StreamTrack(content: content, identity: "\(content) \(language ?? "-")")
        track.language = language
        return try track.with(media)
    }

    @Test(arguments: [
        (["show.video.ts", "show.audio.en.aac"], "film.mp4", ["film.mp4", "film.audio.en.aac"]),
        (["show.video.ts", "show.audio.en.aac"], "film.video.ts", ["film.video.ts", "film.audio.en.aac"]),
        (["show.ts", "show.de.vtt", "show.en.vtt"], "film", ["film", "film.de.vtt", "film.en.vtt"]),
        (["show.part1.mp4", "show.part2.mp4"], "film.mp4", ["film.mp4", "film.part2.mp4"]),
        (["a.b.video.ts", "a.b.audio.aac"], "c.d.ts", ["c.d.ts", "c.d.audio.aac"]), (["show.ts"], "film", ["film"]),
        (["show.ts", "other.vtt"], "film.ts", ["film.ts", "other.vtt"]),
    ]) func `a new name of the first file is one of all`(names: [String], first: String, all: [String]) {
        #expect(StreamFile.names(names, renaming: first) == all)
    }

    @Test func `sound that is apart is told with what joins it`() throws {
        let text = "#EXTINF:1,\na\n"
        func reason(_ languages: [String?], at paths: [String]) throws -> (labels: [String], text: String?) {
            let tracks = try [playlist(text, .video)] + languages.map { try playlist(text, .audio, language: $0) }
            let files = try StreamFile.files(of: StreamPlan(tracks: tracks))
            return (files.map(\.label), StreamFile.reason(files, at: paths))
        }
        let one = try reason([""], at: ["my show.video.mp4", "my show.audio.m4a"])
        #expect(one.labels == ["video", "audio"])
        #expect(
            one.text?.hasSuffix(
                "ffmpeg -i 'my show.video.mp4' -i 'my show.audio.m4a' -c copy 'my show.mp4'") == true, "\(one)")
        let two = try reason(["en", nil], at: ["s.video.ts", "s.audio.en.aac", "s.audio.aac"])
        #expect(two.labels == ["video", "audio.en", "audio"])
        #expect(two.text?.hasSuffix("-map 0 -map 1 -map 2 -c copy s.ts") == true, "\(two)")
        #expect(try reason([], at: ["s.ts"]) == (labels: [""], text: nil))
    }

    @Test func `an initialization that changes is told`() throws {
        let text = "#EXT-X-MAP:URI=\"i\"\n#EXTINF:1,\na\n#EXT-X-MAP:URI=\"j\"\n#EXTINF:1,\nb\n"
        let files = try StreamFile.files(of: StreamPlan(tracks: [playlist(text, .video)]))
        #expect(files.map(\.label) == ["part1", "part2"])
        #expect(StreamFile.reason(files, at: ["a", "b"])?.hasPrefix("The initialization changes") == true)
    }

    @Test(arguments: [
        ("show.mp4", "show", ".mp4"), ("show", "show", ""), (".show", ".show", ""), ("a.b/c", "a.b/c", ""),
    ])
    func `a name has a suffix behind its last dot`(name: String, stem: String, suffix: String) {
        #expect(StreamFile.parts(of: name) == (stem, suffix))
    }

    @Test func `whole files are never joined`() throws {
        let (first, second) = ("<BaseURL>a.mp4</BaseURL>", "<BaseURL>b.mp4</BaseURL>")
        #expect(try files(first, second) == [["a.mp4"], ["b.mp4"]])
    }

    @Test func `documents of which each segment is one are refused`() {
        let text = Presentation.video("<SegmentTemplate duration=\"5\" media=\"$Number$.ttml\"/>").replacing(
            "video/mp4", with: "application/ttml+xml")
        var choice = StreamChoice()
        choice.subtitles = .all
        #expect(throws: StreamFlaw("segments of application/ttml+xml cannot be joined")) {
            try Presentation.plan(text, choice)
        }
    }
}
