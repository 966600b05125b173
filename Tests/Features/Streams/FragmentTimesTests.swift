import Testing

@testable import PawlStreams

/// Times of fragments, from boxes whose lengths and numbers are put together here.
@Suite struct FragmentTimesTests {
    private func word(_ number: Int, _ width: Int = 4) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        return word(content.count + 8) + Array(type.utf8) + content
    }

    /// A header with two times and a timescale.
    private func header(_ type: String, _ timescale: Int, version: Int = 0) -> [UInt8] {
        box(type, word(version << 24), word(0, version == 1 ? 16 : 8), word(timescale), word(0, 8))
    }

    private func track(
        _ id: Int, _ timescale: Int, codec: String = "avc1", edits: [(duration: Int, time: Int)] = [], version: Int = 0
    ) -> [UInt8] {
        let width = version == 1 ? 8 : 4
        let list = edits.flatMap { word($0.duration, width) + word($0.time, width) + word(1 << 16) }
        return box(
            "trak", box("tkhd", word(version << 24), word(0, version == 1 ? 16 : 8), word(id)),
            edits.isEmpty ? [] : box("edts", box("elst", word(version << 24), word(edits.count), list)),
            box(
                "mdia", header("mdhd", timescale, version: version), box("hdlr", word(0, 8), Array("vide".utf8)),
                box("minf", box("stbl", box("stsd", Array(codec.utf8))))))
    }

    private func movie(_ tracks: [UInt8]..., usual: Int = 0, timescale: Int = 1_000) -> [UInt8] {
        box("ftyp", word(1))
            + box(
                "moov", header("mvhd", timescale), tracks.flatMap { $0 },
                box("mvex", box("trex", word(0), word(1), word(1), word(usual))))
    }

    private func fragment(_ id: Int, at time: Int?, _ run: [UInt8]..., usual: Int? = nil, version: Int = 0) -> [UInt8] {
        let header = word(usual == nil ? 0 : 0xA) + word(id) + (usual.map { word(1) + word($0) } ?? [])
        let start = time.map { box("tfdt", word(version << 24), word($0, version == 1 ? 8 : 4)) } ?? []
        return box("moof", box("traf", box("tfhd", header), start, run.flatMap { box("trun", $0) }))
            + box("mdat", word(7))
    }

    private func times(_ bytes: [UInt8]) -> FragmentTimes? {
        FragmentTimes(length: Int64(bytes.count)) { offset, count in
            Array(bytes[min(Int(offset), bytes.count)...].prefix(count))
        }
    }

    @Test func `times are those of the samples`() throws {
        // Two samples with durations and a shift, then three that are as long as the fragment says, and one as the movie does.
        let own = word(0x901) + word(2) + word(0) + word(10) + word(20) + word(10) + word(-5)
        let bytes =
            movie(track(1, 100), usual: 50) + fragment(1, at: 1_000, own)
            + fragment(1, at: nil, word(0) + word(3), usual: 25)
            + fragment(1, at: 1_095, word(0) + word(1))
        let found = try #require(times(bytes))
        #expect(found.start == 10_050_000 && found.end == 11_450_000)
    }

    @Test func `an edit list moves them`() throws {
        func start(_ edits: (duration: Int, time: Int)..., version: Int = 0) -> Int64? {
            let fragments = fragment(1, at: 300, word(0) + word(1), usual: 1, version: version)
            return times(movie(track(1, 100, edits: edits, version: version)) + fragments)?.start
        }
        for version in 0...1 {
            #expect(start((0, 50), version: version) == 2_500_000)
            #expect(start((2_500, -1), (0, 50), version: version) == 5_000_000)
            #expect(start((2_500, -1), version: version) == 5_500_000)
        }
    }

    @Test func `a timescale of more than 31 bits is refused`() {
        let most = Int(UInt32.max)
        let waiting = movie(track(1, most, edits: [(most - 1, -1)]), timescale: most)
        #expect(times(waiting + fragment(1, at: 0, word(0) + word(1), usual: 1)) == nil)
    }

    @Test func `fragments of equal forms can follow each other`() throws {
        func forms(_ tracks: [UInt8]...) throws -> [[[UInt8]]] {
            let fragments =
                fragment(1, at: 0, word(0) + word(1), usual: 9) + fragment(2, at: 0, word(0) + word(1), usual: 9)
            return try #require(times(movie(tracks.flatMap { $0 }) + fragments)).forms
        }
        let known = try forms(track(1, 100), track(2, 48_000))
        #expect(try forms(track(1, 100, version: 1), track(2, 48_000, edits: [(0, 1_024)])) == known)
        #expect(try forms(track(1, 100), track(2, 44_100)) != known)
        #expect(try forms(track(1, 100, codec: "hvc1"), track(2, 48_000)) != known)
    }

    @Test func `what is no file of fragments has no times`() {
        let whole = movie(track(1, 100)) + fragment(1, at: 0, word(0x800) + word(2) + word(1) + word(2), usual: 9)
        #expect(times(whole) != nil)
        for count in 0..<whole.count where count < whole.count - 12 {
            #expect(times(Array(whole.prefix(count))) == nil)
        }
        #expect(times(movie(track(1, 100)) + fragment(2, at: 0, word(0) + word(1), usual: 9)) == nil)
        #expect(times(movie(track(1, 0)) + fragment(1, at: 0, word(0) + word(1), usual: 9)) == nil)
        #expect(times(movie(track(1, 1)) + fragment(1, at: 1 << 61, word(0) + word(1), usual: 9, version: 1)) == nil)
        #expect(times(movie(track(1, 1)) + fragment(1, at: 1 << 59, word(0) + word(1), usual: 9, version: 1)) == nil)
    }
}
