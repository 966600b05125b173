import PawlCore

/// Where a byte comes from: which writing of the content, and how far the file is shifted against the resource.
///
/// Two bytes are equal only when their stamps are, so that a swapped, shifted or stale byte never passes for a right
/// one, and a run of any length costs one value.
struct Stamp: Hashable {
    var epoch: Int
    var shift: Int64
}

struct Stretch: Hashable {
    var range: ByteRange
    var stamp: Stamp
}

/// A file in memory: stretches of stamped bytes, sorted, neighbours of one stamp joined.
struct Sheet: Hashable {
    private(set) var stretches: [Stretch] = []
    /// Every byte that was ever written since the last `clear`.
    private(set) var written = ByteRangeSet()

    mutating func clear() { self = Sheet() }

    mutating func write(_ new: Stretch) {
        guard !new.range.isEmpty else { return }
        written.insert(new.range)
        var next: [Stretch] = []
        for old in stretches {
            if let before = old.range.intersection(ByteRange(0, new.range.start)) {
                next.append(Stretch(range: before, stamp: old.stamp))
            }
            if let after = old.range.intersection(ByteRange(new.range.end, .max)) {
                next.append(Stretch(range: after, stamp: old.stamp))
            }
        }
        next.append(new)
        next.sort { $0.range.start < $1.range.start }
        stretches = Sheet.joined(next)
    }

    func read(_ range: ByteRange) -> [Stretch] {
        stretches.compactMap { stretch in
            stretch.range.intersection(range).map { Stretch(range: $0, stamp: stretch.stamp) }
        }
    }

    static func joined(_ stretches: [Stretch]) -> [Stretch] {
        stretches.reduce(into: []) { joined, next in
            if let last = joined.last, last.stamp == next.stamp, last.range.end == next.range.start {
                joined[joined.count - 1].range.end = next.range.end
            } else {
                joined.append(next)
            }
        }
    }
}

/// One version of a resource.
struct Content: Hashable {
    var length: Int64
    var epoch: Int
    /// Bytes before this offset are those of `prefixEpoch`: content that grew at its end.
    var sharedPrefix: Int64 = 0
    var prefixEpoch = 0

    /// The bytes of `range`, as they stand in a file whose first byte is the resource's byte `base`.
    func stretches(of range: ByteRange, base: Int64) -> [Stretch] {
        let parts = [(ByteRange(0, sharedPrefix), prefixEpoch), (ByteRange(sharedPrefix, .max), epoch)]
        return parts.compactMap { part, epoch in
            range.intersection(part).map { piece in
                Stretch(
                    range: ByteRange(piece.start - base, piece.end - base),
                    stamp: Stamp(epoch: epoch, shift: base)
                )
            }
        }
    }

    /// What a right file holds.
    func wanted(_ wish: RequestedRange) -> [Stretch] {
        let part = wished(wish)
        return Sheet.joined(stretches(of: part, base: part.start))
    }

    func wished(_ wish: RequestedRange) -> ByteRange {
        switch wish {
        case .whole: ByteRange(0, length)
        case .from(let start): ByteRange(min(start, length), length)
        case .closed(let range): ByteRange(min(range.start, length), min(range.end, length))
        case .suffix(let count): ByteRange(max(0, length - count), length)
        }
    }
}
