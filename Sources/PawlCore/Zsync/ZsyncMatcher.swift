/// Finds blocks of the described file in other files.
///
/// A file is scanned in windows: `scan` gets bytes from an offset on, and says where the next window has to begin. Between
/// windows nothing is kept but which blocks were found.
package struct ZsyncMatcher: Sendable {
    /// Bytes of a scanned file that are `target` of the described one.
    package struct Match: Hashable, Sendable {
        package var source: Int64
        package var target: ByteRange
    }

    package let control: ZsyncControl
    /// Where each block was found, -1 where it was not.
    private var places: [Int64]
    package private(set) var foundCount = 0
    /// Blocks in the order of the buckets of their rolling checksums.
    private var order: [Int32]
    /// Where the blocks of a bucket begin in `order`.
    private let buckets: [Int32]
    /// Where those that were not found end.
    private var ends: [Int32]
    private let bucketMask: UInt32
    private let shift: UInt16

    package init(_ control: ZsyncControl) {
        self.control = control
        let count = control.blockCount
        places = Array(repeating: -1, count: count)
        var size = 1 << 12
        while size < 8 * count, size < 1 << 24 { size <<= 1 }
        let bucketMask = UInt32(size - 1)
        self.bucketMask = bucketMask
        shift = UInt16(control.blockLength.trailingZeroBitCount)
        var counts = [Int32](repeating: 0, count: size + 1)
        for block in 0..<count { counts[Int(Self.bucket(Self.weak(block, control), bucketMask)) + 1] += 1 }
        for index in 1...size { counts[index] += counts[index - 1] }
        var next = counts
        var order = [Int32](repeating: 0, count: count)
        for block in 0..<count {
            let bucket = Int(Self.bucket(Self.weak(block, control), bucketMask))
            order[Int(next[bucket])] = Int32(block)
            next[bucket] += 1
        }
        buckets = counts
        ends = next
        self.order = order
    }

    /// Another file follows: blocks of the last one are no neighbours of its blocks.
    package mutating func beginFile() {
        for block in places.indices where places[block] >= 0 { places[block] = ZsyncMatcher.elsewhere }
    }

    /// The place of a block that was found in an earlier file.
    private static let elsewhere = Int64.max

    /// Whether `bytes`, as many as a block has, are the block; if so, it is found.
    package mutating func confirm(_ block: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let weak = unsafe RollingChecksum(bytes).value(length: control.weakLength)
        guard places[block] < 0, Self.weak(block, control) == weak,
            unsafe isDigest(MessageDigest4.digest(bytes), of: block)
        else { return false }
        remove(block, weak: weak)
        places[block] = ZsyncMatcher.elsewhere
        return true
    }

    /// Takes a found block out of its bucket.
    private mutating func remove(_ block: Int, weak: UInt32) {
        let bucket = Int(Self.bucket(weak, bucketMask))
        for place in Int(buckets[bucket])..<Int(ends[bucket]) where order[place] == Int32(block) {
            ends[bucket] -= 1
            order.swapAt(place, Int(ends[bucket]))
            foundCount += 1
            return
        }
    }

    /// Matches that continue each other, joined.
    package static func runs(_ matches: [Match]) -> [Match] {
        matches.reduce(into: []) { runs, match in
            if let last = runs.last, last.target.end == match.target.start,
                last.source + last.target.count == match.source
            {
                runs[runs.count - 1].target.end = match.target.end
            } else {
                runs.append(match)
            }
        }
    }

    /// The bytes that a window has to have beyond its own, so that a match that begins in it can be checked.
    package var context: Int { control.run * control.blockLength }

    package var isComplete: Bool { foundCount == places.count }

    /// The runs of bytes that were not found in any file.
    package var missing: [ByteRange] {
        var set = ByteRangeSet()
        for block in places.indices where places[block] < 0 { set.insert(control.range(block)) }
        return set.runs
    }

    /// Scans `window`, which begins at `offset` of a file; returns what was found, and the offset of the next window.
    ///
    /// `isLast`: the file ends with the window, and zeros follow it.
    package mutating func scan(
        _ window: UnsafeRawBufferPointer,
        at offset: Int64,
        isLast: Bool
    ) -> (matches: [Match], next: Int64) {
        let length = control.blockLength
        guard !places.isEmpty, !isComplete else { return ([], offset + Int64(window.count)) }
        guard isLast else { return unsafe scan(window, at: offset, until: window.count - context + 1) }
        // The last block of a file is padded with zeros.
        var padded = unsafe Array(window)
        padded.append(contentsOf: repeatElement(0, count: context + length))
        return unsafe padded.withUnsafeBytes { unsafe scan($0, at: offset, until: window.count) }
    }

    private mutating func scan(
        _ window: UnsafeRawBufferPointer,
        at offset: Int64,
        until end: Int
    ) -> (matches: [Match], next: Int64) {
        let (length, weakLength) = (control.blockLength, control.weakLength)
        var matches: [Match] = []
        var position = 0
        var sum: RollingChecksum?
        while position < end {
            var present = unsafe sum ?? checksum(window, position)
            let before = matches.count
            let weak = present.value(length: weakLength)
            if mayMatch(weak) { unsafe match(window, position, weak, offset, &matches) }
            if matches.count > before {
                if isComplete { break }
                position += length
                sum = nil
            } else {
                guard position + length < window.count else {
                    position += 1
                    break
                }
                unsafe present.roll(out: window[position], in: window[position + length], shift: shift)
                sum = present
                position += 1
            }
        }
        return (matches, offset + Int64(position))
    }

    private static func bucket(_ weak: UInt32, _ mask: UInt32) -> UInt32 { (weak ^ weak &>> 13) & mask }

    @inline(__always)
    private func mayMatch(_ weak: UInt32) -> Bool {
        let bucket = Int(Self.bucket(weak, bucketMask))
        return buckets[bucket] < ends[bucket]
    }

    /// The stored rolling checksum of a block.
    private static func weak(_ block: Int, _ control: ZsyncControl) -> UInt32 {
        let start = block * (control.weakLength + control.strongLength)
        var value: UInt32 = 0
        for index in start..<start + control.weakLength { value = value << 8 | UInt32(control.table[index]) }
        return value
    }

    /// Adds every block that the bytes at `position` are, if it and its neighbour match.
    ///
    /// A found block leaves its bucket: the zeros of a sparse file are not found a million times.
    private mutating func match(
        _ window: UnsafeRawBufferPointer,
        _ position: Int,
        _ weak: UInt32,
        _ offset: Int64,
        _ matches: inout [Match]
    ) {
        let bucket = Int(Self.bucket(weak, bucketMask))
        let start = Int(buckets[bucket])
        var strong: [UInt8]?
        var place = min(Int(ends[bucket]), start + Self.candidates)
        while place > start {
            place -= 1
            let block = Int(order[place])
            guard Self.weak(block, control) == weak,
                unsafe control.run == 1 || mayFollow(block, window, position, offset)
            else { continue }
            let digest = unsafe strong ?? digest(window, position)
            strong = digest
            guard isDigest(digest, of: block),
                unsafe control.run == 1 || isFollowed(block, window, position, offset)
            else { continue }
            places[block] = offset + Int64(position)
            foundCount += 1
            ends[bucket] -= 1
            order.swapAt(place, Int(ends[bucket]))
            matches.append(Match(source: offset + Int64(position), target: control.range(block)))
        }
    }

    /// The blocks of one bucket that are compared at one offset: a hostile table has all of them in one.
    private static let candidates = 512

    /// Whether the block before it was found right before these bytes.
    private func isPreceded(_ block: Int, _ position: Int, _ offset: Int64) -> Bool {
        block > 0 && places[block - 1] == offset + Int64(position - control.blockLength)
    }

    /// Whether a neighbour confirms the block: the digests are so short that a single match is a coincidence too often.
    private func isFollowed(
        _ block: Int,
        _ window: UnsafeRawBufferPointer,
        _ position: Int,
        _ offset: Int64
    ) -> Bool {
        if isPreceded(block, position, offset) { return true }
        return unsafe isDigest(digest(window, position + control.blockLength), of: block + 1)
    }

    /// The same by the rolling checksums.
    private func mayFollow(
        _ block: Int,
        _ window: UnsafeRawBufferPointer,
        _ position: Int,
        _ offset: Int64
    ) -> Bool {
        if isPreceded(block, position, offset) { return true }
        let next = position + control.blockLength
        guard block + 1 < places.count, next + control.blockLength <= window.count else { return false }
        return unsafe checksum(window, next).value(length: control.weakLength)
            == Self.weak(block + 1, control)
    }

    private func checksum(_ window: UnsafeRawBufferPointer, _ position: Int) -> RollingChecksum {
        unsafe RollingChecksum(
            UnsafeRawBufferPointer(rebasing: window[position..<position + control.blockLength])
        )
    }

    private func digest(_ window: UnsafeRawBufferPointer, _ position: Int) -> [UInt8] {
        unsafe MessageDigest4.digest(
            UnsafeRawBufferPointer(rebasing: window[position..<position + control.blockLength])
        )
    }

    private func isDigest(_ digest: [UInt8], of block: Int) -> Bool {
        let start = block * (control.weakLength + control.strongLength) + control.weakLength
        return digest.prefix(control.strongLength).elementsEqual(
            control.table[start..<start + control.strongLength]
        )
    }
}
