// Several lanes for the same last bytes: one owns them, the racers write them as well, and all end at the same offset.
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

    /// The answer of one of them ends sooner: what lies beyond goes back to the rest, for all of them.
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

    /// Whether the owner has passed the end of a racer's answer, which is of no use then.
    ///
    /// An heir counts as a racer until it is where the owner was.
    func isPassed(_ lane: Lane) -> Bool {
        let owner = lane.isRacing ?? lane.id
        guard let claim = map.claim(of: owner) else { return lane.isRacing != nil }
        return claim.start > lane.cursor && claim.start >= lane.end
    }

    /// Whether what this lane brings next is brought by no other, and is not on disk.
    ///
    /// A racer, a lane that is raced for, and an heir that is not yet where the owner was bring bytes that may be there.
    package func isAlone(_ id: LaneID) -> Bool {
        guard let index = index(of: id), lanes[index].kind == .data, let claim = map.claim(of: id) else {
            return false
        }
        return claim.start == lanes[index].cursor && !lanes.contains { $0.isRacing == id }
    }

    /// The racers of a lane that is gone own the bytes that are left, the furthest first.
    mutating func promoteRacer(of owner: LaneID) {
        let racers = lanes.indices.filter { lanes[$0].isRacing == owner }
        guard let first = racers.max(by: { lanes[$0].cursor < lanes[$1].cursor }) else { return }
        let heir = lanes[first]
        lanes[first].kind = .data
        for racer in racers where racer != first { lanes[racer].kind = .racing(heir.id) }
        // One that is behind the owner's last byte writes the same bytes again until it is beyond them.
        let left = map.rest.lazy.compactMap { $0.intersection(ByteRange(heir.cursor, heir.end)) }.first
        if let left { map.assign(left, to: heir.id) }
    }

    /// Racers follow their goal to its new request.
    mutating func follow(from old: LaneID, to new: LaneID) {
        for racer in lanes.indices where lanes[racer].isRacing == old { lanes[racer].kind = .racing(new) }
    }
}
