// Existing files: those that are kept as they are, and those that are continued.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// Closes the part file until the download continues; an existing file to which nothing was added has its
    /// name again.
    func letGo() -> Action {
        file.existingLength == written ? .restoreOriginal : .close(keeping: !lanes.map.done.isEmpty)
    }

    /// After a failure an existing file has its name again.
    ///
    /// Bytes that continue it without a gap stay, if a comparison has shown that they belong to it.
    func restoreOriginal(_ length: Int64, keepsAdded: Bool) -> Action {
        let end = lanes.map.done.prefix
        guard keepsAdded, !plan.hasDigest, !continuity.isComparing, end > length else {
            return .restoreOriginal
        }
        return .restoreExtended(length: end)
    }

    /// What is left after a failure, followed by `advice`; `otherwise` where no partial file is left.
    func kept(_ advice: Remedy, otherwise: Remedy = "") -> Remedy {
        guard plan.keepsPartial, written > 0 else { return otherwise }
        return !file.isOriginal
            ? "the partial file is kept; \(advice)" : "the file is kept; \(advice)"
    }

    /// The content has not changed since the time of the file that is there, says the response: its validators have to be those
    /// of that file, which may be newer than the content.
    mutating func unmodified(_ index: Int, head: ResponseHead, now: Instant) -> [Action] {
        let identity = ContentIdentity(head, total: nil)
        guard !identity.validators.isEmpty else { return askUnconditionally(index, now: now) }
        lanes[index].stage = .claiming
        represent(identity, from: lanes[index])
        return [.recognize(lanes[index].id)]
    }

    /// Whether the file that is there, which has this length, was made from that content.
    package mutating func recognized(_ id: LaneID, _ isSame: Bool, length: Int64?, now: Instant) -> [Action] {
        guard isActive, let index = lanes.index(of: id), lanes[index].stage == .claiming else { return [] }
        return isSame ? stop() + keepExisting(length) : askUnconditionally(index, now: now)
    }

    private mutating func askUnconditionally(_ index: Int, now: Instant) -> [Action] {
        server.leftContentOpen()
        return [remove(index)] + openFirst(now: now)
    }

    /// Fetches nothing of the content; what proves a download is compared with the existing file.
    mutating func keepExisting(_ length: Int64?) -> [Action] {
        file.keep(length: length)
        if let wanted = plan.length, let length, length != wanted {
            return failExisting(DownloadMachine.evidence(length, instead: wanted), advice: "give the right length")
        }
        guard plan.hasDigest || givesPieces || plan.verification.least > .none else { return finishExisting() }
        file.checkKept()
        if givesPieces, let hashes = plan.pieces {
            pieces.map = length.flatMap { PieceMap(hashes, total: $0) }
            guard hasPieces else {
                return failExisting(hashes.otherLength(than: length ?? 0), advice: "give the right digests")
            }
        }
        return [enter(.verifying)] + verifyExisting()
    }

    /// Whether the digests of pieces are all that was given: as `pawl verify` does, the digest of the whole is compared
    /// instead where there is one.
    private var givesPieces: Bool { plan.pieces != nil && plan.selection == .whole && !plan.hasDigest }

    /// Computes the digests of the existing file, then those of its pieces.
    ///
    /// Sums files are requested only if nothing that was given is enough.
    mutating func verifyExisting() -> [Action] {
        if plan.verification.least > .none, !plan.hasDigest, !hasPieces {
            let asks = askForSidecars()
            if verification.isAsking { return asks }
        }
        let algorithms = expectedOfExisting.algorithms
        guard algorithms.isEmpty else { return [.verify(algorithms, length: file.keptLength ?? lanes.map.total ?? 0)] }
        return settleExisting(.none)
    }

    /// The digests that the existing file must have; those that responses state may be of its decoded form.
    private var expectedOfExisting: [ExpectedDigest] {
        continuity.representation?.coding == nil ? expected : plan.given
    }

    mutating func existingDigested(_ computed: [Checksum]) -> [Action] {
        switch DigestVerdict(expectedOfExisting, computed: computed) {
        case .verified(let result):
            verification.verified(result)
            return settleExisting(result.level)
        case .unverified: return uncomputed.map { failExisting($0, advice: "\(.resume)") } ?? settleExisting(.none)
        case .wrong(let digest, let got): return failExisting(DownloadMachine.evidence(got.digest, instead: digest))
        case .contradiction(let first, let second): return failExisting(.digestsContradict(first, second))
        }
    }

    /// The digests of the whole are right, if there are any, and prove so much.
    private mutating func settleExisting(_ level: VerificationLevel) -> [Action] {
        if let map = pieces.map, !map.isSettled { return checkPieces() }
        return reachesLeast(level) ? finishExisting() : failUnverified(level)
    }

    /// A piece of the existing file was hashed.
    mutating func existingPieceHashed(_ outcome: PieceMap.Outcome, digest: [UInt8], _ piece: Int) -> [Action] {
        switch outcome {
        case .obsolete: return []
        case .good: return settleExisting(.none)
        case .bad(let range, _):
            let (algorithm, expected) = expectation(of: piece)
            let why = LocalizableMessage(
                "existing-piece-wrong",
                "the \(algorithm) of its piece at \(range.start) is \(Hexadecimal.text(digest)), expected \(expected)")
            return failExisting(why, advice: "repair the file")
        }
    }

    mutating func finishExisting() -> [Action] {
        notePiecesVerified()
        return [enter(.finished), .notify(.finished(length: file.keptLength ?? lanes.map.total ?? 0, wasThere: true))]
    }

    mutating func failExisting(_ why: LocalizableMessage, advice: Remedy = "give the right checksum") -> [Action] {
        fail(
            Failure(
                .checksumMismatch, "cannot accept the existing file", at: file.name ?? sources[0].given.redacted,
                because: why, remedy: "\(advice), choose another name, or change \(.option(.existingFile))"))
    }
}
