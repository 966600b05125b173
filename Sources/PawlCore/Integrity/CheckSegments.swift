/// Which parts of a file were checked with CRCs, in any order, and their values: those of neighbours can be combined.
package struct CheckSegments: Hashable, Sendable {
    private struct Segment: Hashable, Sendable {
        var range: ByteRange
        /// One for each algorithm.
        var values: [UInt64]
    }

    /// In order, and none overlaps another.
    private var segments: [Segment] = []
    /// The same without the borders.
    private var covered = ByteRangeSet()

    /// The most bytes of one segment: when one of them is written again, that many are read again.
    package static let longest: Int64 = 8 << 20
    /// Fewer are checked only when no more will come.
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

    /// The bytes of `range`, which was not covered, have these values.
    package mutating func insert(_ range: ByteRange, _ values: [UInt64]) {
        assert(!covered.intersects(range), "a range is checked once")
        let place = segments.firstIndex { $0.range.start > range.start } ?? segments.count
        segments.insert(Segment(range: range, values: values), at: place)
        covered.insert(range)
    }

    /// The bytes of `range` are written again.
    package mutating func remove(_ range: ByteRange) {
        guard covered.intersects(range) else { return }
        for segment in segments where segment.range.start < range.end && range.start < segment.range.end {
            covered.remove(segment.range)
        }
        segments.removeAll { $0.range.start < range.end && range.start < $0.range.end }
    }

    /// The values of the first `length` bytes; `nil` unless all of them, and no more, were checked.
    ///
    /// `combine` makes one value of two neighbours': the algorithm's place, both values, and the length of the second.
    package func combined(length: Int64, _ combine: (Int, UInt64, UInt64, Int64) -> UInt64) -> [UInt64]? {
        guard covered == ByteRangeSet([ByteRange(0, length)]), var values = segments.first?.values else {
            return nil
        }
        for segment in segments.dropFirst() {
            for place in values.indices {
                values[place] = combine(place, values[place], segment.values[place], segment.range.count)
            }
        }
        return values
    }
}
