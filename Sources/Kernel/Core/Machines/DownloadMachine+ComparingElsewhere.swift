// Compared bytes without information, such as zeros: equal ones prove nothing, and other places are compared instead.
//
// As with the bytes right before those that a response adds, an agreement counts for the next response only. Where such a
// place is near, the response that adds bytes begins there itself: another one may be of another version.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// Where to look for bytes that identify the content, if those that the lane has just compared do not; `nil` where that
    /// does not matter.
    package func comparisonCandidates(_ id: LaneID) -> (compared: ByteRange, others: [ByteRange])? {
        guard isActive, !digestsDecide, let lane = lane(id), lane.overlap > 0 else { return nil }
        let compared = lane.comparedRange
        // All that is on disk was compared.
        guard compared.count < lanes.map.done.count else { return nil }
        if continuity.elsewhere?.contains(compared, from: lane.source) == true { return nil }
        // One of the parts that are compared for a connection that breaks: the request for more bytes decides.
        if lane.isSettling, part(of: lane.source) != nil, !continuity.samples.contains(where: compared.contains) {
            return nil
        }
        let record = record(of: lane.source, at: lane.request.host)
        switch lane.response.identity.flatMap({ record?.evidence(for: $0.validators) }) {
        case .strong?: return nil
        case .dated?, .weak?, .unclear?, .changed?, nil: break
        }
        return (compared, ComparisonSample.candidates(near: compared, on: lanes.map.done))
    }

    /// The places to compare where none of the candidates identifies the content.
    package var comparisonSpread: [ByteRange] { ComparisonSample.spread(over: lanes.map.done) }

    /// Compares other places first, where the lane's bytes have no information; `nil` when its agreement counts.
    mutating func compareElsewhere(_ index: Int, _ places: [ByteRange], now: Instant) -> [Action]? {
        let lane = lanes[index]
        let compared = lane.comparedRange
        if continuity.elsewhere?.source != lane.source { continuity.elsewhere = nil }
        if lane.isSettling, continuity.elsewhere?.note(equal: compared) == true {
            guard continuity.elsewhere?.left.isEmpty == false else { return nil }
            return [remove(index)] + nextElsewhere(lane.source, now: now)
        }
        var equal = continuity.elsewhere?.equal ?? ByteRangeSet()
        equal.insert(compared)
        let wanted = places + trialPlaces(for: lane)
        let new = wanted.filter { !equal.contains($0) }
        guard !new.isEmpty else {
            // The bytes that this response adds are compared for it alone.
            if lane.isBringing { continuity.elsewhere = nil }
            return nil
        }
        if let reach = reach(of: lane, to: new) {
            continuity.elsewhere = ComparedElsewhere(source: lane.source, left: [], reach: reach, equal: equal)
            sources[lane.source].worked()
            return [remove(index)] + refillOrOpen(now: now)
        }
        continuity.sampled(compared)
        continuity.elsewhere = ComparedElsewhere(source: lane.source, left: new, equal: equal)
        return [remove(index)] + nextElsewhere(lane.source, now: now)
    }

    /// The longest distance in bytes to a place from which a response repeats all bytes.
    static let longestReach: Int64 = 4 << 20

    /// The bytes that the response repeats from the place on, where that is near.
    private func reach(of lane: Lane, to places: [ByteRange]) -> ByteRange? {
        guard lane.isData, places.count == 1, places[0].start < lane.cursor, part(of: lane.source) == nil else {
            return nil
        }
        let reach = ByteRange(places[0].start, lane.cursor)
        return reach.count <= Self.longestReach && lanes.map.done.contains(reach) ? reach : nil
    }

    /// How many bytes before `offset` a request to the source compares since those right before it have no information.
    func reach(before offset: Int64, from source: Int) -> Int64? {
        guard let elsewhere = continuity.elsewhere, elsewhere.source == source, let reach = elsewhere.reach,
            reach.end == offset, lanes.map.done.contains(reach)
        else { return nil }
        return reach.count
    }

    /// Both ends and the middle of what is on disk, where it was begun for another URL than the one that the user has given
    /// for the source since.
    ///
    /// Not where an equal strong tag and the length say that it is the same content.
    private func trialPlaces(for lane: Lane) -> [ByteRange] {
        let source = sources[lane.source]
        guard source.trial == .byUser, lane.isBringing,
            let run = lanes.map.done.runs.max(by: { $0.count < $1.count })
        else { return [] }
        if let tag = lane.response.identity?.validators.entityTag, !tag.isWeak,
            lane.response.identity?.total == continuity.representation?.total,
            continuity.representation?.records.contains(where: { $0.validators.entityTag == tag }) == true
        {
            return []
        }
        return ComparisonSample.places(of: run)
    }

    /// Whether places without which nothing is proven are still to be compared.
    package var isComparingElsewhere: Bool { continuity.elsewhere?.left.isEmpty == false }

    /// Compares the next of the places, beside the lanes of other sources.
    private mutating func nextElsewhere(_ source: Int, now: Instant) -> [Action] {
        // The target works, and may expire again before the next request.
        sources[source].worked()
        if lanes.list.isEmpty { return waiting.isForAttempt ? [] : openFirst(now: now) }
        guard let order = orderElsewhere(source, now: now) else { return refill(now: now) }
        return [order]
    }

    /// The request that compares the next of the places; `nil` when there is none.
    mutating func orderElsewhere(_ source: Int, now: Instant) -> Action? {
        guard continuity.base != nil, continuity.elsewhere?.source == source else { return nil }
        // Bytes may have been discarded since.
        continuity.elsewhere?.left.removeAll { !lanes.map.done.contains($0) }
        guard let place = continuity.elsewhere?.left.first else { return nil }
        let end = ByteRange(place.end, place.end)
        return order(.settling, source: source, range: end, overlap: place.count, now: now)
    }
}
