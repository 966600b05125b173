import PawlBase
import PawlJournal

/// One connection's work inside a download: a sequence of requests for one range.
///
/// What decides which bytes are its own, only ``Lanes`` changes.
package struct Lane: Hashable, Sendable {
    /// The bytes behind the end of a lane, which another one wrote.
    package enum Joint: Hashable, Sendable {
        case open
        /// The lane still compares so many of them.
        case comparing(Int64)
        /// They equal the server's.
        case equal
    }

    package enum Work: Hashable, Sendable {
        /// Receives bytes that it owns.
        case data(Joint = .open)
        /// Receives the same bytes as another lane, to finish first.
        case racing(LaneID)
        /// Compares bytes on disk with the server's, writes nothing.
        case settling
        /// Requests the whole although bytes are on disk; owns nothing until its response starts the file
        /// over.
        case restarting
        /// Requests one byte, to see whether that host repeats this entity tag, which differs from the one
        /// before.
        indirect case checkingTag(TagQuestion)
    }

    package enum Stage: Hashable, Sendable {
        case asking
        /// The program was asked about its request, or about the response.
        case asked(PendingQuestion)
        /// The response was accepted and waits for the file's place on disk.
        case claiming
        case flowing
    }

    package let id: LaneID
    package let source: Int
    package let slot: Int
    package fileprivate(set) var work: Work
    /// The next byte of the file that it writes, as the shell last reported it: the shell owns the cursor
    /// while the lane flows.
    package fileprivate(set) var cursor: Int64
    /// The end of its range; decided here.
    package fileprivate(set) var end: Int64
    /// How many bytes before `cursor` the response contains first, to be compared with the disk.
    package fileprivate(set) var overlap: Int64
    package internal(set) var stage = Stage.asking
    package internal(set) var request: Request
    package internal(set) var response = Response()
    package internal(set) var speed: LaneSpeed

    package var isData: Bool { if case .data = work { true } else { false } }

    /// The lane against which it races.
    package var isRacing: LaneID? { if case .racing(let owner) = work { owner } else { nil } }

    package var isSettling: Bool { if case .settling = work { true } else { false } }

    /// Whether it receives bytes of its own or another's range.
    package var isBringing: Bool {
        switch work {
        case .data, .racing: true
        case .settling, .restarting, .checkingTag: false
        }
    }

    /// How many bytes behind its end, which another lane wrote, it still compares.
    package var joint: Int64 { if case .data(.comparing(let count)) = work { count } else { 0 } }

    package var isFlowing: Bool { if case .flowing = stage { true } else { false } }

    /// Whether there is no response that may be used yet.
    package var isAsking: Bool {
        switch stage {
        case .asking, .asked: true
        case .claiming, .flowing: false
        }
    }

    /// The question to the program that it waits for.
    package var pending: PendingQuestion? { if case .asked(let question) = stage { question } else { nil } }

    /// The bytes on disk that its response repeats.
    var comparedRange: ByteRange { ByteRange(cursor - overlap, cursor) }

    package var extent: Extent {
        Extent(
            cursor: cursor, end: end, responseEnd: response.end, overlap: overlap, slot: slot, onlyCompares: isSettling)
    }

    /// Whether nothing follows the bytes on disk in this response, and a comparison has to show that they are its
    /// own.
    func comparesEnd(of map: SegmentMap) -> Bool {
        map.total == nil && isData && overlap > 0 && response.end == cursor && map.done.upperBound == cursor
    }
}

/// The lanes of a download and the owner of each byte, which only change together.
///
/// What a data lane has not received is its own, and nobody else's. Its racers receive the same bytes and own none; of
/// several lanes for the same bytes all end at the same offset.
package struct Lanes: Hashable, Sendable {
    /// How long a single lane may crawl.
    static let loneCrawl = Interval.seconds(10)

    package private(set) var list: [Lane] = []
    package private(set) var map = SegmentMap()
    package internal(set) var ramp: ConnectionRamp
    /// What the rate limits leave of it.
    package internal(set) var allowance = LaneAllowance()
    /// Bytes received over the network; those fetched twice count twice.
    package private(set) var received: Int64 = 0
    /// The byte that a reader waits for.
    package internal(set) var wanted: Int64?
    /// When a lane was last ended for the sake of a wanted byte.
    var displacedAt: Instant?
    private var next: UInt32 = 0
    private var nextSource = 0
    private let place = KeptInPlace()

    init(_ mode: ConnectionRamp.Mode) { ramp = ConnectionRamp(mode) }

    /// Inlined, and in place: a call would get a copy of the lane.
    @inline(__always) subscript(index: Int) -> Lane {
        _read { yield list[index] }
        _modify { yield &list[index] }
    }

    // By index: a closure would get a copy of each lane.
    @inline(__always) func index(of lane: LaneID) -> Int? {
        for index in list.indices where list[index].id == lane { return index }
        return nil
    }

    var flowing: Int { list.count(where: \.isFlowing) }

    // MARK: lanes

    /// Adds a lane, in the place of another one for the same bytes if that is to be asked for again.
    mutating func add(
        _ work: Lane.Work, source: Int, range: ByteRange, overlap: Int64, _ request: Lane.Request,
        replacing index: Int? = nil, now: Instant
    ) {
        let id = LaneID(rawValue: next)
        next += 1
        if let index {
            let old = list.remove(at: index).id
            map.release(old)
            // Its racers have a new goal.
            race(old, to: id)
        }
        var slot = 0
        while list.contains(where: { $0.slot == slot }) { slot += 1 }
        assert(slot < JournalLayout.slotCount, "each lane has a slot in the journal")
        assert(overlap <= range.start, "the overlap is before the range")
        let lane = Lane(
            id: id, source: source, slot: slot, work: work, cursor: range.start, end: range.end, overlap: overlap,
            request: request, speed: LaneSpeed(now: now))
        if lane.isData, !range.isEmpty { map.assign(range, to: id) }
        list.append(lane)
    }

    /// The bytes that the lane has not received.
    func left(of index: Int) -> ByteRange {
        map.claim(of: list[index].id) ?? ByteRange(list[index].cursor, max(list[index].cursor, list[index].end))
    }

    /// Ends a lane; its racers own the remaining bytes, the furthest first.
    mutating func remove(_ index: Int) -> LaneID {
        let lane = list.remove(at: index)
        map.release(lane.id)
        if lane.isData { promoteRacer(of: lane.id) }
        return lane.id
    }

    /// Ends a lane that has done its work; returns it, and its racers, which have lost.
    mutating func finish(_ index: Int) -> (lane: Lane, losers: [LaneID]) {
        let lane = list.remove(at: index)
        map.release(lane.id)
        return (lane, list.isEmpty ? [] : removeRacers(of: lane.id))
    }

    /// Ends all lanes; their unfinished bytes return to the rest.
    mutating func removeAll() {
        for lane in list { map.release(lane.id) }
        list.removeAll()
    }

    mutating func removeRacers(of owner: LaneID) -> [LaneID] { removeAll { $0.isRacing == owner } }

    /// Ends racers that would write bytes before `end` again.
    mutating func removeRacers(before end: Int64) -> [LaneID] { removeAll { $0.isRacing != nil && $0.cursor < end } }

    private mutating func removeAll(where isRemoved: (Lane) -> Bool) -> [LaneID] {
        let removed = list.filter(isRemoved).map(\.id)
        if !removed.isEmpty { list.removeAll { removed.contains($0.id) } }
        return removed
    }

    /// Ends the other lanes: the response of this one is the whole, and owns nothing until it is known what it brings.
    mutating func keep(_ index: Int) -> [LaneID] {
        for lane in list { map.release(lane.id) }
        list[index].work = .restarting
        let id = list[index].id
        return removeAll { $0.id != id }
    }

    /// This lane's response replaces what was on disk; ends the others.
    mutating func startOver(with index: Int, total: Int64?, responseEnd: Int64, longest: Int64) -> [LaneID] {
        let others = keep(index)
        map = SegmentMap(total: total)
        list[0].work = .data()
        receive(from: 0, overlap: 0, responseEnd: responseEnd, longest: longest)
        return others
    }

    /// The only lane's response begins with the `have` bytes on disk, which it compares before it brings others.
    mutating func compareWhole(_ have: Int64, responseEnd: Int64, longest: Int64) {
        assert(list.count == 1, "the other lanes were ended")
        list[0].work = map.isComplete ? .settling : .data()
        receive(from: have, overlap: have, responseEnd: responseEnd, longest: longest)
    }

    private mutating func receive(from start: Int64, overlap: Int64, responseEnd: Int64, longest: Int64) {
        list[0].cursor = start
        list[0].overlap = overlap
        list[0].response.end = responseEnd
        // Without a length the end of the requested part is still known.
        list[0].end = list[0].isSettling ? start : min(map.horizon, longest)
        if list[0].isData, start < list[0].end { map.assign(ByteRange(start, list[0].end), to: list[0].id) }
    }

    // MARK: the map

    /// What is on disk, when nothing is requested.
    mutating func begin(with map: SegmentMap) {
        assert(list.isEmpty, "a lane owns bytes of a file that was forgotten")
        self.map = map
    }

    mutating func learn(total: Int64) { map.learn(total: total) }

    /// The bytes of the range are wrong.
    mutating func discard(_ range: ByteRange) { map.discard(range) }

    /// The source's turn among those, of which it has the fewest lanes; among equals the next in rotation.
    mutating func turn(of sources: [Int]) -> Int {
        nextSource += 1
        let rotated = sources.indices.map { sources[(nextSource + $0) % sources.count] }
        let loads = rotated.map { source in list.count { $0.source == source } }
        let first = loads.indices.reduce(0) { loads[$1] < loads[$0] ? $1 : $0 }
        return rotated[first]
    }

    /// The bytes from there on are another lane's.
    mutating func shorten(_ lane: LaneID, to end: Int64) {
        map.shorten(lane, to: end)
        if let index = index(of: lane) { list[index].end = end }
    }

    /// Assigns a gap to the active lane right before it, if its response continues there; returns that and its racers,
    /// which have requested less and are ended.
    ///
    /// `keepsRacers`: lanes that have racers are left as they are.
    mutating func extend(through gap: ByteRange, keepsRacers: Bool) -> (lane: LaneID, losers: [LaneID])? {
        let found = list.firstIndex { lane in
            map.claim(of: lane.id)?.end == gap.start && lane.isFlowing && lane.response.end >= gap.end
                && (!keepsRacers || !list.contains { $0.isRacing == lane.id })
        }
        guard let found else { return nil }
        let id = list[found].id
        map.extend(id, to: gap.end)
        list[found].end = gap.end
        return (id, removeRacers(of: id))
    }

    // MARK: progress

    /// A response arrived.
    mutating func responded(_ index: Int, now: Instant) {
        list[index].speed.responded(now: now)
        ramp.responded(after: list[index].speed.opening)
    }

    /// The lane has written up to `cursor` and received `bytes` in all.
    mutating func progressed(_ index: Int, cursor: Int64, received bytes: Int64, waits: Bool, now: Instant) {
        received += list[index].speed.received(bytes, waits: waits, now: now)
        guard cursor > list[index].cursor else { return }
        list[index].cursor = cursor
        switch list[index].work {
        case .data: map.advance(list[index].id, to: cursor)
        case .racing(let owner): overtake(owner, racer: index)
        case .settling, .restarting, .checkingTag: break
        }
    }

    /// All bytes of the overlap were compared.
    mutating func compared(_ index: Int) { list[index].overlap = 0 }

    /// Compares so many bytes behind the lane's end.
    mutating func joins(_ index: Int, _ count: Int64) {
        if list[index].isData { list[index].work = .data(count > 0 ? .comparing(count) : .open) }
    }

    /// They were compared.
    mutating func joined(_ index: Int, isEqual: Bool) {
        if list[index].isData { list[index].work = .data(isEqual ? .equal : .open) }
    }

    mutating func stoodStill(for span: Interval, now: Instant) {
        for index in list.indices { list[index].speed.stoodStill(for: span, now: now) }
    }

    mutating func measure(now: Instant) {
        for index in list.indices where list[index].isFlowing { list[index].speed.measure(now: now) }
    }

    /// Decides how many lanes there may be.
    mutating func judge(now: Instant) {
        let remaining = map.total.map { $0 - map.done.count } ?? 0
        if list.contains(where: \.speed.isHeld) {
            ramp.hold(now: now)
        } else {
            ramp.measure(received: received, flowing: flowing, remaining: remaining, now: now)
        }
        guard allowance.rate != nil else { return }
        let samples = list.map { lane in
            LaneAllowance.Sample(speed: lane.speed.present, isHeld: lane.speed.isHeld, isFlowing: lane.isFlowing)
        }
        allowance.judge(samples, now: now)
    }

    /// How many there may be now.
    ///
    /// Beside the only lane, if that crawls or a reader waits for other bytes, a second connection is tried. Not instead of it:
    /// the server's support of Range is known only after a response to one.
    func width(now: Instant) -> Int {
        let isLone = list.count == 1 && (list[0].speed.crawls(for: Lanes.loneCrawl, now: now) || isMissed)
        return min(ramp.width + (isLone ? 1 : 0), allowance.width)
    }

    /// Whether a reader waits for other bytes than the lanes bring, and the number of connections is not the user's.
    private var isMissed: Bool {
        guard ramp.mode.isAutomatic, let wanted else { return false }
        return !brings(wanted)
    }

    /// Whether the byte is on disk, or a lane receives it soon.
    func brings(_ byte: Int64) -> Bool {
        if map.done.contains(ByteRange(byte, byte + 1)) { return true }
        guard let claim = map.claims.first(where: { $0.range.contains(byte) }), let index = index(of: claim.lane) else {
            return false
        }
        return Planner.isNear(byte, to: claim.range.start, speed: list[index].speed.present)
    }

    /// The lane that is ended for the sake of a wanted byte: a racer, or the one that has most to do.
    var leastUseful: Int? {
        list.firstIndex { $0.isRacing != nil } ?? list.indices.max { left(of: $0).count < left(of: $1).count }
    }
}

// MARK: - Races

extension Lanes {
    /// A racer that is ahead of the owner owns the bytes from there on.
    private mutating func overtake(_ owner: LaneID, racer index: Int) {
        guard let place = self.index(of: owner), list[index].cursor > list[place].cursor else { return }
        let racer = list[index].id
        map.handOver(from: owner, to: racer, at: list[index].cursor)
        list[index].work = .data()
        race(owner, to: racer)
        list[place].work = .racing(racer)
    }

    /// Assigns the remaining bytes of a lane that ended to its racers, the furthest first.
    private mutating func promoteRacer(of owner: LaneID) {
        let racers = list.indices.filter { list[$0].isRacing == owner }
        guard let first = racers.max(by: { list[$0].cursor < list[$1].cursor }) else { return }
        let heir = list[first]
        list[first].work = .data()
        race(owner, to: heir.id)
        // An heir behind the owner's last byte writes the same bytes again until it is beyond them.
        let left = map.rest.lazy.compactMap { $0.intersection(ByteRange(heir.cursor, heir.end)) }.first
        if let left { map.assign(left, to: heir.id) }
    }

    /// Moves racers from one goal to another.
    private mutating func race(_ old: LaneID, to new: LaneID) {
        for index in list.indices where list[index].isRacing == old { list[index].work = .racing(new) }
    }

    /// Ends the lane at `end`, and all that receive the same bytes: what lies beyond returns to the rest; returns those.
    mutating func endTogether(_ index: Int, at end: Int64) -> [LaneID] {
        list[index].end = end
        let owner = list[index].isRacing ?? list[index].id
        var others: [LaneID] = []
        for other in list.indices where list[other].id == owner || list[other].isRacing == owner {
            guard list[other].end > end else { continue }
            list[other].end = end
            others.append(list[other].id)
        }
        map.shorten(owner, to: end)
        return others
    }

    /// Whether the owner has passed `end`, where a racer's response ends, which is useless then.
    ///
    /// An heir counts as a racer until it reaches the owner's offset.
    func isPassed(_ index: Int, endingAt end: Int64) -> Bool {
        guard let claim = map.claim(of: list[index].isRacing ?? list[index].id) else {
            return list[index].isRacing != nil
        }
        return claim.start > list[index].cursor && claim.start >= end
    }

    /// Whether no other lane receives the next bytes of this one, and they are not on disk.
    ///
    /// A racer, a lane with racers, and an heir that has not reached the owner's offset receive bytes that
    /// may exist.
    func isAlone(_ id: LaneID) -> Bool {
        guard let index = index(of: id), list[index].isData, let claim = map.claim(of: id) else { return false }
        return claim.start == list[index].cursor && !list.contains { $0.isRacing == id }
    }
}
