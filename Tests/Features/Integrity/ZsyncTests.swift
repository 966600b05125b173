import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlIntegrity

@Suite struct ZsyncTests {
    /// RFC 1320, appendix A.5.
    @Test(arguments: [
        ("", "31d6cfe0d16ae931b73c59d7e0c089c0"), ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
        ("abc", "a448017aaf21d8525fc10ae87aa6729d"), ("message digest", "d9130a8164549fe818874806e1c7014b"),
        ("abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "043f8582f241db351ce627e153e7f0e4"),
        (String(repeating: "1234567890", count: 8), "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ]) func `MD4 is that of RFC 1320`(text: String, digest: String) {
        #expect(Hexadecimal.text(MessageDigest4.digest(Array(text.utf8))) == digest)
    }

    private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var dice = Dice(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: dice.next() >> 32) }
    }

    @Test func `a rolled checksum is that of the block it has reached`() {
        let bytes = Self.noise(400, seed: 3)
        func fresh(_ start: Int) -> RollingChecksum {
            unsafe Array(bytes[start..<start + 128]).withUnsafeBytes { unsafe RollingChecksum($0) }
        }
        var rolled = fresh(0)
        for start in 0..<200 {
            #expect(rolled == fresh(start))
            rolled.roll(out: bytes[start], in: bytes[start + 128], shift: 7)
        }
    }

    /// What zsyncmake writes.
    private static func control(
        _ bytes: [UInt8], block: Int = 256, lengths: (run: Int, weak: Int, strong: Int) = (2, 3, 5),
        header: String = "URL: f\n"
    ) -> [UInt8] {
        var text = "zsync: 0.6.2\nFilename: f\nBlocksize: \(block)\nLength: \(bytes.count)\n"
        text += "Hash-Lengths: \(lengths.run),\(lengths.weak),\(lengths.strong)\n\(header)"
        text += "SHA-1: \(String(repeating: "0", count: 40))\n\n"
        var file = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: block) {
            var part = Array(bytes[start..<min(bytes.count, start + block)])
            part += [UInt8](repeating: 0, count: block - part.count)
            let sum = unsafe part.withUnsafeBytes { unsafe RollingChecksum($0) }
            let weak = [UInt8(sum.a >> 8), UInt8(sum.a & 0xFF), UInt8(sum.b >> 8), UInt8(sum.b & 0xFF)]
            file += weak.suffix(lengths.weak) + MessageDigest4.digest(part).prefix(lengths.strong)
        }
        return file
    }

    /// The file that the matches and the missing ranges make, scanned in windows of `size` bytes.
    private static func rebuilt(
        _ new: [UInt8], from old: [UInt8], window size: Int, lengths: (run: Int, weak: Int, strong: Int) = (2, 3, 5)
    ) throws -> (bytes: [UInt8], missing: Int64) {
        var matcher = ZsyncMatcher(try ZsyncControl(control(new, lengths: lengths)))
        var bytes = [UInt8](repeating: 0xAA, count: new.count)
        var position = 0
        while position < old.count, !matcher.isComplete {
            let end = min(old.count, position + size)
            let result = unsafe Array(old[position..<end]).withUnsafeBytes {
                unsafe matcher.scan($0, at: Int64(position), isLast: end == old.count)
            }
            for match in result.matches {
                for offset in 0..<Int(match.target.count) {
                    let place = Int(match.source) + offset
                    bytes[Int(match.target.start) + offset] = place < old.count ? old[place] : 0
                }
            }
            guard Int(result.next) > position else { break }
            position = Int(result.next)
        }
        let missing = matcher.missing
        for range in missing {
            bytes.replaceSubrange(Int(range.start)..<Int(range.end), with: new[Int(range.start)..<Int(range.end)])
        }
        return (bytes, missing.reduce(0) { $0 + $1.count })
    }

    @Test(arguments: [1 << 20, 1024, 5_000]) func `moved, changed and added bytes: only what is new is missing`(
        window: Int
    ) throws {
        let old = Self.noise(20_000, seed: 1)
        // Moved by an odd number, one block changed, the end moved to the front.
        var new = Array(old[15_000...]) + [1, 2, 3] + Array(old[..<15_000])
        new[9_000] ^= 1
        let (bytes, missing) = try Self.rebuilt(new, from: old, window: window)
        #expect(bytes == new)
        // A block around each of three seams, and the changed one.
        #expect(missing > 0 && missing <= 5 * 256)
    }

    @Test func `equal files need nothing, also with a last block that is not full`() throws {
        for count in [0, 1, 255, 256, 257, 5_000] {
            let bytes = Self.noise(count, seed: UInt64(count))
            for lengths in [(1, 4, 16), (2, 2, 4)] {
                let (rebuilt, missing) = try Self.rebuilt(bytes, from: bytes, window: 1 << 20, lengths: lengths)
                #expect(rebuilt == bytes)
                // A single block has no neighbour that confirms it.
                #expect(missing == (lengths.0 == 2 && count > 0 && count <= 256 ? Int64(count) : 0), "\(count)")
            }
        }
    }

    @Test func `files of zeros are found at once`() throws {
        let zeros = [UInt8](repeating: 0, count: 200_000)
        let (bytes, missing) = try Self.rebuilt(zeros, from: zeros, window: 1 << 20)
        #expect(bytes == zeros)
        #expect(missing <= 512)
    }

    @Test(arguments: [
        ("URL: f\n", true), ("Z-URL: f.gz\n", false), ("", false), ("URL: f\nZ-Map2: 1\nabcd", false),
        ("url: f\r\nX-Unknown: 1\r\n", true),
    ]) func `headers are read as zsyncmake writes them`(header: String, isUsable: Bool) {
        let file = Self.control(Self.noise(1_000, seed: 5), header: header)
        #expect(((try? ZsyncControl(file)) != nil) == isUsable)
    }

    @Test func `a control file that lies about its table is refused`() throws {
        let file = Self.control(Self.noise(1_000, seed: 5))
        #expect(throws: ZsyncControl.Fault.self) { try ZsyncControl(file + [0]) }
        #expect(throws: ZsyncControl.Fault.self) { try ZsyncControl(Array(file.dropLast())) }
        #expect(throws: ZsyncControl.Fault.self) { try ZsyncControl([]) }
        #expect(throws: ZsyncControl.Fault.self) { try ZsyncControl(Array("<html>\n\n".utf8)) }
        for (line, bad) in [
            ("Blocksize: 256", "Blocksize: 255"), ("Blocksize: 256", "Blocksize: 0"),
            ("Length: 1000", "Length: 99999999999999999999"), ("Length: 1000", "Length: -1"),
            ("Hash-Lengths: 2,3,5", "Hash-Lengths: 3,3,5"), ("Hash-Lengths: 2,3,5", "Hash-Lengths: 2,9,5"),
        ] {
            let table = file.suffix(4 * 8)
            let text = String(decoding: file.dropLast(4 * 8), as: UTF8.self).replacing(line, with: bad)
            #expect(throws: ZsyncControl.Fault.self, "\(bad)") { try ZsyncControl(Array(text.utf8) + table) }
        }
    }
}
