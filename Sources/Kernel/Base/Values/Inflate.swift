/// Decodes gzip (RFC 1952) and zlib (RFC 1950) streams of DEFLATE (RFC 1951), to compare the digest of what they contain.
///
/// Total and bounded: malformed input throws, and no more than `limit` bytes are decoded. Output passes in pieces; 32 KiB
/// of it are kept.
package struct Inflate {
    package enum Fault: Error, Hashable, Sendable {
        /// The input is not of this coding, or it ends early.
        case malformed
        /// It decodes to more than is decoded.
        case tooLong
    }

    /// The most bytes that one stream may decode to by default.
    package static let longest: Int64 = 1 << 36

    /// Whether the bytes begin like a gzip file.
    package static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B, 8]) }

    /// What a whole gzip file contains; `nil` if it is damaged or contains more than `limit` bytes.
    package static func gzip(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        var rest: [UInt8]? = bytes
        var content: [UInt8] = []
        var inflate = Inflate(limit: Int64(limit)) {
            defer { rest = nil }
            return rest
        } emit: {
            content += $0
        }
        guard (try? inflate.decode("gzip")) != nil else { return nil }
        return content
    }

    /// Whether a Content-Encoding of this name can be decoded.
    package static func supports(_ coding: String) -> Bool { ["gzip", "x-gzip", "deflate"].contains(coding) }

    private var input: ArraySlice<UInt8> = []
    private let limit: Int64
    private let next: () -> [UInt8]?
    private let emit: ([UInt8]) -> Void
    private var bits: UInt64 = 0
    private var bitCount: UInt64 = 0
    /// The window, then what was decoded since the last piece was emitted.
    private var output: [UInt8] = []
    private var emitted = 0
    private var total: Int64 = 0
    private static let window = 32 << 10
    private static let piece = 128 << 10

    /// `next` returns further input, `nil` at its end; `emit` receives the decoded bytes in order.
    package init(limit: Int64 = Inflate.longest, next: @escaping () -> [UInt8]?, emit: @escaping ([UInt8]) -> Void) {
        self.limit = limit
        self.next = next
        self.emit = emit
    }

    /// Decodes to the end of the input; gzip may have several members.
    package mutating func decode(_ coding: String) throws(Fault) {
        if coding == "deflate" { try zlib() } else { repeat { try member() } while try hasMore() }
        flush()
        guard total <= limit else { throw .tooLong }
    }

    // MARK: containers

    private mutating func member() throws(Fault) {
        guard try byte() == 0x1F, try byte() == 0x8B, try byte() == 8 else { throw .malformed }
        let flags = try byte()
        guard flags & 0xE0 == 0 else { throw .malformed }
        for _ in 0..<6 { _ = try byte() }
        if flags & 4 != 0 {
            let low = try byte()
            let high = try byte()
            for _ in 0..<(Int(low) | Int(high) << 8) { _ = try byte() }
        }
        for flag: UInt8 in [8, 16] where flags & flag != 0 { while try byte() != 0 {} }
        if flags & 2 != 0 { for _ in 0..<2 { _ = try byte() } }
        try blocks()
        // Check and length are the caller's digest's to prove.
        for _ in 0..<8 { _ = try byte() }
    }

    /// Some servers send DEFLATE without zlib's frame.
    private mutating func zlib() throws(Fault) {
        guard try hasMore(), let first = input.first else { throw .malformed }
        if first & 0x0F == 8, first >> 4 <= 7 { for _ in 0..<2 { _ = try byte() } }
        try blocks()
    }

    // MARK: blocks

    private mutating func blocks() throws(Fault) {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try stored()
            case 1: try coded(Self.fixedLengths, Self.fixedDistances)
            case 2:
                let (lengths, distances) = try tables()
                try coded(lengths, distances)
            case _: throw .malformed
            }
        }
        bits = 0
        bitCount = 0
    }

    private mutating func stored() throws(Fault) {
        // Only whole bytes are taken from the input, so the rest of the last one is dropped.
        bits = 0
        bitCount = 0
        let count = Int(try byte()) | Int(try byte()) << 8
        let check = Int(try byte()) | Int(try byte()) << 8
        guard count == ~check & 0xFFFF else { throw .malformed }
        for _ in 0..<count { try put(try byte()) }
    }

    private mutating func coded(_ lengths: Code, _ distances: Code) throws(Fault) {
        while true {
            let symbol = try symbol(lengths)
            if symbol < 256 {
                try put(UInt8(symbol))
            } else if symbol == 256 {
                return
            } else {
                guard symbol - 257 < Self.lengthBases.count else { throw .malformed }
                let length = Self.lengthBases[symbol - 257] + Int(try take(UInt64(Self.lengthBits[symbol - 257])))
                let place = try self.symbol(distances)
                guard place < Self.distanceBases.count else { throw .malformed }
                let distance = Self.distanceBases[place] + Int(try take(UInt64(Self.distanceBits[place])))
                guard distance <= output.count else { throw .malformed }
                for _ in 0..<length { try put(output[output.count - distance]) }
            }
        }
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func tables() throws(Fault) -> (Code, Code) {
        let literals = Int(try take(5)) + 257
        let distances = Int(try take(5)) + 1
        let count = Int(try take(4)) + 4
        var own = [Int](repeating: 0, count: 19)
        for place in Self.order.prefix(count) { own[place] = Int(try take(3)) }
        let code = Code(own)
        var lengths: [Int] = []
        while lengths.count < literals + distances {
            let symbol = try symbol(code)
            switch symbol {
            case 0..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw .malformed }
                lengths += Array(repeating: last, count: 3 + Int(try take(2)))
            case 17: lengths += Array(repeating: 0, count: 3 + Int(try take(3)))
            case _: lengths += Array(repeating: 0, count: 11 + Int(try take(7)))
            }
        }
        guard lengths.count == literals + distances, lengths[256] != 0 else { throw .malformed }
        return (Code(Array(lengths[..<literals])), Code(Array(lengths[literals...])))
    }

    // MARK: bits

    private mutating func hasMore() throws(Fault) -> Bool {
        while input.isEmpty {
            guard let more = next() else { return false }
            input = more[...]
        }
        return true
    }

    private mutating func byte() throws(Fault) -> UInt8 {
        guard try hasMore(), let byte = input.popFirst() else { throw .malformed }
        return byte
    }

    private mutating func take(_ count: UInt64) throws(Fault) -> UInt64 {
        while bitCount < count {
            bits |= UInt64(try byte()) << bitCount
            bitCount += 8
        }
        let value = bits & ((1 << count) - 1)
        bits >>= count
        bitCount -= count
        return value
    }

    private mutating func symbol(_ code: Code) throws(Fault) -> Int {
        var value = 0
        var first = 0
        var index = 0
        for length in 1...Code.longest {
            value |= Int(try take(1))
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw .malformed
    }

    // MARK: output

    private mutating func put(_ byte: UInt8) throws(Fault) {
        output.append(byte)
        guard output.count >= Self.window + Self.piece else { return }
        flush()
        guard total <= limit else { throw .tooLong }
    }

    private mutating func flush() {
        let fresh = Array(output[emitted...])
        total += Int64(fresh.count)
        if !fresh.isEmpty { emit(fresh) }
        if output.count > Self.window { output.removeFirst(output.count - Self.window) }
        emitted = output.count
    }

    /// A canonical Huffman code (RFC 1951 §3.2.2).
    private struct Code {
        static let longest = 15
        /// How many symbols have each length.
        var counts = [Int](repeating: 0, count: longest + 1)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths where length > 0 { counts[length] += 1 }
            for length in 1...Self.longest {
                for symbol in lengths.indices where lengths[symbol] == length { symbols.append(symbol) }
            }
            // An over-subscribed code has more values than symbols: none of them may be looked up beyond the end.
            var left = 1
            for length in 1...Self.longest {
                left = left * 2 - counts[length]
                if left < 0 {
                    counts = Array(repeating: 0, count: Self.longest + 1)
                    return
                }
            }
        }
    }

    private static let fixedLengths = Code(
        Array(repeating: 8, count: 144) + Array(repeating: 9, count: 112) + Array(repeating: 7, count: 24)
            + Array(repeating: 8, count: 8))
    private static let fixedDistances = Code(Array(repeating: 5, count: 30))
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12289, 16385, 24577,
    ]
    private static let distanceBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
}
