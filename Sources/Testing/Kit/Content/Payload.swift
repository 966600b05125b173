import Glibc
package import PawlBase
import PawlCore

/// Content whose every byte follows from its offset, so that any slice of a file of any size can be generated on demand.
///
/// Pages of 4 KiB are windows of one random pool, chosen by a hash of seed and page number and stamped with it: no two
/// pages are equal, so swapped, shifted or repeated blocks never compare equal, and filling costs little more than a copy.
package struct Payload: Hashable, Sendable {
    private enum Source: Hashable, Sendable {
        case generated(seed: UInt64)
        case literal([UInt8])
        case repeated([UInt8])
    }

    /// A part whose bytes tell nothing: `pattern` again and again, as zeros in a disk image.
    package struct Blank: Hashable, Sendable {
        package var range: ByteRange
        package var pattern: [UInt8]

        package init(_ range: ByteRange, _ pattern: [UInt8] = [0]) {
            self.range = range
            self.pattern = pattern
        }
    }

    private let source: Source
    package let length: Int64
    /// The part without information, if there is one.
    package var blank: Blank?

    package init(seed: UInt64, length: Int64) {
        source = .generated(seed: seed)
        self.length = length
    }

    package init(_ bytes: [UInt8]) {
        source = .literal(bytes)
        length = Int64(bytes.count)
    }

    /// `line` again and again.
    package init(repeating line: String, length: Int64) {
        source = .repeated(Array(line.utf8))
        self.length = length
    }

    package init(text: String) { self.init(Array(text.utf8)) }

    /// A text that differs for different content, as a strong entity tag must.
    package var fingerprint: String {
        switch source {
        case .generated(let seed): "\(seed)-\(length)"
        case .literal(let bytes), .repeated(let bytes):
            MessageDigest5.digest(bytes).map { String($0, radix: 16) }.joined()
        }
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// Past the end a generated payload continues and a literal one is zero,
    /// so that servers can send more than they announce.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int64) {
        switch source {
        case .generated(let seed): unsafe Self.generate(buffer, from: offset, seed: seed)
        case .literal(let bytes):
            let start = min(Int(offset), bytes.count)
            let count = min(buffer.count, bytes.count - start)
            unsafe buffer.copyBytes(from: bytes[start..<(start + count)])
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(
                as: UInt8.self, repeating: 0)
        case .repeated(let bytes): unsafe Self.repeat(bytes, from: Int(offset), in: buffer)
        }
        guard let blank else { return }
        let first = min(max(0, blank.range.start - offset), Int64(buffer.count))
        let end = max(first, min(Int64(buffer.count), blank.range.end - offset))
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[Int(first)..<Int(end)])
        unsafe Self.repeat(blank.pattern, from: Int(offset + first - blank.range.start), in: part)
    }

    /// By copies that double: byte by byte, a world would spend most of its time here in a debug build.
    private static func `repeat`(_ pattern: [UInt8], from offset: Int, in buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        var filled = min(pattern.count, buffer.count)
        for index in 0..<filled { unsafe buffer[index] = pattern[(offset + index) % pattern.count] }
        while filled < buffer.count {
            let count = min(filled, buffer.count - filled)
            unsafe memcpy(base + filled, base, count)
            filled += count
        }
    }

    /// The bytes of `range`, in memory.
    package func bytes(in range: ByteRange) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Int(range.count)) { buffer, count in
            unsafe fill(UnsafeMutableRawBufferPointer(buffer), from: range.start)
            count = Int(range.count)
        }
    }

    /// All of it, in memory: for small payloads.
    package var bytes: [UInt8] { bytes(in: ByteRange(0, length)) }

    /// The number of leading bytes of `buffer` that match the payload from `offset` on.
    package func agreement(with buffer: UnsafeRawBufferPointer, at offset: Int64) -> Int {
        let expected = bytes(in: ByteRange(offset, offset + Int64(buffer.count)))
        return unsafe expected.withUnsafeBytes { wanted in
            guard let left = wanted.baseAddress, let right = buffer.baseAddress else { return 0 }
            // The first that differs is between these two.
            var (agreed, count) = (0, wanted.count)
            var reach = count
            while agreed < count {
                if unsafe memcmp(left + agreed, right + agreed, reach - agreed) == 0 {
                    agreed = reach
                } else {
                    count = reach - 1
                }
                reach = max(agreed + 1, (agreed + count + 1) / 2)
            }
            return agreed
        }
    }
}

extension Payload {
    private static let pageSize = 4096
    private static let poolSize = 1 << 20
    private static let pool = unsafe [UInt8](unsafeUninitializedCapacity: poolSize) { buffer, count in
        let raw = UnsafeMutableRawBufferPointer(buffer)
        for word in 0..<(poolSize / 8) {
            unsafe raw.storeBytes(of: mix(UInt64(word)), toByteOffset: word * 8, as: UInt64.self)
        }
        count = poolSize
    }

    /// The finaliser of splitmix64: a bijection whose output bits all depend on all input bits.
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private static func generate(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int64, seed: UInt64) {
        let total = buffer.count
        guard total > 0, let target = buffer.baseAddress else { return }
        unsafe pool.withUnsafeBytes { pool in
            guard let base = pool.baseAddress else { return }
            var filled = 0
            while filled < total {
                let position = Int(offset) + filled
                let inPage = position % pageSize
                let stamp = mix(mix(seed) ^ UInt64(position / pageSize))
                let window = Int(mix(stamp) % UInt64(poolSize - pageSize))
                let count = min(pageSize - inPage, total - filled)
                unsafe memcpy(target + filled, base + window + inPage, count)
                if inPage < 8 {
                    unsafe withUnsafeBytes(of: stamp.littleEndian) { bytes in
                        guard let first = bytes.baseAddress else { return }
                        unsafe memcpy(target + filled, first + inPage, min(8 - inPage, count))
                    }
                }
                filled += count
            }
        }
    }
}
