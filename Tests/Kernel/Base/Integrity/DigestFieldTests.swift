import Testing

@testable import PawlBase

@Suite struct `Digest fields` {
    private static let sha = "WJG3FSsiPrLWMN0V+jR+Y6PWZ4Y6WhfEyoVXHTL9S8w="
    private static let zero = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private static func parse(_ name: String, _ value: String) -> [String] {
        (DigestField(name.utf8)?.parse(value.utf8) ?? []).map {
            "\($0.checksum.algorithm.rawValue) \(Base64.encode($0.checksum.digest))"
        }
    }

    @Test(arguments: [
        ("Repr-Digest", "sha-256=:\(sha):", ["sha-256 \(sha)"]),
        ("repr-digest", " sha-512=:x:, sha-256=:\(sha):;x=\"y\" ", ["sha-256 \(sha)"]),
        // Two values of one key: both are stated.
        ("Repr-Digest", "sha-256=:\(sha):, sha-256=:\(zero):", ["sha-256 \(sha)", "sha-256 \(zero)"]),
        ("Content-Digest", "md5=:AAAAAAAAAAAAAAAAAAAAAA==:", ["md5 AAAAAAAAAAAAAAAAAAAAAA=="]),
        ("Digest", "SHA-256=\(sha),UNIXsum=30637", ["sha-256 \(sha)"]),
        ("Digest", "id-sha-256=\(sha)", ["sha-256 \(sha)"]), ("Digest", "crc32c=0a72a4df", ["crc32c CnKk3w=="]),
        ("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==", ["md5 AAAAAAAAAAAAAAAAAAAAAA=="]),
        (
            "x-goog-hash", "crc32c=n03x6A==,md5=Ojk9c3dhfxgoKVVHYwFbHQ==",
            ["crc32c n03x6A==", "md5 Ojk9c3dhfxgoKVVHYwFbHQ=="]
        ), ("x-amz-checksum-sha256", sha, ["sha-256 \(sha)"]),
        ("x-amz-checksum-crc64nvme", "rosUhgp5mIg=", ["crc64nvme rosUhgp5mIg="]),
        (
            "X-Checksum-Sha256", "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
            ["sha-256 WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM="]
        ),
        (
            "X-Linked-ETag", "\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"",
            ["sha-256 WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM="]
        ),
    ]) func `a digest is read`(name: String, value: String, wanted: [String]) {
        #expect(Self.parse(name, value) == wanted)
    }

    @Test(arguments: [
        // Padding that is missing, doubled, or in the middle.
        ("Repr-Digest", "sha-256=:\(sha.dropLast()):"), ("Repr-Digest", "sha-256=:\(sha)=:"),
        ("Repr-Digest", "sha-256=:=\(sha.dropLast()):"), ("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA="),
        // No byte sequence, another length, an algorithm that is not known, keys that are none.
        ("Repr-Digest", "sha-256=\(sha)"), ("Repr-Digest", "sha-256=:AAAA:"), ("Repr-Digest", "sha-3=:\(sha):"),
        ("Repr-Digest", "SHA-256=:\(sha):"), ("Repr-Digest", "sha-256=:\(sha)"), ("Repr-Digest", ""),
        ("Repr-Digest", "sha-256=:\(sha):x"),
        // The alphabet of URLs.
        ("Repr-Digest", "sha-256=:\(sha.map { $0 == "+" ? "-" : String($0) }.joined()):"),
        // Digests of parts, combined.
        ("x-amz-checksum-sha256", "\(sha)-3"), ("x-amz-checksum-crc32c", "n03x6A==-12"), ("X-Linked-ETag", "\"abc\""),
        ("X-Linked-ETag", "W/\"5891b5b522d5df086d0ff0b110fbd9d2\""), ("X-Checksum-Sha256", "zz"),
        ("x-ms-blob-content-md5", sha), ("ETag", sha), ("Repr-Digests", sha),
    ]) func `what cannot be read states nothing`(name: String, value: String) {
        #expect(Self.parse(name, value).isEmpty)
    }

    @Test func `a field has a bound`() {
        let value = Array(repeating: "sha-256=:\(Self.sha):", count: 1000).joined(separator: ",")
        #expect(Self.parse("Repr-Digest", value).count == DigestField.most)
    }

    @Test func `a fragment states digests beside other things`() throws {
        let hex = String(repeating: "ab", count: 32)
        let found = try DigestFragment.parse("https://h/f#egg=x&SHA256=\(hex)&sha256=\(hex)")
        #expect(found == [Checksum(algorithm: .sha256, digest: [UInt8](repeating: 0xAB, count: 32))])
        #expect(try DigestFragment.parse("https://h/f?sha256=x#page=2").isEmpty)
        #expect(throws: Failure.self) { try DigestFragment.parse("https://h/f#sha256=abc") }
    }
}
