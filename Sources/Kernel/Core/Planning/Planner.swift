package import PawlBase
import PawlJournal

/// Chooses the next piece of work for a free connection.
///
/// Pure functions of a map; nothing here acts.
package struct Planner: Hashable, Sendable {
    /// Both halves of a split range keep at least this many bytes while the lane's speed is unknown.
    package var minimumSplit: Int64 = 1 << 20
    /// However slow the lane is, a request for less than this costs more than it gains.
    package var leastSplit: Int64 = 64 << 10
    /// A half that its lane will finish sooner than this, or than a new connection receives its first byte,
    /// is left to it.
    package var splitWorthwhile = Interval.milliseconds(50)
    /// How long a new connection takes until its first byte.
    package var opening = Interval.zero
    /// Lanes that may work on the same last bytes.
    package var racersPerRange = 3
    /// A remainder that its lane will finish sooner than this is left to it.
    package var raceWorthwhile = Interval.seconds(1)
    /// The length of a range for a free lane; what follows it is left without an owner.
    package var longestRange = ByteRange.open
    /// The byte that a reader waits for.
    package var wanted: Int64?
    /// A lane that reaches the wanted byte within this time, or this many bytes, brings it sooner than another request.
    package static let reach = Interval.milliseconds(250)
    package static let shortWay: Int64 = 256 << 10

    package init() {}

    /// The planner's view of a lane.
    package struct LaneView: Hashable, Sendable {
        package var id: LaneID
        /// Bytes per second, 0 while nothing was received.
        package var speed: Double
        package var isRacing: LaneID?
        package var silentFor: Interval
        /// A rate limit holds it back: bytes of its range that its server has sent wait to be read, and would
        /// be lost with a part of the range.
        package var isHeld: Bool
        /// Its range is not to be shortened.
        package var keepsRange: Bool

        package init(
            id: LaneID, speed: Double, isRacing: LaneID?, silentFor: Interval, isHeld: Bool = false,
            keepsRange: Bool = false
        ) {
            self.id = id
            self.speed = speed
            self.isRacing = isRacing
            self.silentFor = silentFor
            self.isHeld = isHeld
            self.keepsRange = keepsRange
        }
    }

    package enum Work: Hashable, Sendable {
        /// Bytes without an owner.
        case rest(ByteRange)
        /// The latter part of a lane's range, taken from the lane.
        case steal(ByteRange, from: LaneID)
        /// The same bytes as a slow lane's, to finish first.
        case race(ByteRange, against: LaneID)
    }

    package func nextWork(in map: SegmentMap, lanes: [LaneView]) -> Work? {
        if let work = wantedWork(in: map, lanes: lanes) { return work }
        if let largest = map.rest.max(by: { $0.count < $1.count }) { return .rest(bounded(largest)) }
        guard map.total != nil else { return nil }
        return steal(in: map, lanes: lanes) ?? race(in: map, lanes: lanes)
    }

    /// The work that begins with the wanted byte, unless a lane brings it soon.
    private func wantedWork(in map: SegmentMap, lanes: [LaneView]) -> Work? {
        guard let wanted, map.total != nil else { return nil }
        if let gap = map.rest.first(where: { $0.contains(wanted) }) {
            return .rest(bounded(ByteRange(wanted, gap.end)))
        }
        guard let claim = map.claims.first(where: { $0.range.contains(wanted) }),
            let lane = lanes.first(where: { $0.id == claim.lane }), !lane.keepsRange,
            !lanes.contains(where: { $0.isRacing == claim.lane }),
            !Self.isNear(wanted, to: claim.range.start, speed: lane.speed)
        else { return nil }
        return .steal(bounded(ByteRange(wanted, claim.range.end)), from: claim.lane)
    }

    /// Whether a lane of that speed comes from `cursor` to the byte soon.
    static func isNear(_ byte: Int64, to cursor: Int64, speed: Double) -> Bool {
        byte - cursor <= max(shortWay, Int64(min(speed * reach.seconds, 1e15)))
    }

    private func steal(in map: SegmentMap, lanes: [LaneView]) -> Work? {
        // A range with racers is at its tail; splitting it would leave racers without a goal.
        let raced = Set(lanes.compactMap(\.isRacing))
        let speeds = lanes.map(\.speed).filter { $0 > 0 }
        let mean = speeds.isEmpty ? 0 : speeds.reduce(0, +) / Double(speeds.count)
        let latest = map.claims.compactMap { claim -> (claim: SegmentMap.Claim, wait: Double)? in
            let lane = lanes.first { $0.id == claim.lane }
            let own = lane?.speed ?? 0
            guard lane?.isHeld != true, lane?.keepsRange != true, !raced.contains(claim.lane),
                isWorthSplitting(claim.range, speed: own)
            else {
                return nil
            }
            // Where no speed is known, the longest range will finish last.
            let assumed = own > 0 ? own : mean > 0 ? mean : 1
            return (claim, Double(claim.range.count) / assumed)
        }.max { $0.wait < $1.wait }
        guard let victim = latest?.claim else { return nil }
        assert(!victim.range.isEmpty, "a lane without bytes is not worth splitting")
        let middle = victim.range.start + victim.range.count / 2
        return .steal(bounded(ByteRange(middle, victim.range.end)), from: victim.lane)
    }

    private func bounded(_ range: ByteRange) -> ByteRange {
        // A remainder that is not worth a request of its own stays with it.
        guard range.count - minimumSplit > longestRange else { return range }
        return ByteRange(range.start, range.start + longestRange)
    }

    private func isWorthSplitting(_ range: ByteRange, speed: Double) -> Bool {
        let half = range.count / 2
        guard speed > 0 else { return half >= minimumSplit }
        return half >= leastSplit && Double(half) / speed >= max(splitWorthwhile, opening).seconds
    }

    private func race(in map: SegmentMap, lanes: [LaneView]) -> Work? {
        let slowest = map.claims.compactMap { claim -> (claim: SegmentMap.Claim, wait: Double)? in
            guard let lane = lanes.first(where: { $0.id == claim.lane }), !lane.isHeld, !lane.keepsRange else {
                return nil
            }
            let racers = lanes.count { $0.isRacing == claim.lane }
            guard racers + 1 < racersPerRange else { return nil }
            let wait = lane.speed > 0 ? Double(claim.range.count) / lane.speed : lane.silentFor.seconds
            return wait > raceWorthwhile.seconds ? (claim, wait) : nil
        }.max { $0.wait < $1.wait }
        return slowest.map { .race($0.claim.range, against: $0.claim.lane) }
    }
}
