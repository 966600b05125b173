package import PawlBase

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
    /// The blocks that can be looked up, in the order of their buckets.
    ///
    /// Where two consecutive blocks have to match, the key is made of both rolling checksums: with those of two bytes
    /// alone that `zsyncmake` writes, every tenth offset of a file would be a candidate. The last block has no
    /// successor, so it is found only behind the one before it.
    private var order: [Int32]
    /// The place of each block in `order`.
    private var slots: [Int32]
    /// Where the blocks of a bucket begin in `order`.
    private let buckets: [Int32]
    /// Where those that were not found end.
    private var ends: [Int32]
    private let bucketBits: UInt32
    /// A bit for each key, tested before the bucket is read: it fits the CPU cache.
    private let filter: [UInt8]
    private let filterBits: UInt32
    private let weakMask: UInt32
    private let shift: UInt16
    /// The blocks found last and the offset after them, where their successors are expected.
    private var last: [Int32] = []
    private var lastEnd: Int64 = -1

    package init(_ control: ZsyncControl) {
        self.control = control
        let count = control.blockCount
        places = Array(repeating: -1, count: count)
        shift = UInt16(control.blockLength.trailingZeroBitCount)
        weakMask = control.weakLength >= 4 ? .max : 1 << UInt32(control.weakLength * 8) - 1
        var bucketBits: UInt32 = 10
        while 1 << Int(bucketBits) < count, bucketBits < 24 { bucketBits += 1 }
        let filterBits = bucketBits + 5
        let listed = max(0, count + 1 - control.run)
        let keys = (0..<listed).map { Self.key(of: $0, control) }
        var filter = [UInt8](repeating: 0, count: 1 << Int(filterBits - 3))
        var counts = [Int32](repeating: 0, count: 1 << Int(bucketBits) + 1)
        for key in keys {
            let bit = key >> (32 - filterBits)
            filter[Int(bit >> 3)] |= 1 << UInt8(bit & 7)
            counts[Int(key >> (32 - bucketBits)) + 1] += 1
        }
        for index in 1..<counts.count { counts[index] += counts[index - 1] }
        var next = counts
        var order = [Int32](repeating: 0, count: listed)
        var slots = order
        for (block, key) in keys.enumerated() {
            let bucket = Int(key >> (32 - bucketBits))
            order[Int(next[bucket])] = Int32(block)
            slots[block] = next[bucket]
            next[bucket] += 1
        }
        self.bucketBits = bucketBits
        self.filterBits = filterBits
        self.filter = filter
        self.order = order
        self.slots = slots
        buckets = counts
        ends = next
    }

    /// The key of a block, of those that have one.
    private static func key(of block: Int, _ control: ZsyncControl) -> UInt32 {
        key(weak(block, control), control.run > 1 ? weak(block + 1, control) : 0)
    }

    /// A hash whose highest bits are well distributed.
    @inline(__always) private static func key(_ weak: UInt32, _ next: UInt32) -> UInt32 {
        var key = weak &* 0x9e37_79b1 &+ next &* 0x85eb_ca77
        key = (key ^ key &>> 15) &* 0x2c1b_3c6d
        return key ^ key &>> 16
    }

    /// Another file follows: blocks of the last one are no neighbours of its blocks.
    package mutating func beginFile() {
        for block in places.indices where places[block] >= 0 { places[block] = ZsyncMatcher.elsewhere }
        last = []
    }

    /// The place of a block that was found in an earlier file.
    private static let elsewhere = Int64.max

    /// Whether `bytes`, as many as a block has, are the block; if so, it is found.
    package mutating func confirm(_ block: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let weak = unsafe RollingChecksum(bytes).value(length: control.weakLength)
        guard places[block] < 0, Self.weak(block, control) == weak,
            unsafe isDigest(MessageDigest4.digest(bytes), of: block)
        else { return false }
        take(block, at: ZsyncMatcher.elsewhere)
        return true
    }

    /// Records the offset of a block and removes it from its bucket.
    private mutating func take(_ block: Int, at place: Int64) {
        places[block] = place
        foundCount += 1
        guard block < slots.count else { return }
        let bucket = Int(Self.key(of: block, control) >> (32 - bucketBits))
        ends[bucket] -= 1
        let (from, to) = (Int(slots[block]), Int(ends[bucket]))
        order.swapAt(from, to)
        slots[Int(order[from])] = Int32(from)
        slots[block] = Int32(to)
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
        _ window: UnsafeRawBufferPointer, at offset: Int64, isLast: Bool
    ) -> (matches: [Match], next: Int64) {
        let length = control.blockLength
        guard !places.isEmpty, !isComplete else { return ([], offset + Int64(window.count)) }
        guard isLast else { return unsafe scan(window, at: offset, until: window.count - context + 1) }
        // The last block of a file is padded with zeros.
        var padded = unsafe Array(window)
        padded.append(contentsOf: [UInt8](repeating: 0, count: context + length))
        return unsafe padded.withUnsafeBytes { unsafe scan($0, at: offset, until: window.count) }
    }

    /// The rolling checksums at one offset: of the block there, and of the next one if that counts too.
    private struct Sums {
        var first: RollingChecksum
        var second: RollingChecksum
    }

    private mutating func scan(
        _ window: UnsafeRawBufferPointer, at offset: Int64, until end: Int
    ) -> (matches: [Match], next: Int64) {
        let length = control.blockLength
        var matches: [Match] = []
        var position = 0
        var strong: [UInt8]?
        while position < end, !isComplete {
            var sums = unsafe sums(window, position)
            let isBehindMatch = !last.isEmpty && lastEnd == offset + Int64(position)
            if !isBehindMatch { position = unsafe nextCandidate(window, position, end, &sums) }
            var before = matches.count
            while position < end {
                before = matches.count
                unsafe match(window, position, sums, offset, &strong, &matches)
                guard matches.count == before, position + 1 < end else { break }
                unsafe roll(&sums, window, position)
                position = unsafe nextCandidate(window, position + 1, end, &sums)
                strong = nil
            }
            guard matches.count > before else {
                position = max(position, end)
                break
            }
            position += length
        }
        return (matches, offset + Int64(position))
    }

    private func sums(_ window: UnsafeRawBufferPointer, _ position: Int) -> Sums {
        unsafe Sums(
            first: checksum(window, position),
            second: control.run > 1
                ? checksum(window, position + control.blockLength) : RollingChecksum(.init(start: nil, count: 0)))
    }

    @inline(__always) private func roll(_ sums: inout Sums, _ window: UnsafeRawBufferPointer, _ position: Int) {
        let (length, isPair) = (control.blockLength, control.run > 1)
        let middle = unsafe window[position + length]
        unsafe sums.first.roll(out: window[position], in: middle, shift: shift)
        if isPair { unsafe sums.second.roll(out: middle, in: window[position + 2 * length], shift: shift) }
    }

    /// The first offset from `start` on where a block may be; `end` if there is none.
    private func nextCandidate(_ window: UnsafeRawBufferPointer, _ start: Int, _ end: Int, _ sums: inout Sums) -> Int {
        let (length, mask, shift, isPair) = (control.blockLength, weakMask, shift, control.run > 1)
        let filterShift = 32 - filterBits
        var (first, second) = (sums.first, sums.second)
        var position = start
        unsafe filter.withUnsafeBufferPointer { filter in
            while position < end {
                let next = isPair ? second.all & mask : 0
                let bit = Self.key(first.all & mask, next) &>> filterShift
                if unsafe filter[Int(bit &>> 3)] & 1 &<< UInt8(bit & 7) != 0 { return }
                guard position + 1 < end else { break }
                let middle = unsafe window[position + length]
                unsafe first.roll(out: window[position], in: middle, shift: shift)
                if isPair { unsafe second.roll(out: middle, in: window[position + 2 * length], shift: shift) }
                position += 1
            }
            position = end
        }
        sums = Sums(first: first, second: second)
        return position
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
    /// The digests are so short that a single match is a coincidence too often. A found block leaves its bucket: the zeros
    /// of a sparse file are not found a million times. `strong` is the digest of these bytes if it is known, afterwards that
    /// of the next block's.
    private mutating func match(
        _ window: UnsafeRawBufferPointer, _ position: Int, _ sums: Sums, _ offset: Int64, _ strong: inout [UInt8]?,
        _ matches: inout [Match]
    ) {
        let (length, place) = (control.blockLength, offset + Int64(position))
        let (weak, next) = (sums.first.all & weakMask, control.run > 1 ? sums.second.all & weakMask : 0)
        var digest = strong
        var nextDigest: [UInt8]?
        var found: [Int32] = []
        func isHere(_ block: Int) -> Bool {
            let value = unsafe digest ?? self.digest(window, position)
            digest = value
            return isDigest(value, of: block)
        }
        func isFollowed(_ block: Int) -> Bool {
            let value = unsafe nextDigest ?? self.digest(window, position + length)
            nextDigest = value
            return isDigest(value, of: block + 1)
        }
        if lastEnd == place {
            for block in last.lazy.map({ Int($0) + 1 })
            where block < places.count && places[block] < 0 && Self.weak(block, control) == weak && isHere(block) {
                found.append(Int32(block))
            }
        }
        let bucket = Int(Self.key(weak, next) >> (32 - bucketBits))
        let start = Int(buckets[bucket])
        for slot in start..<min(Int(ends[bucket]), start + Self.candidates) {
            let block = Int(order[slot])
            guard Self.weak(block, control) == weak, control.run == 1 || Self.weak(block + 1, control) == next,
                isHere(block), control.run == 1 || isFollowed(block), !found.contains(Int32(block))
            else { continue }
            found.append(Int32(block))
        }
        strong = nextDigest
        guard !found.isEmpty else { return }
        for block in found {
            take(Int(block), at: place)
            matches.append(Match(source: place, target: control.range(Int(block))))
        }
        (last, lastEnd) = (Array(found.prefix(Self.candidates)), place + Int64(length))
    }

    /// The blocks of one bucket that are compared at one offset: a hostile table has all of them in one.
    private static let candidates = 512

    private func checksum(_ window: UnsafeRawBufferPointer, _ position: Int) -> RollingChecksum {
        unsafe RollingChecksum(UnsafeRawBufferPointer(rebasing: window[position..<position + control.blockLength]))
    }

    private func digest(_ window: UnsafeRawBufferPointer, _ position: Int) -> [UInt8] {
        unsafe MessageDigest4.digest(
            UnsafeRawBufferPointer(rebasing: window[position..<position + control.blockLength]))
    }

    private func isDigest(_ digest: [UInt8], of block: Int) -> Bool {
        let start = block * (control.weakLength + control.strongLength) + control.weakLength
        return digest.prefix(control.strongLength).elementsEqual(control.table[start..<start + control.strongLength])
    }
}
