/// A set of bytes, kept as sorted runs that neither touch nor overlap.
package struct ByteRangeSet: Hashable, Sendable {
    package private(set) var runs: [ByteRange] = []

    package init() {}

    package init(_ ranges: some Sequence<ByteRange>) { for range in ranges { insert(range) } }

    package var isEmpty: Bool { runs.isEmpty }
    package var count: Int64 { runs.reduce(0) { $0 + $1.count } }
    /// The end of the last run, 0 when empty.
    package var upperBound: Int64 { runs.last?.end ?? 0 }
    /// How many bytes from offset 0 on are in the set without a gap.
    package var prefix: Int64 {
        guard let first = runs.first, first.start == 0 else { return 0 }
        return first.end
    }

    package mutating func insert(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        if let last = runs.last, last.start <= range.start {
            // The usual case, an advancing cursor, costs no search.
            if range.start > last.end {
                runs.append(range)
            } else if range.end > last.end {
                runs[runs.count - 1].end = range.end
            }
            return
        }
        let low = firstIndex { $0.end >= range.start }
        let high = firstIndex { $0.start > range.end }
        guard low < high else {
            runs.insert(range, at: low)
            return
        }
        let merged = ByteRange(min(runs[low].start, range.start), max(runs[high - 1].end, range.end))
        runs.replaceSubrange(low..<high, with: CollectionOfOne(merged))
    }

    package mutating func insert(_ other: ByteRangeSet) { for run in other.runs { insert(run) } }

    package mutating func remove(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        let low = firstIndex { $0.end > range.start }
        let high = firstIndex { $0.start >= range.end }
        guard low < high else { return }
        var rest: [ByteRange] = []
        if runs[low].start < range.start { rest.append(ByteRange(runs[low].start, range.start)) }
        if runs[high - 1].end > range.end { rest.append(ByteRange(range.end, runs[high - 1].end)) }
        runs.replaceSubrange(low..<high, with: rest)
    }

    package func contains(_ range: ByteRange) -> Bool {
        guard !range.isEmpty else { return true }
        let index = firstIndex { $0.end > range.start }
        return index < runs.count && runs[index].contains(range)
    }

    package func isSubset(of other: ByteRangeSet) -> Bool { runs.allSatisfy(other.contains) }

    package func intersects(_ range: ByteRange) -> Bool {
        let index = firstIndex { $0.end > range.start }
        return index < runs.count && runs[index].intersection(range) != nil
    }

    /// The runs of `range` that are not in the set, in order.
    package func gaps(in range: ByteRange) -> [ByteRange] {
        var gaps: [ByteRange] = []
        var cursor = range.start
        for run in runs[firstIndex(where: { $0.end > range.start })...] {
            guard run.start < range.end else { break }
            if run.start > cursor { gaps.append(ByteRange(cursor, run.start)) }
            cursor = run.end
        }
        if cursor < range.end { gaps.append(ByteRange(cursor, range.end)) }
        return gaps
    }

    /// The bytes of `self` that lie below `limit`.
    package func clipped(to limit: Int64) -> ByteRangeSet {
        ByteRangeSet(runs.compactMap { $0.intersection(ByteRange(0, limit)) })
    }

    /// Index of the first run for which `predicate` holds, by bisection; `predicate` is monotone over the
    /// runs.
    private func firstIndex(where predicate: (ByteRange) -> Bool) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if predicate(runs[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
