// The digests of complete content, compared with those that it must have.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// All bytes are on disk: computes their digests, if there is anything to compare them with.
    mutating func verify(length: Int64) -> [Action] {
        let entered = phase == .verifying ? [] : [enter(.verifying)]
        let asks = askForSidecars()
        if verification.isAsking { return entered + asks }
        let algorithms = algorithms
        if !algorithms.isEmpty { return entered + [.verify(algorithms, length: length)] }
        return reachesLeast(nil) ? publishUnverified() : failUnverified(.none)
    }

    /// The digests were computed over the bytes in the file.
    package mutating func digested(_ computed: [Checksum], now: Instant? = nil) -> [Action] {
        guard phase == .verifying else { return [] }
        if let now { lastEvent = now }
        if file.checksKept { return existingDigested(computed) }
        switch verification.digested(computed, expected: expected, coding: continuity.representation?.coding) {
        case .digest(let others): return [.verify(others, length: written)]
        case .digestDecoded(let all, let coding): return [.verifyDecoded(all, coding: coding, length: written)]
        case .decide(let verdict): return follow(verdict)
        }
    }

    /// The digests of the decoded content were computed; `nil` where the coding is not one that can be decoded.
    package mutating func digestedDecoded(_ decoded: [Checksum]?, now: Instant) -> [Action] {
        guard phase == .verifying, let verdict = verification.digestedDecoded(decoded, expected: expected) else {
            return []
        }
        lastEvent = now
        return follow(verdict)
    }

    private mutating func follow(_ verdict: DigestVerdict) -> [Action] {
        if let comparison = compareReplacement(verdict) { return comparison }
        switch verdict {
        case .verified(let result):
            guard reachesLeast(result.level) else { return failUnverified(result.level) }
            verification.verified(result)
            return weakness(of: result) + publish()
        case .unverified:
            // A disk computes every requested digest; without the caller's nothing is published.
            if let why = uncomputed { return failUnverified(because: why, remedy: kept("\(.resume)")) }
            return reachesLeast(nil) ? publishUnverified() : failUnverified(.none)
        case .wrong(let digest, let got):
            return mismatch(
                DownloadMachine.evidence(got.digest, instead: digest),
                isGiven: digest.level == .given && digest.source.isEmpty)
        case .contradiction(let first, let second): return mismatch(.digestsContradict(first, second), isGiven: false)
        }
    }

    /// That the digest which the caller gave was not among those computed.
    var uncomputed: LocalizableMessage? {
        expected.first { $0.level == .given }.map { given in
            LocalizableMessage(
                "digest-not-computed", "its \(given.checksum.algorithm.rawValue) digest could not be computed")
        }
    }

    /// No digest decides: bytes that had another one than an earlier run expected are fetched again.
    private mutating func publishUnverified() -> [Action] {
        guard continuity.representation?.damage != nil, file.existingLength == nil else {
            notePiecesVerified()
            return publish()
        }
        reset(total: nil)
        budget.countsProgress(from: 0)
        let notice = Action.notify(.notice(Self.startsOverCorrupt))
        if let phase = verification.stopPhase { return [notice, .startOver, letGo(), enter(phase)] }
        return [notice, .startOver, enter(.probing)] + openFirst(now: lastEvent)
    }

    /// All pieces are right, and there is no digest of the whole.
    mutating func notePiecesVerified() {
        guard verification.result == nil, let map = pieces.map, map.isSettled else { return }
        verification.verified(VerificationResult(pieces: map.hashes))
    }

    static let startsOverCorrupt = LocalizableMessage(
        "corrupt-starting-over", "the bytes on disk do not have the expected digest: starting over")

    private func weakness(of result: VerificationResult) -> [Action] {
        guard result.algorithm.isWeak, result.level != .given else { return [] }
        return [
            .notify(
                .notice(
                    .init(
                        "verified-weakly",
                        "verified with \(result.algorithm.rawValue) only, which shows damage but no forgery")))
        ]
    }

    /// The bytes are wrong: once they are fetched from another source, else they are kept and never published.
    mutating func mismatch(_ evidence: LocalizableMessage, isGiven: Bool) -> [Action] {
        if otherSource() == nil, !verification.hasRefetched { _ = addDuplicate() }
        if let other = otherSource(), file.existingLength == nil, plan.keepsPartial {
            verification.refute(content: evidence, stated: expected.filter { $0.level == .origin })
            for index in sources.indices where index != other { sources[index].leaveOut() }
            reset(total: nil)
            budget.countsProgress(from: 0)
            let notice = LocalizableMessage(
                "mismatch-other-source", "\(evidence): fetching it again from \(sources[other].given.redacted)")
            if let phase = verification.stopPhase {
                return [.notify(.notice(notice)), .startOver, letGo(), enter(phase)]
            }
            return [.notify(.notice(notice)), .startOver, enter(.probing)] + openFirst(now: lastEvent)
        }
        continuity.representation?.damage = evidence.description
        let record: [Action] = file.isClaimed && file.existingLength == nil ? [.record] : []
        return record
            + cannotAccept(
                "checksum mismatch:", because: evidence,
                advice: isGiven
                    ? "correct \(.option(.checksum)), or use \(.option(.retriesCorrupt))"
                    : "use \(.option(.retriesCorrupt))")
    }

    /// A source that did not begin these bytes; only once, and only where there is one.
    private func otherSource() -> Int? {
        guard !verification.hasRefetched, sources.count(where: \.isUsable) > 1 || verification.comparesReplacement
        else { return nil }
        let first = continuity.representation?.records.first?.source
        return sources.indices.first { sources[$0].isUsable && !first.hasSameBytes(as: sources[$0].text) }
    }

    func reachesLeast(_ level: VerificationLevel?) -> Bool {
        // Pieces are digests that the caller stated.
        plan.verification.least <= (pieces.map?.isSettled == true ? .given : level ?? .none)
    }

    mutating func failUnverified(_ level: VerificationLevel) -> [Action] {
        let why =
            plan.verification == .signed
            ? LocalizableMessage(
                "no-signed-digest",
                "no sums file with a good signature by a given key has its digest (level: \(level.message))")
            : LocalizableMessage("no-digest", "neither its responses nor sums files beside it state its digest")
        let remedy: Remedy = "give \(.option(.checksum)), or change \(.option(.verification))"
        return failUnverified(because: why, remedy: kept(remedy, otherwise: remedy))
    }

    private mutating func failUnverified(because why: LocalizableMessage, remedy: Remedy) -> [Action] {
        fail(
            Failure(
                .checksumMismatch, "cannot verify", at: file.name ?? sources[0].given.redacted, because: why,
                remedy: remedy),
            givesBack: true)
    }
}
