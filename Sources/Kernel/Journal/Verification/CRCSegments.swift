package import PawlBase

/// The CRCs of parts of a file, computed in any order; the CRCs of adjacent parts can be combined.
package struct CRCSegments: Hashable, Sendable {
    private struct Segment: Hashable, Sendable {
        var range: ByteRange
        /// One for each algorithm.
        var values: [UInt64]
    }

    /// In order, and none overlaps another.
    private var segments: [Segment] = []
    /// The union of all segments.
    private var covered = ByteRangeSet()

    /// The maximum length of a segment.
    ///
    /// When a byte is overwritten, its whole segment is read again.
    package static let longest: Int64 = 8 << 20
    /// A shorter segment is checked only when no more bytes will follow it.
    package static let shortest: Int64 = 1 << 20

    package init() {}

    /// The next range of `done` to check; `nil` when there is none.
    package func next(in done: ByteRangeSet, isFinal: Bool) -> ByteRange? {
        for run in done.runs {
            for gap in covered.gaps(in: run) where isFinal || gap.count >= Self.shortest {
                return ByteRange(gap.start, min(gap.end, gap.start + Self.longest))
            }
        }
        return nil
    }

    /// How many bytes of `done` were not checked.
    package func missing(in done: ByteRangeSet) -> Int64 {
        done.runs.reduce(0) { count, run in covered.gaps(in: run).reduce(count) { $0 + $1.count } }
    }

    /// Adds the CRCs of `range`, which was not covered.
    package mutating func insert(_ range: ByteRange, _ values: [UInt64]) {
        assert(!covered.intersects(range), "a range is checked once")
        let place = segments.firstIndex { $0.range.start > range.start } ?? segments.count
        segments.insert(Segment(range: range, values: values), at: place)
        covered.insert(range)
    }

    /// Discards the CRCs of segments that overlap `range`, because it is overwritten.
    package mutating func remove(_ range: ByteRange) {
        guard covered.intersects(range) else { return }
        var kept: [Segment] = []
        for segment in segments {
            if segment.range.start < range.end, range.start < segment.range.end {
                covered.remove(segment.range)
            } else {
                kept.append(segment)
            }
        }
        segments = kept
    }

    /// The CRCs of the first `length` bytes; `nil` unless exactly those were checked.
    ///
    /// `combine` merges two adjacent parts: index of the algorithm, both CRCs, and the length of the second
    /// part.
    package func combined(length: Int64, _ combine: (Int, UInt64, UInt64, Int64) -> UInt64) -> [UInt64]? {
        guard covered == ByteRangeSet([ByteRange(0, length)]), var values = segments.first?.values else { return nil }
        for segment in segments.dropFirst() {
            for place in values.indices {
                values[place] = combine(place, values[place], segment.values[place], segment.range.count)
            }
        }
        return values
    }
}
