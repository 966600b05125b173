/// Decompression of small gzip files (RFC 1952, RFC 1951), such as lists of downloads.
package enum Inflate {
    /// Whether the bytes begin like a gzip file.
    package static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B, 8]) }

    /// The content of the first member; `nil` if it is damaged or has more than `limit` bytes.
    package static func gzip(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        guard isGzip(bytes), bytes.count >= 18 else { return nil }
        let flags = bytes[3]
        var start = 10
        if flags & 4 != 0 {
            guard start + 2 <= bytes.count else { return nil }
            start += 2 + Int(bytes[start]) + Int(bytes[start + 1]) << 8
        }
        for flag in [UInt8(8), 16] where flags & flag != 0 {
            guard start < bytes.count, let end = bytes[start...].firstIndex(of: 0) else { return nil }
            start = end + 1
        }
        if flags & 2 != 0 { start += 2 }
        guard start < bytes.count else { return nil }
        var reader = InflateReader(bytes, from: start, limit: limit)
        return reader.run() ? reader.output : nil
    }
}

/// The state of a DEFLATE stream.
private struct InflateReader {
    private(set) var output: [UInt8] = []
    private let bytes: [UInt8]
    private let limit: Int
    private var next: Int
    private var buffer: UInt32 = 0
    private var count = 0
    /// Zero bits were read beyond the end.
    private var isExhausted = false

    init(_ bytes: [UInt8], from start: Int, limit: Int) {
        self.bytes = bytes
        self.limit = limit
        next = start
    }

    /// A canonical Huffman code: how many codes have each length, and their symbols in order (RFC 1951 §3.2.2).
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        /// `nil` if more codes are given than there can be.
        init?(_ lengths: ArraySlice<Int>) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            var free = 1
            for length in 1..<16 {
                free = free * 2 - counts[length]
                if free < 0 { return nil }
            }
            symbols = lengths.enumerated().filter { $0.element > 0 }
                .sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }.map(\.offset)
        }
    }

    private mutating func bits(_ number: Int) -> Int {
        while count < number {
            if next < bytes.count {
                buffer |= UInt32(bytes[next]) << UInt32(count)
            } else {
                isExhausted = true
            }
            next += 1
            count += 8
        }
        let value = buffer & ((1 << UInt32(number)) - 1)
        buffer >>= UInt32(number)
        count -= number
        return Int(value)
    }

    private mutating func symbol(_ code: Code) -> Int? {
        var (word, first, index) = (0, 0, 0)
        for length in 1..<16 {
            word |= bits(1)
            let here = code.counts[length]
            if word - here < first { return code.symbols[index + word - first] }
            index += here
            first = (first + here) << 1
            word <<= 1
        }
        return nil
    }

    mutating func run() -> Bool {
        var isLast = false
        while !isLast {
            isLast = bits(1) == 1
            let isRight =
                switch bits(2) {
                case 0: stored()
                case 1: Self.fixed.map { block($0.0, $0.1) } ?? false
                case 2: dynamic()
                default: false
                }
            guard isRight, !isExhausted else { return false }
        }
        return true
    }

    private mutating func stored() -> Bool {
        (buffer, count) = (0, 0)
        guard next + 4 <= bytes.count else { return false }
        let length = Int(bytes[next]) | Int(bytes[next + 1]) << 8
        next += 4
        guard next + length <= bytes.count, output.count + length <= limit else { return false }
        output += bytes[next..<next + length]
        next += length
        return true
    }

    private static let fixed: (Code, Code)? = {
        let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
        guard let literals = Code(lengths[...]),
            let distances = Code([Int](repeating: 5, count: 30)[...])
        else { return nil }
        return (literals, distances)
    }()

    private mutating func dynamic() -> Bool {
        let (literals, distances, codes) = (bits(5) + 257, bits(5) + 1, bits(4) + 4)
        guard literals <= 286, distances <= 30 else { return false }
        var lengths = [Int](repeating: 0, count: 19)
        for index in Self.order.prefix(codes) { lengths[index] = bits(3) }
        guard let lengthCode = Code(lengths[...]) else { return false }
        lengths = []
        while lengths.count < literals + distances {
            guard let symbol = symbol(lengthCode), !isExhausted else { return false }
            switch symbol {
            case 0..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { return false }
                lengths += Array(repeating: last, count: 3 + bits(2))
            case 17: lengths += Array(repeating: 0, count: 3 + bits(3))
            default: lengths += Array(repeating: 0, count: 11 + bits(7))
            }
        }
        guard lengths.count == literals + distances, let literal = Code(lengths[..<literals]),
            let distance = Code(Array(lengths[literals...])[...])
        else { return false }
        return block(literal, distance)
    }

    private mutating func block(_ literals: Code, _ distances: Code) -> Bool {
        while true {
            guard let symbol = symbol(literals), !isExhausted else { return false }
            if symbol == 256 { return true }
            if symbol < 256 {
                guard output.count < limit else { return false }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengths.count else { return false }
            let length = Self.lengths[symbol - 257] + bits(Self.lengthBits[symbol - 257])
            guard let code = self.symbol(distances), code < Self.distances.count else { return false }
            let distance = Self.distances[code] + bits(Self.distanceBits[code])
            guard distance <= output.count, output.count + length <= limit else { return false }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengths = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163,
        195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distances = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
        4097,
        6145, 8193, 12289, 16385, 24577,
    ]
    private static let distanceBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
}
