import CPawlSystem
import PawlSystem
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// CRCs of parts in any order.
@Suite struct CRCHashingTests {
    private static let kinds: [(HashAlgorithm, Int32)] = [
        (.crc32, Int32(PAWL_CRC32)), (.crc32c, Int32(PAWL_CRC32C)), (.crc64nvme, Int32(PAWL_CRC64NVME)),
    ]

    /// The check values of the catalogue of parametrised CRC algorithms.
    @Test(arguments: zip(kinds, [0xCBF4_3926, 0xE306_9283, 0xAE8B_1486_0A79_9888] as [UInt64]))
    func `the processor's instructions compute what tables do`(kind: (HashAlgorithm, Int32), check: UInt64) {
        let digits = Array("123456789".utf8)
        #expect(unsafe pawl_crc(kind.1, 0, digits, digits.count) == check)
        let bytes = payload(3_000)
        let mask = kind.0 == .crc64nvme ? UInt64.max : UInt64(UInt32.max)
        for length in Array(0...200) + [255, 256, 257, 1_023, 2_999] {
            let start = 0x0123_4567_89AB_CDEF & mask
            let fast = unsafe pawl_crc(kind.1, start, bytes, length)
            #expect(unsafe fast == pawl_crc_portable(kind.1, start, bytes, length), "\(kind.0) of \(length) bytes")
        }
    }

    /// The values of zlib's adler32().
    @Test(arguments: [("", "00000001"), ("Wikipedia", "11e60398"), (String(repeating: "\u{FF}", count: 9_000), "")])
    func `Adler-32 is computed as RFC 1950 says`(text: String, digest: String) {
        let bytes = Array(text.utf8)
        let hash = RunningHash([.adler32])
        for start in stride(from: 0, to: bytes.count, by: 7_000) {
            unsafe bytes[start..<min(start + 7_000, bytes.count)].withUnsafeBytes { unsafe hash.feed($0) }
        }
        var (low, high) = (1, 0)
        for byte in bytes {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        let found = hash.finish()[0]
        #expect(found == RunningHash.checksum(.adler32, UInt64(high << 16 | low)))
        #expect(digest.isEmpty || found.text == "adler32=" + digest)
    }

    @Test(arguments: kinds) func `the values of two parts are combined`(kind: (HashAlgorithm, Int32)) {
        let bytes = payload(5_000)
        for place in [0, 1, 63, 64, 2_500, 4_999, 5_000] {
            let first = unsafe pawl_crc(kind.1, 0, bytes, place)
            let second = unsafe pawl_crc(kind.1, 0, Array(bytes[place...]), bytes.count - place)
            let both = pawl_crc_combined(kind.1, first, second, UInt64(bytes.count - place))
            #expect(unsafe both == pawl_crc(kind.1, 0, bytes, bytes.count))
        }
    }

    @Test func `parts that are written in any order and again give the value of the whole`() async throws {
        let folder = TestFolder()
        let length = 20 << 20
        let bytes = payload(length)
        let algorithms = Self.kinds.map(\.0)
        let wanted = RunningHash(algorithms)
        unsafe bytes.withUnsafeBytes { unsafe wanted.feed($0) }
        let partial = try folder.fresh("x.bin")
        var done = ByteRangeSet()
        for start in [9 << 20, 0, 15 << 20, 3 << 20] {
            let end = min(length, start + (6 << 20))
            try partial.write(Array(bytes[start..<end]), at: Int64(start))
            partial.wrote(ByteRange(Int64(start), Int64(end)))
            done.insert(ByteRange(Int64(start), Int64(end)))
            partial.hashAhead(algorithms, done: done)
        }
        // Wrong bytes that were hashed count no more when right ones replace them.
        try partial.write([UInt8](repeating: 7, count: 100), at: 1_000_000)
        partial.hashAhead(algorithms, done: done)
        try partial.write(Array(bytes[1_000_000..<1_000_100]), at: 1_000_000)
        #expect(done == ByteRangeSet([ByteRange(0, Int64(length))]))
        let computed = try await withCheckedThrowingContinuation { continuation in
            partial.digests(algorithms, length: Int64(length)) { continuation.resume(with: $0) }
        }
        #expect(computed == wanted.finish())
    }

    @Test func `what connections write is read as it comes, so little is left after the last byte`() throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        let algorithms = [HashAlgorithm.crc32c]
        partial.hashAhead(algorithms, done: ByteRangeSet())
        let (lanes, length) = (4, Int64(4 << 20))
        let chunk = payload(256 << 10)
        for step in 0..<Int(length) / chunk.count {
            for lane in 0..<lanes { try partial.write(chunk, at: Int64(lane) * length + Int64(step * chunk.count)) }
        }
        // No tick came.
        folder.disk.hashers.rest().pass()
        let crc = try #require(partial.crc)
        #expect(crc.remaining < Int64(lanes) * CRCSegments.shortest)
        partial.discard()
    }

    @Test func `what is left to check is what was written and not checked`() {
        var segments = CRCSegments()
        let done = ByteRangeSet([ByteRange(0, 10), ByteRange(4 << 20, 30 << 20)])
        #expect(segments.next(in: done, isFinal: false) == ByteRange(4 << 20, 12 << 20))
        #expect(segments.next(in: done, isFinal: true) == ByteRange(0, 10))
        segments.insert(ByteRange(4 << 20, 12 << 20), [2])
        segments.insert(ByteRange(0, 10), [1])
        #expect(segments.next(in: done, isFinal: false) == ByteRange(12 << 20, 20 << 20))
        let combine: (Int, UInt64, UInt64, Int64) -> UInt64 = { place, first, second, _ in
            first * 10 + second + UInt64(place)
        }
        #expect(segments.combined(length: 12 << 20, combine) == nil)
        segments.insert(ByteRange(10, 4 << 20), [3])
        #expect(segments.combined(length: 12 << 20, combine) == [132])
        segments.remove(ByteRange(11, 12))
        #expect(segments.next(in: ByteRangeSet([ByteRange(0, 12 << 20)]), isFinal: true) == ByteRange(10, 4 << 20))
    }
}
