// The choice of the next request.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// Opens the one lane that probes the server: at the start, after a pause, after all lanes failed.
    mutating func openFirst(now: Instant) -> [Action] {
        pieces.awaitNone()
        let source = pickSource(now: now)
        sampleOpenJoints()
        let next: DownloadState = written > 0 && file.isClaimed ? .transferring : .probing
        let isCompared = !continuity.isComparing
        if lanes.map.isComplete, !lanes.map.done.isEmpty, isCompared, sources[source].isProven || digestsDecide {
            return complete()
        }
        let entered = next == phase || network.isTrying ? [] : [enter(next)]
        phase = next
        return entered + openFirst(from: source, now: now)
    }

    /// Selects the next source after failures of one.
    private func pickSource(now: Instant) -> Int {
        if sources.count == 1 { return 0 }
        let usable = sources.indices.filter { sources[$0].isUsable }
        let reachable = usable.filter { !network.isUnreached($0) }
        let choice = awake(reachable.isEmpty ? usable : reachable, now: now)
        return choice[attempts % choice.count]
    }

    /// Those whose hosts requested no wait; all if none is left.
    private func awake(_ choice: [Int], now: Instant) -> [Int] {
        let awake = choice.filter { !sources[$0].isResting(now: now) }
        return awake.isEmpty ? choice : awake
    }

    /// Whether a request can be sent to another source than this one.
    func hasOther(than source: Int, now: Instant) -> Bool {
        sources.indices.contains {
            $0 != source && sources[$0].isUsable && !network.isUnreached($0) && !sources[$0].isResting(now: now)
        }
    }

    private mutating func openFirst(from source: Int, now: Instant) -> [Action] {
        if lanes.map.done.isEmpty {
            // The length of an earlier response does not count while nothing of it is on disk, and no source
            // is proven by bytes that were never received.
            reset(total: nil)
            return [order(.data(), source: source, range: ByteRange(0, lanes.map.horizon), overlap: 0, now: now)]
        }
        guard server.rangesUsable, !server.isSuspect, !continuity.isStale else {
            return checksBeforeWhole() ?? [startOver(from: source, now: now)]
        }
        if let question = continuity.question, !hasPieces, sources[question.source].isUsable,
            !network.isUnreached(question.source)
        {
            return [ask(question, now: now)]
        }
        if plan.hasDigest, file.asksBehind(written) {
            // Whether anything follows the existing file: a 416 denies it without a body (C3).
            let next = ByteRange(written, lanes.map.horizon)
            return [order(.data(), source: source, range: next, overlap: 0, now: now)]
        }
        fitSamples(to: source)
        if let order = orderElsewhere(source, now: now) { return [order] }
        if let place = continuity.samples.first, continuity.base != nil {
            let end = ByteRange(place.end, place.end)
            return [order(.settling, source: source, range: end, overlap: place.count, now: now)]
        }
        if continuity.base != nil, let start = firstResumable(from: source) {
            if let part = partToCompare(before: start.range.start, from: source) {
                let end = ByteRange(part.end, part.end)
                return [order(.settling, source: source, range: end, overlap: part.count, now: now)]
            }
            let (range, source) = fitted(start.range, from: source)
            return [order(.data(), source: source, range: range, overlap: start.overlap, now: now)]
        }
        // All bytes are on disk, and only a comparison can prove that they are the server's.
        if lanes.map.isComplete, let run = lanes.map.done.runs.first, part(of: source) != nil {
            continuity.sample([ByteRange(max(run.start, run.end - DownloadMachine.overlap), run.end)])
            return openFirst(from: source, now: now)
        }
        if lanes.map.isComplete, let settle = settle(source, now: now) { return [settle] }
        let notice = LocalizableMessage(
            "cannot-compare-starting-over", "the bytes on disk cannot be compared with the server's: starting over")
        return [.notify(.notice(notice)), startOver(from: source, now: now)]
    }

    /// Requests the whole; the bytes on disk stay until the response arrives.
    mutating func startOver(from source: Int, now: Instant) -> Action {
        order(.restarting, source: source, range: ByteRange(0, ByteRange.open), overlap: 0, now: now)
    }

    /// The gap to resume at, and how many bytes before it have to be compared.
    func firstResumable(from source: Int) -> (range: ByteRange, overlap: Int64)? {
        let gaps = lanes.map.rest
        let promise = promise(of: source)
        if let wanted = lanes.wanted, digestsDecide || promise == .strong,
            let gap = gaps.first(where: { $0.contains(wanted) })
        {
            return (ByteRange(wanted, gap.end), 0)
        }
        if let first = gaps.first, digestsDecide || promise == .strong || isComparedEnd(first.start, of: source) {
            return (first, 0)
        }
        // Only bytes right before a gap can be compared without another request; the more the better.
        let best = gaps.max { contiguous(before: $0.start) < contiguous(before: $1.start) }
        guard let gap = best, case let overlap = overlap(before: gap.start, from: source) else { return nil }
        return overlap > 0 || promise == .dated ? (gap, overlap) : nil
    }

    /// Whether further connections are useful and safe: where only a comparison tells versions apart,
    /// responses are requested one at a time.
    ///
    /// Changes nothing; if it were not `mutating`, it would be called with a copy of the whole machine.
    mutating func maySegment() -> Bool {
        guard phase == .transferring, file.isClaimed, server.rangesUsable, lanes.map.total != nil,
            continuity.base != nil,
            continuity.samples.isEmpty,
            continuity.representation?.coding == nil
        else { return false }
        for lane in lanes.list {
            switch lane.work {
            case .data, .racing: if !mayJoin(lane.source, at: lane.request.host) { return false }
            case .settling: break
            case .restarting, .checkingTag: return false
            }
        }
        for source in sources.indices where mayJoin(source) { return true }
        return false
    }

    /// Whether a header field is evidence enough for another lane of this source.
    private func mayJoin(_ source: Int, at host: String? = nil) -> Bool {
        guard sources[source].isUsable else { return false }
        if digestsDecide { return true }
        if comparesInParts(source) { return false }
        switch promise(of: source, at: host) {
        case .strong, .dated: return true
        case .weak, .unclear, .changed: return false
        }
    }

    /// Whether the source may join, or may be shown to be able to.
    private func isCandidate(_ source: Int) -> Bool {
        let isUnknown = sources[source].isUsable && !sources[source].isFileTransfer && record(of: source) == nil
        return isUnknown || mayJoin(source)
    }

    /// Opens lanes up to the present width.
    mutating func refill(now: Instant) -> [Action] {
        guard !waiting.isForAttempt else { return [] }
        if waiting.isForPlace { return reclaim(now: now) }
        if let until = waiting.refillAfter {
            if now < until { return reclaim(now: now) }
            waiting.refillAfter = nil
        }
        let width = plan.isInOrder || file.isInMemory ? 1 : lanes.width(now: now)
        guard lanes.list.count < width, maySegment() else { return reclaim(now: now) }
        var actions: [Action] = []
        var planner = Planner()
        planner.wanted = lanes.wanted
        planner.opening = lanes.list.reduce(.zero) { max($0, $1.speed.opening) }
        // Each range of a file transfer costs a transfer of its own.
        if let sharers = lanes.ramp.sharers, !sources.contains(where: \.isFileTransfer) {
            planner.longestRange = max(
                planner.minimumSplit, (lanes.map.horizon - lanes.map.done.count) / Int64(sharers))
        }
        while lanes.list.count < min(width, DownloadMachine.mostLanes), lanes.flowing > 0 {
            let views = lanes.list.map {
                Planner.LaneView(
                    id: $0.id, speed: $0.speed.present, isRacing: $0.isRacing, silentFor: now - $0.speed.lastByteAt,
                    isHeld: $0.speed.isHeld, keepsRange: isReplacingPiece($0))
            }
            guard let work = planner.nextWork(in: lanes.map, lanes: views),
                let opened = open(work, source: turn(now: now), now: now)
            else { break }
            actions += opened
        }
        // A gap for which no lane may be opened is fetched by the lane before it, whose response continues
        // there.
        return lanes.list.count >= width ? actions + reclaim(now: now) : actions
    }

    /// The source that can send ranges and has the fewest lanes; among equals the next in rotation.
    private mutating func turn(now: Instant) -> Int {
        let able = sources.indices.filter(isCandidate)
        return lanes.turn(of: able.count > 1 ? awake(able, now: now) : able)
    }

    private mutating func open(_ work: Planner.Work, source: Int, now: Instant) -> [Action]? {
        guard mayJoin(source) else {
            // One comparison at a time; meanwhile the other sources do the work.
            if !lanes.list.contains(where: { $0.isSettling }), let settle = settle(source, now: now) {
                return [settle]
            }
            guard let other = sources.indices.first(where: { mayJoin($0) }) else { return nil }
            return open(work, source: other, now: now)
        }
        switch work {
        case .rest(let rest):
            let (range, source) = fitted(rest, from: source)
            let overlap = overlap(before: range.start, from: source)
            return [order(.data(), source: source, range: range, overlap: overlap, now: now)]
        case .steal(let range, let victim):
            lanes.shorten(victim, to: range.start)
            return [
                .limit(victim, end: range.start), order(.data(), source: source, range: range, overlap: 0, now: now),
            ]
        case .race(let range, let owner):
            let overlap = overlap(before: range.start, from: source)
            return [order(.racing(owner), source: source, range: range, overlap: overlap, now: now)]
        }
    }

    /// A lane that compares the last bytes of the longest run on disk with what `source` sends for them.
    mutating func settle(_ source: Int, now: Instant) -> Action? {
        guard let run = lanes.map.done.runs.max(by: { $0.count < $1.count }), continuity.base != nil else { return nil }
        let overlap = min(DownloadMachine.overlap, run.count)
        return order(.settling, source: source, range: ByteRange(run.end, run.end), overlap: overlap, now: now)
    }

    /// Assigns unassigned bytes to the active lane right before them, if its response continues; this needs
    /// no request.
    mutating func reclaim(now: Instant) -> [Action] {
        guard phase == .transferring, lanes.map.total != nil, lanes.map.hasRest else { return [] }
        var actions: [Action] = []
        for gap in lanes.map.rest where pieces.map?.suspects(at: gap.start) == nil {
            let gap = pieces.map?.fitted(gap) ?? gap
            // A racer for the last bytes has requested less; without ranges that is the smaller loss.
            guard let (id, losers) = lanes.extend(through: gap, keepsRacers: server.rangesUsable) else { continue }
            actions.append(.limit(id, end: gap.end))
            actions += losers.map { .drop($0) }
        }
        return actions
    }
}
