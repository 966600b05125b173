package import PawlBase

/// Places at which bytes on disk are compared when no header field proves them.
package enum ComparisonSample {
    /// Bytes compared at one place.
    package static let length: Int64 = 64 * 1024

    /// How many holes are compared.
    private static let mostHoles = 8

    /// Both ends and the middle of a run, or all of a short one.
    ///
    /// Then the beginning of each of the longest holes: a program that allocates a file first, or writes several parts of
    /// it at once, leaves holes where it was interrupted.
    package static func places(of run: ByteRange, holes: [ByteRange] = []) -> [ByteRange] {
        guard run.count > 3 * length else { return run.isEmpty ? [] : [run] }
        let middle = run.start + run.count / 2
        let places = [
            ByteRange(run.start, run.start + length), ByteRange(middle, middle + length),
            ByteRange(run.end - length, run.end),
        ]
        let longest = holes.sorted { $0.count > $1.count }.prefix(mostHoles)
        return places + longest.map { ByteRange($0.start, min($0.start + length, $0.end, run.end)) }
    }
}

// Bytes without information, such as zeros: they are equal in contents that are not.
extension ComparisonSample {
    /// The length in bytes of the blocks that are counted.
    private static let block = 16

    /// Of the blocks, the share that has to differ from all others is one of this many.
    private static let distinctShare = 8

    /// Whether the bytes tell one content from another: at least an eighth of their blocks of 16 bytes differ from all
    /// others.
    ///
    /// That excludes equal bytes, with few others among them, and patterns that repeat within 512 bytes, or within 8 KiB
    /// if their length is a multiple of 16, such as sectors. Blocks are counted by their hashes, in a table of bits.
    package static func identifies(_ bytes: [UInt8]) -> Bool {
        let blocks = bytes.count / block
        guard blocks > 1 else { return bytes.count > 1 && bytes.contains { $0 != bytes[0] } }
        let size = blocks.nextPowerOfTwo * 4
        var seen = [UInt64](repeating: 0, count: max(1, size / 64))
        let wanted = max(2, blocks / distinctShare)
        var distinct = 0
        for index in 0..<blocks {
            var hash: UInt64 = 0
            for byte in bytes[(index * block)..<(index * block + block)] {
                // FNV-1a, with its upper bits mixed in below.
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            }
            hash = (hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15
            let bit = Int(hash >> 40) % size
            if seen[bit / 64] & (1 << UInt64(bit % 64)) == 0 {
                seen[bit / 64] |= 1 << UInt64(bit % 64)
                distinct += 1
                if distinct >= wanted { return true }
            }
        }
        return false
    }

    /// The places to read in search of bytes that identify the content better than those of `range`, the nearest first.
    ///
    /// Their distances grow; some more are distributed over everything that is on disk.
    package static func candidates(near range: ByteRange, on disk: ByteRangeSet) -> [ByteRange] {
        var starts: [Int64] = []
        var distance = length
        while distance < ByteRange.longestFile, starts.count < 2 * mostSteps {
            starts += [range.end - length - distance, range.end - length + distance]
            distance *= 2
        }
        starts += spread(over: disk).map(\.start)
        var places: [ByteRange] = []
        for start in starts {
            guard let run = disk.runs.first(where: { $0.start < start + length && start < $0.end }) else { continue }
            let first = max(run.start, min(start, run.end - length))
            let place = ByteRange(first, min(first + length, run.end))
            if !range.contains(place), !places.contains(place) { places.append(place) }
        }
        let middle = range.start + range.count / 2
        return places.sorted { abs($0.start - middle) < abs($1.start - middle) }
    }

    private static let mostSteps = 24

    /// How many places are compared where none identifies the content.
    private static let mostPlaces: Int64 = 16

    /// Places distributed over the bytes on disk, for content that has no information anywhere; all of a short one.
    package static func spread(over disk: ByteRangeSet) -> [ByteRange] {
        let step = max(length, disk.count / mostPlaces)
        var places: [ByteRange] = []
        for run in disk.runs {
            var start = run.start
            while start < run.end {
                places.append(ByteRange(start, min(start + length, run.end)))
                start += step
            }
            if run.count > length { places.append(ByteRange(run.end - length, run.end)) }
        }
        guard places.count > 2 * Int(mostPlaces) else { return places }
        return places.sorted { $0.count > $1.count }.prefix(2 * Int(mostPlaces)).sorted { $0.start < $1.start }
    }
}

extension Int {
    /// The smallest power of two that is not less.
    fileprivate var nextPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
