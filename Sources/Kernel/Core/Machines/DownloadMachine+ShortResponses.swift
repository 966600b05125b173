// Connections that break before they have sent many more bytes than those to compare, and servers that send no longer parts.
//
// With a comparison of the usual length each response would bring few new bytes, or none. So the bytes are compared in
// parts, each no longer than what such a response brings: most of them by requests of their own, and the last ones by
// the request for new bytes. Together they are as many as one request would compare, and they are compared anew for each.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The fewest bytes that a response compares before it brings others.
    static let leastOverlap: Int64 = 4 << 10

    /// How many bytes its responses bring, if the bytes to compare are requested in parts.
    ///
    /// A number that is too few for new bytes beside compared ones does not count: the download fails after its retries.
    private func usableLength(of source: Int) -> Int64? {
        let part = comparesInsteadOfWhole(source) ? sources[source].parts.longest : nil
        let lengths = [sources[source].parts.breaksAfter, part].compactMap { $0 }
        return lengths.filter { $0 >= 2 * DownloadMachine.leastOverlap }.min()
    }

    /// Whether short parts are compared in parts, which fetches bytes again and again, since the whole is no way out: it
    /// breaks, it was not requested, or nothing may be discarded for it.
    private func comparesInsteadOfWhole(_ source: Int) -> Bool {
        sources[source].parts.hasBroken || plan.selection != .whole || file.existingLength != nil
    }

    /// The response is too short for the bytes to compare and others after them: further ones are requested such that they
    /// are not, or without ranges.
    mutating func partTooShort(_ evidence: LocalizableMessage, lane index: Int, now: Instant) -> [Action] {
        let lane = lanes[index]
        let length = lane.response.end - lane.cursor + lane.overlap
        let before = usableLength(of: lane.source) ?? .max
        let isOnly = sources.count(where: \.isUsable) == 1
        sources[lane.source].parts.ended(at: lane.response.end)
        guard lane.overlap > 0, isOnly, length < before, length >= 2 * DownloadMachine.leastOverlap else {
            return rangesBroken(evidence, lane: index, now: now)
        }
        sources[lane.source].parts.shortened(to: length)
        guard comparesInsteadOfWhole(lane.source) else { return rangesBroken(evidence, lane: index, now: now) }
        sources[lane.source].worked()
        return [remove(index)] + refillOrOpen(now: now)
    }

    /// How many bytes one response of the source compares before it brings others.
    func window(of source: Int) -> Int64 {
        guard let length = usableLength(of: source) else { return DownloadMachine.overlap }
        return min(DownloadMachine.overlap, max(DownloadMachine.leastOverlap, length / 4))
    }

    /// How many bytes a request for a comparison alone asks the source for at most; `nil` for any number.
    func part(of source: Int) -> Int64? {
        usableLength(of: source).map { max(DownloadMachine.leastOverlap, $0 - $0 / 4) }
    }

    /// Whether requests to the source have to be made one after another, since each needs others before it.
    func comparesInParts(_ source: Int) -> Bool {
        window(of: source) < DownloadMachine.overlap && promise(of: source) != .strong
    }

    /// Notes how many bytes a broken response brought.
    mutating func noteBreak(of lane: Lane) {
        // The next response is another one.
        if lane.isBringing, continuity.elsewhere?.reach == nil { continuity.elsewhere = nil }
        guard lane.isFlowing, lane.speed.received > 0 else { return }
        if sources[lane.source].parts.broke(after: lane.speed.received, compared: lane.request.compares) {
            // The whole was no way out, and what it discarded has to be received again, once.
            server.useRangesAgain()
            budget.countsProgress(from: written)
        }
    }

    /// The part to compare next before a request for the bytes from `offset` on; `nil` when that request compares the rest.
    func partToCompare(before offset: Int64, from source: Int) -> ByteRange? {
        guard let part = part(of: source), case let overlap = overlap(before: offset, from: source), overlap > 0 else {
            return nil
        }
        let end = offset - overlap
        let low = offset - contiguous(before: offset)
        let ahead = continuity.start(aheadOf: end, of: source)
        let start = ahead ?? end
        return low < start ? ByteRange(max(low, start - part), start) : nil
    }

    /// Notes that a part was compared; `false` unless it is one.
    mutating func noteComparedAhead(_ lane: Lane) -> Bool {
        guard usableLength(of: lane.source) != nil else { return false }
        continuity.comparedAhead(lane.comparedRange, of: lane.source)
        return true
    }

    /// Divides the samples into parts that one response of the source can hold.
    mutating func fitSamples(to source: Int) {
        if let part = part(of: source) { continuity.divide(by: part, for: source) }
    }

    /// Why a connection that breaks ended the download, and what to do, where retries alone would not mend it.
    func broken(_ fault: TransferFault, from source: Int) -> (why: LocalizableMessage, remedy: Remedy)? {
        guard fault.kind.isBreak else { return nil }
        if !server.rangesUsable, plan.selection == .whole {
            let (why, advice) = brokenWhole(fault)
            return (why, kept(advice, otherwise: advice))
        }
        guard sources[source].parts.breaksAfter != nil else { return nil }
        let why = LocalizableMessage(
            "breaks-within-comparison",
            "the connection broke before it had sent the bytes to compare and others after them: \(fault.message)")
        if part(of: source) == nil {
            return (why, kept("\(.resume) over a better connection, or with \(ForeignMarks.pieceDigests)"))
        }
        return (why, kept("\(.resume) with more \(.option(.retries)), or with \(ForeignMarks.pieceDigests)"))
    }

    /// The same where only the whole is of use: the server sends nothing else, or each response differs.
    private func brokenWhole(_ fault: TransferFault) -> (why: LocalizableMessage, advice: Remedy) {
        guard let difference = server.difference else {
            return (
                LocalizableMessage(
                    "breaks-without-ranges",
                    "the server sends only the whole file, and the connection broke before its end: \(fault.message)"),
                "try again over a better connection or with more \(.option(.retries)), or add a server that sends ranges as \(.option(.mirror))"
            )
        }
        return (
            LocalizableMessage(
                "breaks-between-differences",
                "the content differs between responses (\(difference)), and the connection broke before the end of one: \(fault.message)"
            ), "try again over a better connection or with more \(.option(.retries)), or ask the server's owner"
        )
    }
}

extension TransferFault.Kind {
    /// Whether the response had begun.
    var isBreak: Bool { self == .connectionLost || self == .truncated }
}
