import PawlBase
import PawlStreams
import Testing

/// Boxes and packets as packagers write them.
enum Media {
    static func box(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        big(UInt64(content.count + 8), 4) + Array(type.utf8) + content
    }

    static func big(_ number: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (width - 1 - $0))) }
    }

    static let fragment = box("styp", Array("msdh".utf8)) + box("moof", box("mfhd")) + box("mdat", [1, 2, 3])

    /// An initialization whose only track has an entry of that kind.
    static func initialization(_ entry: [UInt8], _ others: [UInt8] = []) -> [UInt8] {
        let table = box("stsd", big(1, 8) + entry)
        let track = box("trak", box("mdia", box("minf", box("stbl", table))))
        return box("ftyp", Array("iso6".utf8)) + box("moov", box("mvhd") + track + others)
    }

    static let clear = initialization(box("avc1", [UInt8](repeating: 0, count: 78)))

    static func packets(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { [0x47] + [UInt8](repeating: UInt8(truncatingIfNeeded: $0 &* 73 &+ 5), count: 187) }
    }
}

@Suite struct SegmentCheckTests {
    private func failure(
        _ bytes: [UInt8], _ container: StreamTrack.Container?, isInitialization: Bool = false, isWhole: Bool = false
    ) -> String? {
        SegmentCheck.failure(
            of: bytes, container: container, isInitialization: isInitialization, isSelfInitializing: isWhole)
    }

    @Test(arguments: [
        "<html><p>gone</p>", "\n <!DOCTYPE html>\n<title>x", "\u{FEFF}<HTML>", "<!-- x --><html lang=en>", "<head>",
        "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "{\"error\":\"expired\"}", "<",
    ]) func `a page or a document is never media, whatever is due`(text: String) {
        for container in [nil, .bytes, .transportStream, .fragments, .packedAudio, .webVTT] as [StreamTrack.Container?]
        {
            #expect(failure(Array(text.utf8), container)?.hasPrefix("it is a") == true)
        }
        #expect(SegmentCheck.container(of: Array(text.utf8)) == nil)
    }

    @Test func `subtitles in XML are media`() {
        #expect(failure(Array("<?xml version=\"1.0\"?><tt xmlns=\"a\"><body/></tt>".utf8), .bytes) == nil)
        #expect(failure(Array("<tt:tt xmlns:tt=\"a\"/>".utf8), .bytes) == nil)
    }

    @Test func `an empty segment is none`() {
        for container in [nil, .bytes, .transportStream, .fragments] as [StreamTrack.Container?] {
            #expect(failure([], container) == "it is empty")
        }
    }

    // MARK: transport streams

    @Test func `a transport stream has a packet at each 188 bytes`() {
        let stream = Media.packets(5)
        #expect(failure(stream, .transportStream) == nil)
        #expect(failure(stream, nil) == nil)
        #expect(failure(stream.dropLast(), .transportStream) == "its 939 bytes are no multiple of 188")
        var damaged = stream
        damaged[188 * 3] = 0
        #expect(failure(damaged, .transportStream) == "the transport stream has no packet at byte 564")
        #expect(
            failure(Array(stream.dropFirst()), .transportStream)
                == "it does not begin with a packet of a transport stream")
    }

    private func failure(_ bytes: ArraySlice<UInt8>, _ container: StreamTrack.Container) -> String? {
        SegmentCheck.failure(of: bytes, container: container, isInitialization: false)
    }

    // MARK: MP4

    @Test func `every cut of a fragment is found`() {
        #expect(failure(Media.fragment, .fragments) == nil)
        for count in 1..<Media.fragment.count {
            #expect(failure(Array(Media.fragment.prefix(count)), .fragments) != nil)
            // Without its first box it is a fragment still.
            if count != 12 { #expect(failure(Media.fragment[count...], .fragments) != nil) }
        }
    }

    @Test func `every cut of an initialization is found`() {
        #expect(failure(Media.clear, .fragments, isInitialization: true) == nil)
        for count in 1..<Media.clear.count {
            #expect(failure(Array(Media.clear.prefix(count)), .fragments, isInitialization: true) != nil)
        }
    }

    @Test func `a box may have a long size, and none may reach to the end of a file`() {
        let long = Media.big(1, 4) + Array("mdat".utf8) + Media.big(19, 8) + [1, 2, 3]
        #expect(failure(Media.box("moof") + long, .fragments) == nil)
        let open = Media.big(0, 4) + Array("mdat".utf8) + [1, 2, 3]
        #expect(failure(Media.box("moof") + open, .fragments) == "the boxes of the MP4 do not fill it")
        let huge = Media.big(1, 4) + Array("mdat".utf8) + Media.big(.max, 8)
        #expect(failure(Media.box("moof") + huge, .fragments) == "the boxes of the MP4 do not fill it")
    }

    @Test func `each moof box needs an mdat box behind it`() {
        let moof = Media.box("moof")
        let mdat = Media.box("mdat", [7])
        #expect(failure(Media.box("emsg") + moof + mdat + Media.box("prft") + moof + mdat + mdat, .fragments) == nil)
        for wrong in [moof, mdat, mdat + moof, moof + moof + mdat, moof + mdat + moof, Media.box("styp")] {
            #expect(failure(wrong, .fragments) != nil)
        }
    }

    @Test func `an initialization is no fragment, and a fragment no initialization`() {
        #expect(failure(Media.clear, .fragments) != nil)
        #expect(failure(Media.fragment, .fragments, isInitialization: true) == "it has no moov box")
        #expect(failure(Media.clear + Media.fragment, .fragments, isInitialization: true) != nil)
    }

    @Test func `a whole file is a segment where there is no initialization`() {
        let file = Media.clear + Media.fragment
        #expect(failure(file, .fragments, isWhole: true) == nil)
        #expect(failure(file, .fragments)?.hasPrefix("it begins another MP4") == true)
        #expect(failure(Media.clear, .fragments, isWhole: true) == "it has an initialization only")
        #expect(failure(Media.fragment, .fragments, isWhole: true) == "it has no moov box")
    }

    @Test func `encrypted tracks are refused by scheme and system`() {
        let widevine: [UInt8] = [
            0xED, 0xEF, 0x8B, 0xA9, 0x79, 0xD6, 0x4A, 0xCE, 0xA3, 0xC8, 0x27, 0xDC, 0xD5, 0x1D, 0x21, 0xED,
        ]
        let scheme = Media.box("sinf", Media.box("schm", Media.big(0, 4) + Array("cbcs".utf8) + Media.big(65536, 4)))
        let entry = Media.box("encv", [UInt8](repeating: 0, count: 78) + scheme)
        let system = Media.box("pssh", Media.big(0, 4) + widevine + Media.big(0, 4))
        let bytes = Media.initialization(entry, system + system)
        #expect(
            failure(bytes, .fragments, isInitialization: true) == "it is encrypted by DRM (cbcs, Widevine)")
        #expect(failure(bytes + Media.fragment, .fragments, isWhole: true) != nil)
        let bare = Media.initialization(Media.box("enca", [UInt8](repeating: 0, count: 28)))
        #expect(SegmentCheck.protection(of: bare) == "it is encrypted by DRM (enca)")
        #expect(SegmentCheck.protection(of: Media.clear) == nil)
    }

    @Test func `an initialization whose tracks cannot be read is refused`() {
        let track = Media.box("trak", Media.box("mdia", [0, 0, 0, 99] + Array("minf".utf8)))
        let bytes = Media.box("ftyp") + Media.box("moov", track)
        #expect(failure(bytes, .fragments, isInitialization: true) == "its moov box is damaged")
    }

    // MARK: others

    @Test func `the first bytes tell the format`() {
        #expect(SegmentCheck.container(of: Media.packets(1)) == .transportStream)
        #expect(SegmentCheck.container(of: Media.fragment) == .fragments)
        #expect(SegmentCheck.container(of: Media.clear) == .fragments)
        #expect(SegmentCheck.container(of: Array("WEBVTT\n\n".utf8)) == .webVTT)
        #expect(SegmentCheck.container(of: Array("\u{FEFF}WEBVTT - x".utf8)) == .webVTT)
        #expect(SegmentCheck.container(of: Array("WEBVTTX".utf8)) == nil)
        #expect(SegmentCheck.container(of: [0xFF, 0xF1, 0x50, 0x80]) == .packedAudio)
        #expect(SegmentCheck.container(of: [0x0B, 0x77, 1]) == .packedAudio)
        #expect(SegmentCheck.container(of: [0x1A, 0x45, 0xDF, 0xA3, 1]) == .bytes)
        #expect(SegmentCheck.container(of: [0x89] + Array("PNG\r\n".utf8)) == nil)
        var packets = Media.packets(2)
        packets[188] = 0
        #expect(SegmentCheck.container(of: packets) == nil)
    }

    @Test func `bytes of no known format are refused while none is known`() {
        #expect(failure([1, 2, 3], nil) != nil)
        #expect(failure([1, 2, 3], .bytes) == nil)
        #expect(failure([1, 2, 3], .packedAudio) != nil)
        #expect(failure([1, 2, 3], .webVTT) != nil)
    }

    // MARK: ID3

    @Test func `only the first segment of packed audio keeps its tags`() {
        let audio = frame(9)
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 2] + [UInt8](repeating: 9, count: 130)
        let tagged = tag + tag + audio
        #expect(ID3Tag.length(in: tagged) == 280)
        #expect(Array(ID3Tag.joined(tagged, isFirst: false)) == audio)
        #expect(Array(ID3Tag.joined(tagged, isFirst: true)) == tagged)
        #expect(failure(tagged, .packedAudio) == nil)
        #expect(ID3Tag.length(in: tag.dropLast()) == 0)
        let footed = Array("ID3".utf8) + [4, 0, 0x10, 0, 0, 0, 1] + [UInt8](repeating: 9, count: 11)
        #expect(ID3Tag.length(in: footed + audio) == 21)
    }

    /// A frame of ADTS with that length.
    private func frame(_ length: Int) -> [UInt8] {
        let size = Media.big(UInt64(length) << 5, 3)
        return [0xFF, 0xF1, 0x50, 0x80 | size[0], size[1], size[2], 0xFC] + [UInt8](repeating: 0xAB, count: length - 7)
    }

    @Test func `frames of AAC fill the segment`() {
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 2, 9, 9]
        let segment = tag + frame(300) + frame(7) + tag + frame(2000)
        #expect(failure(segment, .packedAudio) == nil && failure(segment, nil) == nil)
        let ends: Set = [tag.count, tag.count + 300, tag.count + 307, tag.count * 2 + 307]
        for count in (tag.count + 1)..<segment.count where !ends.contains(count) {
            #expect(failure(Array(segment.prefix(count)), .packedAudio) != nil, "\(count) bytes")
        }
        #expect(failure(Array(segment.dropLast()), .packedAudio) == "it ends within a frame of AAC")
        #expect(failure(segment + [0xFF, 0xF1, 0x50], .packedAudio) == "it ends within a frame of AAC")
        #expect(failure(frame(300) + [0, 1] + frame(9), .packedAudio) == "it has no frame of AAC at byte 300")
        #expect(failure([0xFF, 0xF1, 0x50, 0x80, 0, 0, 0xFC], .packedAudio)?.contains("shorter than") == true)
    }

    @Test(arguments: [[0xFF, 0xFB, 0x90, 0x64, 1], [0x0B, 0x77, 1, 2, 3]] as [[UInt8]])
    func `of MP3 and AC-3 the first frame counts`(bytes: [UInt8]) {
        #expect(failure(bytes, .packedAudio) == nil)
    }

    // MARK: sidx

    private func index(version: UInt64, gap: UInt64, sizes: [UInt64], timescale: UInt64 = 1000) -> [UInt8] {
        let width = version == 0 ? 4 : 8
        let head = Media.big(version, 1) + Media.big(0, 3) + Media.big(1, 4) + Media.big(timescale, 4)
        let times = Media.big(5, width) + Media.big(gap, width) + Media.big(UInt64(sizes.count), 4)
        return Media.box(
            "sidx", head + times + sizes.flatMap { Media.big($0, 4) + Media.big(2000, 4) + Media.big(0x9000_0000, 4) })
    }

    @Test(arguments: [0, 1] as [UInt64]) func `the index of a file gives the ranges of its subsegments`(
        version: UInt64
    ) throws {
        let bytes = index(version: version, gap: 10, sizes: [100, 50])
        let found = try #require(SegmentIndex(bytes + [1, 2, 3], at: 700))
        let start = 710 + Int64(bytes.count)
        #expect(found.entries.map(\.range) == [ByteRange(start, start + 100), ByteRange(start + 100, start + 150)])
        #expect(found.entries.map(\.duration) == [2_000_000, 2_000_000])
    }

    @Test func `an index that is cut, empty or refers to others is none`() {
        let bytes = index(version: 0, gap: 0, sizes: [100, 50])
        for count in 0..<bytes.count { #expect(SegmentIndex(Array(bytes.prefix(count)), at: 0) == nil) }
        #expect(SegmentIndex(index(version: 0, gap: 0, sizes: []), at: 0) == nil)
        #expect(SegmentIndex(index(version: 0, gap: 0, sizes: [0]), at: 0) == nil)
        #expect(SegmentIndex(index(version: 0, gap: 0, sizes: [1 << 31 | 5]), at: 0) == nil)
        #expect(SegmentIndex(index(version: 0, gap: 0, sizes: [5], timescale: 0), at: 0) == nil)
        #expect(SegmentIndex(index(version: 1, gap: .max, sizes: [5]), at: 0) == nil)
        #expect(SegmentIndex(bytes, at: .max) == nil)
        #expect(SegmentIndex(Media.fragment, at: 0) == nil)
    }
}
