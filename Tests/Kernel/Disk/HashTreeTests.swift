import PawlBase
import Testing

@testable import PawlDisk

@Suite struct HashTreeTests {
    private static func digest(_ bytes: [UInt8]) -> [UInt8] { ContentDigest.digest(.sha256, of: bytes) }
    private static func content(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 / 97) } }
    private static let zeros = [UInt8](repeating: 0, count: 32)

    private static func root(_ content: [UInt8], by part: Int, padding: Int64 = 0) -> [UInt8] {
        let hash = RunningHash([.sha256Tree])
        for start in stride(from: 0, to: content.count, by: part) {
            let bytes = Array(content[start..<min(content.count, start + part)])
            unsafe bytes.withUnsafeBytes { unsafe hash.feed($0) }
        }
        hash.pad(padding)
        return hash.finish()[0].digest
    }

    @Test(arguments: [1_000, 16_384, 50_000, 1 << 20])
    func `a tree is that of its leaves, however the bytes come`(part: Int) {
        let content = Self.content(40_000)
        let leaves = [0..<16_384, 16_384..<32_768, 32_768..<40_000].map { Self.digest(Array(content[$0])) }
        let right = Self.digest(leaves[2] + Self.zeros)
        #expect(Self.root(content, by: part) == Self.digest(Self.digest(leaves[0] + leaves[1]) + right))
        #expect(Self.root(Array(content[..<1_000]), by: part) == Self.digest(Array(content[..<1_000])))
    }

    @Test func `a last piece has the leaves of a whole one`() {
        let content = Self.content(20_000)
        let leaves = [0..<16_384, 16_384..<20_000].map { Self.digest(Array(content[$0])) }
        let nothing = Self.digest(Self.zeros + Self.zeros)
        let wanted = Self.digest(Self.digest(leaves[0] + leaves[1]) + nothing)
        #expect(Self.root(content, by: 7_000, padding: 65_536 - 20_000) == wanted)
        let small = Self.digest(Self.digest(Self.digest([1]) + Self.zeros) + nothing)
        #expect(Self.root([1], by: 1, padding: 65_535) == small)
    }

    @Test func `the root above digests of pieces is that of the content`() {
        let content = Self.content(150_000)
        let layer = stride(from: 0, to: content.count, by: 32_768).flatMap { start in
            let piece = Array(content[start..<min(content.count, start + 32_768)])
            return Self.root(piece, by: 32_768, padding: 32_768 - Int64(piece.count))
        }
        #expect(HashTree.root(above: layer, leaves: 2) == Self.root(content, by: 9_999))
    }
}
