import PawlBase
import PawlSystem
import PawlTestKit
import Testing

@Suite struct GzipTests {
    /// What `gunzip` makes of it.
    private func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try FileSystem.write(bytes, to: folder.path("a.gz"))
        _ = try PawlProcess.run("/bin/gzip", ["-d", folder.path("a.gz")])
        return try #require(FileSystem.contents(folder.path("a")))
    }

    @Test(arguments: [
        "", "a", "aa", "aaa", "abcabcabcabcd", String(repeating: "x", count: 1000),
        String(repeating: "the same line again\n", count: 4000),
    ]) func `gunzip returns what was compressed`(text: String) throws {
        let bytes = Array(text.utf8)
        let member = Gzip.compress(bytes)
        #expect(try unpacked(member) == bytes)
        #expect(Gzip.decompress(member, limit: bytes.count) == bytes)
    }

    @Test func `bytes of any kind come back, repetitions over long distances too`() throws {
        let noise = Payload(seed: 1, length: 30_000).bytes
        let skewed = (0..<20).flatMap { [UInt8](repeating: UInt8($0), count: 1 << $0 & 0xFFFF) }
        for bytes in [noise, noise + noise, skewed] { #expect(try unpacked(Gzip.compress(bytes)) == bytes) }
        #expect(Gzip.compress(noise + noise).count < noise.count + 2000)
    }

    @Test func `a text becomes much smaller`() {
        let text = (0..<2000).map { "const value\($0 % 50) = make(\"div\", { class: \"row\" });\n" }.joined()
        #expect(Gzip.compress(Array(text.utf8)).count < text.utf8.count / 10)
    }
}
