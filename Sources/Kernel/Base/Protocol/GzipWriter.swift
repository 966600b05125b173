/// Compresses bytes as gzip (RFC 1952): one DEFLATE block with dynamic Huffman codes (RFC 1951 §3.2.7).
///
/// For texts of at most some megabytes, which are compressed once and sent often.
package struct GzipWriter {
    private var output: [UInt8] = []
    private var bits: UInt64 = 0
    private var bitCount = 0

    /// The compressed form of `bytes`.
    package static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var writer = GzipWriter()
        writer.output = StoredGzipWriter.header
        writer.writeBlock(Matcher.tokens(of: bytes))
        var check = GzipChecksum()
        check.feed(bytes[...])
        writer.writeLittleEndian(check.value)
        writer.writeLittleEndian(UInt32(truncatingIfNeeded: bytes.count))
        return writer.output
    }

    /// A literal byte, or a repetition of earlier bytes.
    enum Token: Hashable {
        case literal(UInt8)
        case match(length: Int, distance: Int)
    }

    // MARK: block

    private mutating func writeBlock(_ tokens: [Token]) {
        var literalCounts = [Int](repeating: 0, count: 286)
        var distanceCounts = [Int](repeating: 0, count: 30)
        literalCounts[GzipWriter.endOfBlock] = 1
        // A decoder needs at least one distance code.
        distanceCounts[0] = 1
        for token in tokens {
            switch token {
            case .literal(let byte): literalCounts[Int(byte)] += 1
            case .match(let length, let distance):
                literalCounts[257 + GzipWriter.lengths.index(of: length)] += 1
                distanceCounts[GzipWriter.distances.index(of: distance)] += 1
            }
        }
        let literals = HuffmanCode(counts: literalCounts, longest: 15)
        let distances = HuffmanCode(counts: distanceCounts, longest: 15)
        writeCodes(literals, distances)
        for token in tokens {
            switch token {
            case .literal(let byte): write(literals, Int(byte))
            case .match(let length, let distance):
                let lengthIndex = GzipWriter.lengths.index(of: length)
                write(literals, 257 + lengthIndex)
                write(length - GzipWriter.lengths.bases[lengthIndex], GzipWriter.lengths.extraBits[lengthIndex])
                let index = GzipWriter.distances.index(of: distance)
                write(distances, index)
                write(distance - GzipWriter.distances.bases[index], GzipWriter.distances.extraBits[index])
            }
        }
        write(literals, GzipWriter.endOfBlock)
        if bitCount > 0 { write(0, 8 - bitCount % 8) }
    }

    /// The header of the block: both codes as the lengths of their words, which have a code of their own.
    private mutating func writeCodes(_ literals: HuffmanCode, _ distances: HuffmanCode) {
        write(1, 1)
        write(2, 2)
        write(literals.lengths.count - 257, 5)
        write(distances.lengths.count - 1, 5)
        let all = literals.lengths + distances.lengths
        var counts = [Int](repeating: 0, count: 19)
        for length in all { counts[length] += 1 }
        let code = HuffmanCode(counts: counts, longest: 7)
        write(19 - 4, 4)
        for symbol in GzipWriter.codeLengthOrder { write(code.lengths[symbol], 3) }
        for length in all { write(code, length) }
    }

    private static let endOfBlock = 256
    private static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// Symbols that stand for ranges of numbers (RFC 1951 §3.2.5).
    private struct Ranges {
        let bases: [Int]
        let extraBits: [Int]

        func index(of number: Int) -> Int {
            var (low, high) = (0, bases.count)
            while high - low > 1 {
                let middle = (low + high) / 2
                if bases[middle] <= number { low = middle } else { high = middle }
            }
            return low
        }
    }

    private static let lengths = Ranges(
        bases: [
            3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
            227, 258,
        ], extraBits: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0])
    private static let distances = Ranges(
        bases: [
            1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
            6145, 8193, 12289, 16385, 24577,
        ],
        extraBits: [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13])

    // MARK: bits

    private mutating func write(_ code: HuffmanCode, _ symbol: Int) { write(code.words[symbol], code.lengths[symbol]) }

    private mutating func write(_ value: Int, _ count: Int) {
        bits |= UInt64(value) << UInt64(bitCount)
        bitCount += count
        while bitCount >= 8 {
            output.append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
            bitCount -= 8
        }
    }

    private mutating func writeLittleEndian(_ number: UInt32) {
        for shift in [0, 8, 16, 24] as [UInt32] { output.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

/// Finds repetitions: a table of the latest position of each three bytes, and of the one before each position.
private enum Matcher {
    private static let window = 32_768
    private static let longest = 258
    private static let deepest = 12

    static func tokens(of bytes: [UInt8]) -> [GzipWriter.Token] {
        var latest = [Int32](repeating: -1, count: 1 << 15)
        var before = [Int32](repeating: -1, count: bytes.count)
        var tokens: [GzipWriter.Token] = []
        var position = 0
        while position < bytes.count {
            let match = longestMatch(at: position, in: bytes, latest, before)
            let step = match?.length ?? 1
            tokens.append(match.map { .match(length: $0.length, distance: $0.distance) } ?? .literal(bytes[position]))
            // The last two bytes begin no three.
            for next in position..<max(position, min(position + step, bytes.count - 2)) {
                let key = key(at: next, in: bytes)
                before[next] = latest[key]
                latest[key] = Int32(next)
            }
            position += step
        }
        return tokens
    }

    private static func key(at position: Int, in bytes: [UInt8]) -> Int {
        let first = Int(bytes[position]) << 10
        let second = Int(bytes[position + 1]) << 5
        return (first ^ second ^ Int(bytes[position + 2])) & 0x7FFF
    }

    private static func longestMatch(
        at position: Int, in bytes: [UInt8], _ latest: [Int32], _ before: [Int32]
    ) -> (length: Int, distance: Int)? {
        guard position + 2 < bytes.count else { return nil }
        let limit = min(longest, bytes.count - position)
        var best: (length: Int, distance: Int)?
        var candidate = Int(latest[key(at: position, in: bytes)])
        for _ in 0..<deepest {
            guard candidate >= 0, position - candidate <= window else { break }
            var length = 0
            while length < limit, bytes[candidate + length] == bytes[position + length] { length += 1 }
            if length >= 3, length > best?.length ?? 0 { best = (length, position - candidate) }
            candidate = Int(before[candidate])
        }
        return best
    }
}

/// A canonical Huffman code (RFC 1951 §3.2.2).
private struct HuffmanCode {
    /// The number of bits of each symbol's word; 0 for symbols that do not occur.
    private(set) var lengths: [Int]
    /// Each symbol's word, with its first bit lowest.
    private(set) var words: [Int]

    init(counts: [Int], longest: Int) {
        var counts = counts
        // A code with a single symbol is not complete: it gets a second one.
        if counts.count(where: { $0 > 0 }) < 2 { counts[counts[0] == 0 ? 0 : 1] += 1 }
        lengths = HuffmanCode.lengths(of: counts)
        // Counts that are closer together need shorter words.
        while lengths.max() ?? 0 > longest {
            counts = counts.map { $0 == 0 ? 0 : $0 / 2 + 1 }
            lengths = HuffmanCode.lengths(of: counts)
        }
        words = [Int](repeating: 0, count: lengths.count)
        var next = 0
        for length in 1...longest {
            next <<= 1
            for symbol in lengths.indices where lengths[symbol] == length {
                words[symbol] = HuffmanCode.reversed(next, length)
                next += 1
            }
        }
    }

    private static func reversed(_ word: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { ($0 << 1) | ((word >> $1) & 1) }
    }

    /// The depth of each leaf of the Huffman tree.
    private static func lengths(of counts: [Int]) -> [Int] {
        var lengths = [Int](repeating: 0, count: counts.count)
        var trees = counts.indices.filter { counts[$0] > 0 }.map { (count: counts[$0], symbols: [$0]) }
        while trees.count > 1 {
            trees.sort { $0.count > $1.count }
            let (one, other) = (trees.removeLast(), trees.removeLast())
            let symbols = one.symbols + other.symbols
            for symbol in symbols { lengths[symbol] += 1 }
            trees.append((one.count + other.count, symbols))
        }
        return lengths
    }
}
