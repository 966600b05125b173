import PawlBase
import Testing

@testable import PawlStreams

@Suite struct HLSPlaylistTests {
    private let address = WebAddress(scheme: .https, host: "cdn.test", port: 443, path: "/a/b.m3u8", query: "t=1&x=%2F")

    private func parse(_ text: String, imports: [String: String] = [:]) throws(StreamFlaw) -> HLSPlaylist {
        try HLSPlaylist.parse(Array(("#EXTM3U\n" + text).utf8), from: address, importing: imports)
    }

    private func media(_ text: String) throws -> HLSMedia {
        guard case .media(let media) = try parse(text) else {
            Issue.record("it is no media playlist")
            return HLSMedia()
        }
        return media
    }

    private func flaw(_ text: String) -> StreamFlaw? {
        do throws(StreamFlaw) {
            _ = try parse(text)
            return nil
        } catch { return error }
    }

    @Test func `segments have numbers, durations and addresses`() throws {
        let media = try media(
            """
            #EXT-X-TARGETDURATION:6\r
            #EXT-X-MEDIA-SEQUENCE:7
            # a comment
            #EXTINF:5.9,title
            one.ts?s=1
            #EXTINF:6
            /two.ts
            #EXT-X-DISCONTINUITY
            #EXT-X-GAP
            #EXTINF:0.0000019,
            https://other.test/three.ts
            #EXT-X-ENDLIST
            """)
        let segments = media.segments.map(\.segment)
        #expect(media.isEnded && segments.map(\.number) == [7, 8, 9])
        #expect(segments.map(\.duration) == [5_900_000, 6_000_000, 1])
        #expect(
            segments.map(\.address.text) == [
                "https://cdn.test/a/one.ts?s=1", "https://cdn.test/two.ts", "https://other.test/three.ts",
            ])
        #expect(segments.map(\.isGap) == [false, false, true])
        #expect(media.segments.map(\.isDiscontinuous) == [false, false, true])
    }

    @Test(arguments: ["#EXTINF:1,\na.ts\n", "#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"])
    func `one byte order mark in front is passed over`(text: String) throws {
        let bytes = Array("\u{FEFF}#EXTM3U\n#EXT-X-VERSION:3\n\(text)".utf8)
        #expect(HLSPlaylist.isStream(bytes))
        #expect(try HLSPlaylist.parse(bytes, from: address) == parse(text))
        #expect(!HLSPlaylist.isStream(Array("\u{FEFF}".utf8) + bytes))
        #expect(throws: StreamFlaw.self) { try HLSPlaylist.parse(Array("\u{FEFF}".utf8) + bytes, from: address) }
    }

    @Test func `byte ranges without an offset follow the range before`() throws {
        let text = "#EXTINF:1,\n#EXT-X-BYTERANGE:10@5\nf\n#EXTINF:1,\n#EXT-X-BYTERANGE:7\nf\n"
        #expect(try media(text).segments.map(\.segment.range) == [ByteRange(5, 15), ByteRange(15, 22)])
        let other = "#EXTINF:1,\n#EXT-X-BYTERANGE:10@5\nf\n#EXTINF:1,\n#EXT-X-BYTERANGE:7\ng\n"
        #expect(flaw(other)?.why.contains("follows no range") == true)
        #expect(flaw("#EXTINF:1,\n#EXT-X-BYTERANGE:9223372036854775807@2\nf\n") != nil)
    }

    @Test func `a key without IV has the segment's number, and NONE ends it`() throws {
        let text =
            "#EXT-X-MEDIA-SEQUENCE:258\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:1,\na\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"k2\",IV=0x0F\n#EXTINF:1,\nb\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:1,\nc\n"
        let keys = try media(text).segments.map(\.segment.key)
        #expect(keys[0]?.initializationVector == [UInt8](repeating: 0, count: 14) + [1, 2])
        #expect(keys[1]?.address.text == "https://cdn.test/a/k2")
        #expect(keys[1]?.initializationVector == [UInt8](repeating: 0, count: 15) + [15])
        #expect(keys[2] == nil)
    }

    @Test func `a key with a known format is used beside those of other systems`() throws {
        let text =
            "#EXT-X-KEY:METHOD=AES-128,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"identity\"\n#EXTINF:1,\na\n"
        #expect(try media(text).segments[0].segment.key?.address.text == "https://cdn.test/a/k")
    }

    @Test(arguments: [
        ("METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", "FairPlay"),
        ("METHOD=SAMPLE-AES-CTR,URI=\"x\",KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"", "Widevine"),
        ("METHOD=SAMPLE-AES,URI=\"x\"", "SAMPLE-AES"),
        ("METHOD=AES-128,URI=\"x\",KEYFORMAT=\"com.microsoft.playready\"", "PlayReady"),
    ]) func `what systems of digital rights protect is refused by name`(key: String, name: String) {
        let flaw = flaw("#EXT-X-KEY:\(key)\n#EXTINF:1,\na\n")
        #expect(flaw?.isProtected == true && flaw?.why.contains(name) == true, "\(String(describing: flaw))")
    }

    @Test func `variables come from the playlist, its master and its URL`() throws {
        let text =
            "#EXT-X-DEFINE:NAME=\"p\",VALUE=\"x/y\"\n#EXT-X-DEFINE:IMPORT=\"q\"\n#EXT-X-DEFINE:QUERYPARAM=\"x\"\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"{$p}/k\"\n#EXTINF:1,\n{$p}{$x}{$q}.ts\n"
        let playlist = try parse(text, imports: ["q": "z"])
        guard case .media(let media) = playlist else { return #expect(Bool(false)) }
        #expect(media.segments[0].segment.address.text == "https://cdn.test/a/x/y/z.ts")
        #expect(media.segments[0].segment.key?.address.text == "https://cdn.test/a/x/y/k")
        #expect(flaw("#EXTINF:1,\n{$nothing}.ts\n")?.why.contains("not defined") == true)
        #expect(
            flaw("#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n#EXTINF:1,\n{$nothing}.ts\n")?.why.contains("nothing") == true)
        #expect(flaw("#EXT-X-DEFINE:QUERYPARAM=\"none\"\n") != nil)
    }

    @Test func `a master playlist has variants and renditions`() throws {
        let playlist = try parse(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Deutsch",LANGUAGE="de",URI="de.m3u8"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100,RESOLUTION=640x360,CODECS="avc1,mp4a",AUDIO="a",SUBTITLES="s"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=300,RESOLUTION=1280x720,AUDIO="a"
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=300,RESOLUTION=1280x720,AUDIO="a"
            backup/high.m3u8
            """)
        guard case .master(let master) = playlist else { return #expect(Bool(false)) }
        #expect(master.variants.map(\.height) == [360, 720, 720] && master.renditions.count == 2)
        var choice = StreamChoice()
        let best = try HLSSelection(master, choice)
        #expect(best.references.map(\.address.lastPathComponent) == ["high.m3u8", "en.m3u8"])
        #expect(best.references[0].backups.map(\.path) == ["/a/backup/high.m3u8"])
        (choice.quality, choice.subtitles) = (.worst, .all)
        let worst = try HLSSelection(master, choice)
        #expect(worst.references.map(\.address.lastPathComponent) == ["low.m3u8", "en.m3u8", "de.m3u8"])
        choice.audio = .only(["fr"])
        #expect(throws: StreamFlaw("it has no audio in these languages, only in en")) {
            try HLSSelection(master, choice)
        }
        choice.audio = .only(["fr", "eng"])
        let partly = try HLSSelection(master, choice)
        #expect(partly.notices == ["There is no audio track of the language fr."] && partly.references.count == 3)
    }

    @Test(arguments: [
        "", "#EXTINF:1,\n", "a.ts\n", "#EXTINF:x,\na\n", "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n#EXTINF:1,\na\n",
        "#EXT-X-STREAM-INF:RESOLUTION=1x1\nv\n", "#EXT-X-KEY:METHOD=AES-128\n#EXTINF:1,\na\n",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",URI=\"k\"\n", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\n",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x123456789012345678901234567890123\n#EXTINF:1,\na\n",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-MAP:URI=\"m\"\n#EXTINF:1,\na\n", "#EXT-X-I-FRAMES-ONLY\n",
        "#EXTINF:1,\nfile:///etc/passwd\n", "#EXTINF:1,\na\n#EXT-X-MEDIA-SEQUENCE:3\n",
    ]) func `what is no playlist of the standard is refused`(text: String) {
        guard let flaw = flaw(text) else {
            // Segments are what a playlist needs last.
            #expect(throws: StreamFlaw.self) { try StreamTrack(playlist: address).with(try media(text)) }
            return
        }
        #expect(!flaw.why.isEmpty)
    }

    @Test func `a live playlist is refused`() throws {
        let media = try media("#EXTINF:1,\na\n")
        #expect(throws: StreamFlaw.self) { try StreamTrack(playlist: address).with(media) }
    }

    @Test func `an initialization begins a part, and another one a file`() throws {
        let media = try media(
            "#EXT-X-MAP:URI=\"i1\"\n#EXTINF:1,\na\n#EXTINF:1,\nb\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"i1\"\n#EXTINF:1,\nc\n"
                + "#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"i2\"\n#EXTINF:1,\nd\n#EXT-X-ENDLIST\n")
        let track = try StreamTrack(playlist: address).with(media)
        #expect(track.parts.map(\.segments.count) == [2, 1, 1] && track.container == .fragments)
        let files = try StreamFile.files(of: StreamPlan(tracks: [track]))
        #expect(files.map(\.items.count) == [4, 2] && files.map(\.label) == ["part1", "part2"])
        #expect(files[0].items.map(\.isInitialization) == [true, false, false, false])
    }

    @Test func `a file is the same with other signatures, and another with other segments`() throws {
        func file(_ text: String) throws -> StreamFile {
            let track = try StreamTrack(playlist: address).with(try media(text + "#EXT-X-ENDLIST\n"))
            return try StreamFile.files(of: StreamPlan(tracks: [track]))[0]
        }
        let first = try file("#EXTINF:1,\na.ts?sig=1\n#EXTINF:2,\nb.ts?sig=1\n")
        #expect(try file("#EXTINF:1,\na.ts?sig=2\n#EXTINF:2,\nb.ts?sig=3\n").identity == first.identity)
        for other in [
            "#EXTINF:1,\na.ts\n", "#EXTINF:1,\na.ts\n#EXTINF:2.1,\nb.ts\n", "#EXTINF:1,\na.ts\n#EXTINF:2,\nc.ts\n",
            "#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:1,\na.ts\n#EXTINF:2,\nb.ts\n",
            "#EXTINF:1,\na.ts\n#EXT-X-BYTERANGE:1@0\n#EXTINF:2,\nb.ts\n",
            "#EXTINF:1,\na.ts\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:2,\nb.ts\n",
        ] {
            #expect(try file(other).identity != first.identity, "\(other)")
        }
    }

    @Test func `a mark of the journal is read as it was written`() throws {
        let mark = StreamMark(
            identity: "abc", steps: [StreamMark.Step(next: 5, offset: 900), StreamMark.Step(next: 3, offset: 500)],
            gaps: [1, 2])
        #expect(StreamMark(mark.text) == mark)
        #expect(mark.step(within: ByteRangeSet([ByteRange(0, 900)])).next == 5)
        #expect(mark.step(within: ByteRangeSet([ByteRange(0, 899)])).next == 3)
        #expect(mark.step(within: ByteRangeSet([ByteRange(1, 900)])).next == 0)
        #expect(
            StreamMark("stream-2 abc") == nil && StreamMark("\"etag\"") == nil && StreamMark("stream-1 a 1@x") == nil)
    }

    @Test func `AES-128 is decrypted, and a wrong key is noticed`() throws {
        // openssl enc -aes-128-cbc -K 000102…0f -iv 0f0e0d…00, of "segment".
        let key = (0..<16).map { UInt8($0) }
        let vector = Array(key.reversed())
        let coded = try #require(Hexadecimal.bytes("b588ca40977091a260797f2da775120c"))
        #expect(SegmentCipher.decrypt(coded, key: key, vector: vector) == Array("segment".utf8))
        for size in [1, 5, 16, 100] {
            let cipher = try #require(SegmentDecryptor(key: key, vector: vector))
            var plain: [UInt8] = []
            for start in stride(from: 0, to: coded.count, by: size) {
                plain += try #require(cipher.update(Array(coded[start..<min(coded.count, start + size)])))
            }
            #expect(plain + (cipher.finish() ?? [0]) == Array("segment".utf8))
        }
        let wrong = SegmentDecryptor(key: vector, vector: vector)
        #expect(
            wrong?.update(coded) == [] && wrong?.finish() == nil && SegmentDecryptor(key: [], vector: vector) == nil)
        #expect(SegmentCipher.decrypt(coded, key: vector, vector: vector) == nil)
        #expect(SegmentCipher.decrypt(Array(coded.dropLast()), key: key, vector: vector) == nil)
        #expect(SegmentCipher.decrypt([], key: key, vector: vector) == nil)
    }
}
