// Servers that send the whole only, where pieces have digests: what is verified stays, and is compared with the whole.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The digests of the pieces on disk tell what is kept, so they are computed before the whole is requested; `nil` when
    /// they are known.
    mutating func checksBeforeWhole() -> [Action]? {
        let orders = checkPieces()
        return pieces.awaits(!orders.isEmpty) ? orders : nil
    }

    /// The whole content was sent instead of a part.
    mutating func wholeWithPieces(
        _ evidence: LocalizableMessage, lane index: Int, others: [Int], now: Instant
    ) -> [Action] {
        let drop = remove(index)
        guard others.isEmpty else {
            return [drop, .notify(.notice(Self.withOneConnection(evidence)))] + refill(now: now)
        }
        return [drop, .notify(.notice(Self.withoutRanges(evidence)))] + refillOrOpen(now: now)
    }

    /// Continues with the whole behind the pieces that are good from the first one on; what follows them arrives again.
    ///
    /// `nil` where there are none.
    mutating func keepVerified(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action]? {
        guard let pieces = pieces.map, case let kept = pieces.verifiedPrefix, kept > 0, let total = lanes.map.total,
            plan.selectedLength(of: response.identity.total) ?? total == total, response.range.start == 0,
            response.range.end >= kept, response.identity.coding == nil, file.isClaimed, continuity.base == 0
        else { return nil }
        let discards = discard(behind: kept)
        return compareWhole(response, lane: index, now: now).map { discards + $0 }
    }

    /// Discards the bytes on disk from `end` on.
    mutating func discard(behind end: Int64) -> [Action] {
        let range = ByteRange(end, max(end, lanes.map.done.upperBound))
        guard !range.isEmpty else { return [] }
        lanes.discard(range)
        pieces.map?.discarded(range)
        checkpoints.voided(of: written)
        return [.discard(range)]
    }

    /// The source that seemed to have the content sends wrong pieces: those without ranges may have the right ones.
    mutating func takeBackSources() {
        for index in sources.indices where sources[index].takeBack() { server.giveUpRanges() }
    }

    /// A source has sent other bytes than those of a good piece.
    mutating func contradictsPieces(_ index: Int, now: Instant) -> [Action] {
        let source = lanes[index].source
        var actions = [remove(index)]
        let count = pieces.map?.contradicted(by: source) ?? 0
        if pieces.map?.isConvicted(source) == true {
            if sources.count(where: \.isUsable) == 1 { takeBackSources() }
            if sources.count(where: \.isUsable) > 1 { actions += leaveOutLiar(source) }
        }
        guard count <= 2 * sources.count + 2 else {
            let failure = Failure(
                .checksumMismatch, "cannot accept", at: file.name ?? sources[0].given.redacted,
                because: LocalizableMessage(
                    "verified-piece-differs",
                    "the server sends other bytes than those of verified pieces, and no source is left that sends the right ones"
                ), remedy: kept("\(.resume) with other sources of the same file"))
            return actions + fail(failure)
        }
        return actions + (waiting.isForAttempt ? [] : refillOrOpen(now: now))
    }
}
