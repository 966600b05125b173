package import PawlBase
import PawlJournal

/// The owner of each byte of one file: done, a lane, or the rest.
///
/// The law of conservation: every byte of `[0, total)` belongs to exactly one of the three. `done` and the
/// lanes' claims are stored and never overlap; the rest is the remainder.
package struct SegmentMap: Hashable, Sendable {
    /// The bytes that one lane still has to fetch: from its cursor to its end.
    package struct Claim: Hashable, Sendable {
        package var lane: LaneID
        package var range: ByteRange
    }

    package private(set) var total: Int64?
    package private(set) var done: ByteRangeSet
    package private(set) var claims: [Claim] = []

    package init(total: Int64? = nil, done: ByteRangeSet = ByteRangeSet()) {
        self.total = total
        self.done = total.map { done.clipped(to: $0) } ?? done
    }

    package var horizon: Int64 { total ?? ByteRange.open }
    package var isComplete: Bool { total.map { done.contains(ByteRange(0, $0)) } ?? false }

    /// The runs without an owner, in order.
    package var rest: [ByteRange] {
        var taken = done
        for claim in claims { taken.insert(claim.range) }
        return taken.gaps(in: ByteRange(0, horizon))
    }

    /// Whether there are bytes without an owner.
    var hasRest: Bool { claims.reduce(done.count) { $0 + $1.range.count } < horizon }

    package func claim(of lane: LaneID) -> ByteRange? { claims.first { $0.lane == lane }?.range }

    /// The length became known.
    ///
    /// Bytes beyond it must not have been written.
    package mutating func learn(total: Int64) {
        precondition(done.upperBound <= total, "bytes were written beyond the end \(total)")
        self.total = total
        for index in claims.indices.reversed() {
            if let range = claims[index].range.intersection(ByteRange(0, total)) {
                claims[index].range = range
            } else {
                claims.remove(at: index)
            }
        }
    }

    package mutating func assign(_ range: ByteRange, to lane: LaneID) {
        precondition(!done.intersects(range), "\(range) is done already")
        precondition(
            claims.allSatisfy { $0.range.intersection(range) == nil && $0.lane != lane },
            "\(range) has an owner already")
        claims.append(Claim(lane: lane, range: range))
    }

    /// The lane has written up to `cursor`.
    package mutating func advance(_ lane: LaneID, to cursor: Int64) {
        guard let index = claims.firstIndex(where: { $0.lane == lane }) else { return }
        let range = claims[index].range
        guard cursor > range.start else { return }
        precondition(cursor <= range.end, "\(lane) wrote to \(cursor), beyond its end \(range.end)")
        done.insert(ByteRange(range.start, cursor))
        claims[index].range.start = cursor
        if cursor == range.end { claims.remove(at: index) }
    }

    /// The bytes of `range` are wrong: they become the rest.
    package mutating func discard(_ range: ByteRange) { done.remove(range) }

    /// Shortens the lane to `end`; the bytes from there on become the rest.
    package mutating func shorten(_ lane: LaneID, to end: Int64) {
        guard let index = claims.firstIndex(where: { $0.lane == lane }) else { return }
        let range = claims[index].range
        guard end < range.end else { return }
        if end <= range.start { claims.remove(at: index) } else { claims[index].range.end = end }
    }

    /// Assigns the rest that begins at the lane's end to it, up to `end`.
    package mutating func extend(_ lane: LaneID, to end: Int64) {
        guard let index = claims.firstIndex(where: { $0.lane == lane }) else { return }
        let range = claims[index].range
        precondition(!done.intersects(ByteRange(range.end, end)), "bytes after \(range) are done already")
        assert(end <= horizon, "\(lane) ends beyond the file")
        assert(
            claims.allSatisfy { $0.range.intersection(ByteRange(range.end, end)) == nil },
            "bytes after \(range) have an owner already")
        claims[index].range.end = end
    }

    /// Returns the lane's unfinished bytes to the rest.
    package mutating func release(_ lane: LaneID) { claims.removeAll { $0.lane == lane } }

    /// `racer` has overtaken `owner` and owns its bytes from now on.
    package mutating func handOver(from owner: LaneID, to racer: LaneID, at cursor: Int64) {
        assert(claim(of: racer) == nil, "a racer owns no bytes of its own")
        advance(owner, to: cursor)
        if let index = claims.firstIndex(where: { $0.lane == owner }) { claims[index].lane = racer }
    }

    /// Whether every byte has one owner: `done`, the claims and the rest add up to the whole.
    package var isConserved: Bool {
        let owned = (done.runs + claims.map(\.range) + rest).sorted { $0.start < $1.start }
        let isClosed = zip(owned, owned.dropFirst()).allSatisfy { $0.end == $1.start }
        return isClosed && owned.first?.start ?? 0 == 0 && owned.last?.end ?? 0 == horizon
    }
}

/// The identity of one connection's work inside one download; counts up and is never reused.
package struct LaneID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package var description: String { "lane \(rawValue)" }
}
