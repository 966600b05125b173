// Pieces with digests of their own: each is checked when it is complete, and a bad one is requested again.
package import PawlBase
package import PawlJournal

extension DownloadMachine {
    /// Whether digests will prove the bytes on disk: then nothing is compared, and no validator is needed.
    var digestsDecide: Bool { plan.isSeeded ? true : hasPieces }

    /// Whether the digests of the pieces are known: a comparison with `nil` would copy the map.
    @inline(__always) var hasPieces: Bool { if case .some = pieces.map { true } else { false } }

    /// Begins to check pieces once the file's length is known.
    ///
    /// Digests that do not fit the length are of other content, which is refused at the end (``settlePieces()``). So are a
    /// coded body, and a finished file that was continued and has a wrong piece.
    mutating func preparePieces(isEnd: Bool = false) {
        guard let hashes = plan.pieces, let total = lanes.map.total, pieces.map?.total != total,
            plan.selection == .whole,
            file.existingLength == nil || isEnd, continuity.representation?.coding == nil
        else { return }
        pieces.map = PieceMap(hashes, total: total)
        guard hasPieces else { return }
        continuity.compareNothing()
        continuity.representation?.openJoints = []
    }

    /// Orders the hashes of pieces that are complete.
    mutating func checkPieces() -> [Action] {
        guard plan.pieces != nil, isActive || phase == .verifying, file.isClaimed || file.checksKept else { return [] }
        if !file.checksKept { preparePieces() }
        let done = file.checksKept ? ByteRangeSet([ByteRange(0, file.keptLength ?? 0)]) : lanes.map.done
        guard let hashes = plan.pieces, file.checksKept || pieces.map?.total == lanes.map.total,
            let orders = pieces.due(in: done)
        else { return [] }
        return orders.map { .check($0, hashes.algorithm) }
    }

    /// All bytes are on disk: `nil` when no piece is left to check.
    mutating func settlePieces() -> [Action]? {
        preparePieces(isEnd: true)
        guard let map = pieces.map else { return refuseWithoutPieces() }
        guard !map.isSettled else { return nil }
        let entered: [Action] = phase == .verifying ? [] : [enter(.verifying)]
        return entered + checkPieces()
    }

    /// The digests of the pieces are not those of the bytes on disk, and nothing else was given that proves them.
    private mutating func refuseWithoutPieces() -> [Action]? {
        guard let hashes = plan.pieces, plan.selection == .whole, !plan.hasDigest else { return nil }
        let why =
            if let coding = continuity.representation?.coding {
                LocalizableMessage(
                    "pieces-of-coded-body",
                    "it has Content-Encoding \(coding), and the digests are of its pieces without that")
            } else { hashes.otherLength(than: written) }
        return mismatch(why, isGiven: false)
    }

    /// The lane is about to advance to `cursor`: its source has sent the bytes up to there.
    mutating func notePieces(lane index: Int, to cursor: Int64) {
        guard cursor > lanes[index].cursor, lanes[index].isBringing,
            let start = lanes.map.claim(of: lanes[index].isRacing ?? lanes[index].id)?.start, start < cursor
        else { return }
        pieces.map?.wrote(ByteRange(start, cursor), by: lanes[index].source)
    }

    /// A piece was hashed.
    package mutating func pieceHashed(_ check: PieceMap.Check, digest: [UInt8], now: Instant) -> [Action] {
        // If the result were dropped, the piece would never be checked.
        guard isActive || phase == .verifying || phase == .waitingForNetwork else { return [] }
        let outcome = pieces.map?.checked(check, digest: digest) ?? .obsolete
        if file.checksKept { return existingPieceHashed(outcome, digest: digest, check.piece) }
        switch outcome {
        case .obsolete: return []
        case .good:
            if phase == .verifying, pieces.map?.isSettled == true { return complete() }
            let orders = checkPieces()
            guard pieces.areAwaited, isActive, orders.isEmpty, pieces.map?.checking == 0 else { return orders }
            return openFirst(now: now)
        case .bad(let range, let blamed):
            return replace(range, digest: digest, of: check.piece, blamed: blamed, now: now)
        }
    }

    private mutating func replace(
        _ range: ByteRange, digest: [UInt8], of piece: Int, blamed: Int?, now: Instant
    ) -> [Action] {
        // The bytes of a finished file are not discarded.
        if file.existingLength != nil { return failPiece(range, digest: digest, of: piece) }
        lanes.discard(range)
        checkpoints.voided(of: written)
        // Racers that receive bytes of a bad piece would write them over the new copy.
        var actions = lanes.removeRacers(before: range.end).map { Action.drop($0) }
        actions.append(.discard(range))
        if let blamed {
            let evidence = LocalizableMessage(
                "piece-wrong-from", "the piece at \(range.start) from \(sources[blamed].given.redacted) is wrong")
            verification.refute(piece: evidence)
        }
        let notice =
            if let blamed {
                LocalizableMessage(
                    "piece-bad-from",
                    "the piece at \(range.start) from \(sources[blamed].given.redacted) is wrong: fetching it again")
            } else {
                LocalizableMessage(
                    "piece-bad-on-disk", "the piece at \(range.start) on disk is wrong: fetching it again")
            }
        actions.append(.notify(.notice(notice)))
        // The last source may have one bad node among several.
        if let blamed, pieces.map?.isConvicted(blamed) == true, sources[blamed].isUsable {
            if sources.count(where: \.isUsable) == 1 { takeBackSources() }
            if sources.count(where: \.isUsable) > 1 { actions += leaveOutLiar(blamed) }
        }
        let isHopeless = (pieces.map?.failures(at: range.start) ?? 0) > 2 * sources.count + 2
        guard sources.contains(where: \.isUsable), !isHopeless else {
            return actions + failPiece(range, digest: digest, of: piece)
        }
        guard phase != .waitingForNetwork else { return actions }
        if phase == .verifying, let wanted = verification.stopPhase {
            return actions + stop() + [letGo(), enter(wanted)]
        }
        actions += checkPieces()
        let isIdle = lanes.list.isEmpty && !waiting.isForAttempt
        return actions + (isIdle ? openFirst(now: now) : refill(now: now))
    }

    mutating func leaveOutLiar(_ source: Int) -> [Action] {
        sources[source].leaveOut()
        var actions: [Action] = []
        while let index = lanes.list.firstIndex(where: { $0.source == source }) { actions.append(remove(index)) }
        let notice = LocalizableMessage(
            "left-out-bad-pieces",
            "left out \(sources[source].given.redacted): it sent \(PieceMap.patience) wrong pieces")
        return actions + [.notify(.notice(notice))]
    }

    private mutating func failPiece(_ range: ByteRange, digest: [UInt8], of piece: Int) -> [Action] {
        let (algorithm, expected) = expectation(of: piece)
        return fail(
            Failure(
                .checksumMismatch, "cannot accept", at: file.name ?? sources[0].given.redacted,
                because: LocalizableMessage(
                    "piece-mismatch",
                    "the \(algorithm) of the piece at \(range.start) is \(Hexadecimal.text(digest)), expected \(expected), and no source is left that sends another"
                ), remedy: kept("\(.resume) with other sources of the same file")), givesBack: true)
    }

    /// The algorithm and the digest of a piece, for users.
    func expectation(of piece: Int) -> (algorithm: String, digest: String) {
        guard let pieces = plan.pieces else { return ("", "") }
        return (pieces.algorithm.rawValue, Hexadecimal.text(pieces.digest(piece)))
    }

    /// The range to request of the bytes that a lane is free for, and the source: a bad piece is requested from another one.
    func fitted(_ range: ByteRange, from source: Int) -> (ByteRange, Int) {
        guard let map = pieces.map, map.hasSuspects else { return (range, source) }
        let usable = sources.indices.filter { sources[$0].isUsable }
        return (map.fitted(range), map.source(at: range.start, preferring: source, of: usable))
    }

    /// Whether the lane fetches a new copy of a bad piece, which has to come from one source.
    func isReplacingPiece(_ lane: Lane) -> Bool {
        guard let pieces = pieces.map, pieces.hasSuspects, let claim = lanes.map.claim(of: lane.id) else {
            return false
        }
        return pieces.suspects(at: claim.start) != nil
    }

    /// The only source has other content than the digests describe.
    mutating func isOtherContent(_ evidence: LocalizableMessage) -> [Action] {
        fail(
            Failure(
                .cannotResume, "cannot finish", at: file.name ?? sources[0].given.redacted,
                because: LocalizableMessage(
                    "unexpected-content", "the server has other content than expected: \(evidence)"),
                remedy: kept("\(.resume) when it has the right one", otherwise: "get a newer description of it")))
    }
}

extension Evidence {
    /// Whether the validators do not say that the content changed.
    var contradictsNothing: Bool { if case .changed = self { false } else { true } }
}
