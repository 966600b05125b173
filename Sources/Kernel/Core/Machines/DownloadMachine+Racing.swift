// Several lanes for the same last bytes: one owns them, the racers write them as well, and all end at the
// same offset.
import PawlBase

extension DownloadMachine {
    /// A racer that is ahead of the owner owns the bytes from there on.
    mutating func overtake(_ owner: LaneID, racer index: Int) {
        guard let place = self.index(of: owner), lanes[index].cursor > lanes[place].cursor else { return }
        let racer = lanes[index].id
        map.handOver(from: owner, to: racer, at: lanes[index].cursor)
        lanes[index].kind = .data
        for other in lanes.indices where lanes[other].isRacing == owner { lanes[other].kind = .racing(racer) }
        lanes[place].kind = .racing(racer)
    }

    /// The response of one of them ends earlier: what lies beyond returns to the rest, for all of them.
    mutating func endTogether(with index: Int) -> [Action] {
        let lane = lanes[index]
        let owner = lane.isRacing ?? lane.id
        var actions: [Action] = []
        for other in lanes.indices where lanes[other].id == owner || lanes[other].isRacing == owner {
            guard lanes[other].end > lane.end else { continue }
            lanes[other].end = lane.end
            actions.append(.limit(lanes[other].id, end: lane.end))
        }
        map.shorten(owner, to: lane.end)
        return actions
    }

    /// Whether the owner has passed the end of a racer's response, which is useless then.
    ///
    /// An heir counts as a racer until it reaches the owner's offset.
    func isPassed(_ lane: Lane) -> Bool {
        let owner = lane.isRacing ?? lane.id
        guard let claim = map.claim(of: owner) else { return lane.isRacing != nil }
        return claim.start > lane.cursor && claim.start >= lane.end
    }

    /// Whether no other lane receives the next bytes of this one, and they are not on disk.
    ///
    /// A racer, a lane with racers, and an heir that has not reached the owner's offset receive bytes that
    /// may exist.
    package func isAlone(_ id: LaneID) -> Bool {
        guard let index = index(of: id), lanes[index].kind == .data, let claim = map.claim(of: id) else { return false }
        return claim.start == lanes[index].cursor && !lanes.contains { $0.isRacing == id }
    }

    /// Assigns the remaining bytes of a lane that ended to its racers, the furthest first.
    mutating func promoteRacer(of owner: LaneID) {
        let racers = lanes.indices.filter { lanes[$0].isRacing == owner }
        guard let first = racers.max(by: { lanes[$0].cursor < lanes[$1].cursor }) else { return }
        let heir = lanes[first]
        lanes[first].kind = .data
        for racer in racers where racer != first { lanes[racer].kind = .racing(heir.id) }
        // An heir behind the owner's last byte writes the same bytes again until it is beyond them.
        let left = map.rest.lazy.compactMap { $0.intersection(ByteRange(heir.cursor, heir.end)) }.first
        if let left { map.assign(left, to: heir.id) }
    }

    /// Moves racers from their goal's old request to its new one.
    mutating func follow(from old: LaneID, to new: LaneID) {
        for racer in lanes.indices where lanes[racer].isRacing == old { lanes[racer].kind = .racing(new) }
    }
}
