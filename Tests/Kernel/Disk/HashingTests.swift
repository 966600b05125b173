import PawlSystem
import Testing

@testable import PawlBase
@testable import PawlDisk

@Suite struct HashingTests {
    /// FIPS 180-4 and RFC 1321: the digests of "abc" and of the empty string.
    @Test(arguments: [
        (HashAlgorithm.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"), (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
        (
            .sha512, "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            .sha384, "abc",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed" + "8086072ba1e7cc2358baeca134c825a7"
        ), (.sha224, "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
    ]) func `a digest matches the published one`(_ algorithm: HashAlgorithm, _ text: String, _ hex: String) async throws
    {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(Array(text.utf8) + [9, 9, 9], at: 0)
        let digest = try await partial.digest(algorithm, length: Int64(text.utf8.count))
        #expect(digest == Hexadecimal.bytes(hex))
    }

    @Test func `coded bytes have the digests of what they contain`() {
        let plain = Array("abc".utf8)
        let wanted = ContentDigest.digests([.sha256, .md5], of: plain, coding: nil)
        #expect(wanted?.map(\.digest) == [.sha256, .md5].map { ContentDigest.digest($0, of: plain) })
        #expect(ContentDigest.digests([.sha256, .md5], of: Gzip.compress(plain), coding: "gzip") == wanted)
        #expect(ContentDigest.digests([.sha256], of: plain, coding: "gzip") == [])
        #expect(ContentDigest.digests([.sha256], of: plain, coding: "br") == nil)
        let bomb = Gzip.compress([UInt8](repeating: 0, count: 64 << 20)) + Gzip.compress([0])
        #expect(ContentDigest.digests([.sha256], of: bomb, coding: "gzip") == nil)
    }

    @Test func `a file that is written while it is read has no digest`() throws {
        let folder = TestFolder()
        try folder.put([1, 2, 3], in: "f")
        let hashing = try FileHashing(Array("\(folder.path)/f".utf8))
        #expect(throws: Failure.self) {
            try hashing.digests([.md5]) { _ in (try? folder.put([1, 2, 3, 4], in: "f")) != nil }
        }
    }

    private let length: Int64 = 3_000_001

    private func digest(_ folder: TestFolder, _ name: String, _ bytes: [UInt8]) async throws -> [UInt8] {
        let partial = try folder.fresh(name)
        try partial.write(bytes, at: 0)
        defer { partial.discard() }
        return try await partial.digest(.sha256, length: Int64(bytes.count))
    }

    @Test func `hashing ahead in pieces gives the digest of the whole file`() async throws {
        let folder = TestFolder()
        let bytes = payload(Int(length))
        let expected = try await digest(folder, "whole", bytes)
        let partial = try folder.fresh("x.bin")
        var end: Int64 = 0
        for step in [1, 700_000, 256 << 10, 12_345, 1_999_999] as [Int64] {
            let next = min(length, end + step)
            try partial.write(Array(bytes[Int(end)..<Int(next)]), at: end)
            end = next
            partial.hashAhead([.sha256], done: ByteRangeSet([ByteRange(0, end)]))
        }
        #expect(end < length)
        try partial.write(Array(bytes[Int(end)...]), at: end)
        #expect(try await partial.digest(.sha256, length: length) == expected)
        // A second request, and one of another kind, are correct as well.
        #expect(try await partial.digest(.sha256, length: length) == expected)
        #expect(try await partial.digest(.md5, length: length) != expected)
    }

    @Test func `starting over discards bytes hashed ahead`() async throws {
        let folder = TestFolder()
        let bytes = payload(1_000_000, seed: 2)
        let expected = try await digest(folder, "whole", bytes)
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(1_000_000, seed: 1), at: 0)
        partial.hashAhead([.sha256], done: ByteRangeSet([ByteRange(0, 1_000_000)]))
        try partial.startOver(folder.facts("x.bin"))
        try partial.write(bytes, at: 0)
        #expect(try await partial.digest(.sha256, length: 1_000_000) == expected)
    }

    @Test func `a shorter length than was hashed ahead is hashed again`() async throws {
        let folder = TestFolder()
        let bytes = payload(1_000_000)
        let expected = try await digest(folder, "whole", Array(bytes[..<500_000]))
        let partial = try folder.fresh("x.bin")
        try partial.write(bytes, at: 0)
        partial.hashAhead([.sha256], done: ByteRangeSet([ByteRange(0, 1_000_000)]))
        #expect(try await partial.digest(.sha256, length: 500_000) == expected)
    }

    @Test func `a file that was truncated meanwhile is a failure, not a wrong digest`() async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(100), at: 0)
        let failure = await #expect(throws: Failure.self) { try await partial.digest(.sha256, length: 101) }
        #expect(failure?.code == .inputOutput)
    }

    @Test func `bytes that change after they were hashed are hashed again`() async throws {
        let folder = TestFolder()
        let bytes = payload(1_000_000, seed: 2)
        let expected = try await digest(folder, "whole", bytes)
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(1_000_000, seed: 1), at: 0)
        partial.hashAhead([.sha256], done: ByteRangeSet([ByteRange(0, 1_000_000)]))
        try partial.write(bytes, at: 0)
        partial.wrote(ByteRange(0, 10))
        #expect(try await partial.digest(.sha256, length: 1_000_000) == expected)
    }

    @Test func `a file that changes between its digest and its publishing is not published`() async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(1000), at: 0)
        _ = try await partial.digest(.sha256, length: 1000)
        try folder.put(payload(1000, seed: 9), in: "x.bin.part")
        let failure = await #expect(throws: Failure.self) { try await partial.publish(length: 1000) }
        #expect(failure?.code == .inputOutput)
        #expect(folder.names == ["x.bin.part"])
        partial.discard()
    }
}
