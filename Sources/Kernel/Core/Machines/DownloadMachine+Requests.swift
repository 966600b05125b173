// The request of a lane.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// Makes a lane and the request for it.
    ///
    /// `range` is in the file's offsets.
    mutating func order(
        _ work: Lane.Work, source: Int, range: ByteRange, overlap: Int64, redirects: Int = 0,
        logins: Lane.Request.Logins = .init(), replacing index: Int? = nil, now: Instant
    ) -> Action {
        let joint: Int64 = if case .data = work { joint(after: range.end, from: source) } else { 0 }
        var request = Lane.Request(
            range: request(for: work, of: source, range: range, overlap: overlap, joint: joint),
            host: sources[source].host, compares: overlap, redirects: redirects, logins: logins)
        request.isConditional =
            plan.existingTime != nil && server.mayAskConditionally && request.range == .whole && !file.isClaimed
        lanes.add(work, source: source, range: range, overlap: overlap, request, replacing: index, now: now)
        return plan.hooks.contains(.adapt) ? presentRequest() : send(lanes.list.count - 1)
    }

    mutating func send(_ index: Int) -> Action {
        let isForced = waiting.takeForce()
        let (source, requested) = (lanes[index].source, lanes[index].request.range)
        return .open(
            LaneOrder(
                lane: lanes[index].id, source: source, address: sources[source].current, requested: requested,
                connection: lanes.list.count > 1 || requested != .whole ? .separate : .shared,
                // A cache may hold an older version than the bytes on disk (E4).
                bypassesCaches: requested != .whole && written > 0, isForced: isForced,
                knownLength: sources[source].isFileTransfer ? knownLength : nil,
                unchangedSince: lanes[index].request.isConditional ? plan.existingTime : nil))
    }

    /// What to request for all that is wanted.
    ///
    /// FTP and SFTP support offsets only, and only a request without an end shows the file's length, and whether it is
    /// another file at its end. The last bytes are requested once the length is known.
    private func selection(for source: Int) -> RequestedRange {
        guard sources[source].isFileTransfer else { return plan.selection }
        let start: Int64? =
            switch plan.selection {
            case .whole, .from: nil
            case .closed(let range): range.start
            case .suffix: continuity.base ?? 0
            }
        return start.map { $0 > 0 ? .from($0) : .whole } ?? plan.selection
    }

    /// The length of the file in the resource's offsets, where one is known.
    var knownLength: Int64? {
        if let total = continuity.representation?.total { return total }
        guard case .suffix(let count) = plan.selection, let base = continuity.base, base > 0 else { return nil }
        return base.addingClamped(count)
    }

    /// A range with an end where one is known: not every server supports open ranges.
    private func request(
        for work: Lane.Work, of source: Int, range: ByteRange, overlap: Int64, joint: Int64
    ) -> RequestedRange {
        let selection = selection(for: source)
        guard let base = continuity.base else { return selection }
        let start = base + range.start - overlap
        switch work {
        case .settling: return .closed(ByteRange(start, base + range.start))
        case .checkingTag: return .closed(ByteRange(base, base + 1))
        case .restarting: return selection
        case .data, .racing: break
        }
        let isAll = range.start == 0 && overlap == 0 && range.end == lanes.map.horizon
        if isAll, !server.asksClosed || !server.rangesUsable { return selection }
        let reachesEnd = knownLength.map { base.addingClamped(range.end) >= $0 } ?? true
        if sources[source].isFileTransfer, reachesEnd { return .from(start) }
        if range.end < ByteRange.open { return .closed(ByteRange(start, base + range.end + joint)) }
        if case .closed(let selected) = plan.selection { return .closed(ByteRange(start, selected.end)) }
        // An end beyond the last byte means the last byte (RFC 9110 §14.1.2).
        return server.asksClosed ? .closed(ByteRange(start, ByteRange.longestFile)) : .from(start)
    }
}
