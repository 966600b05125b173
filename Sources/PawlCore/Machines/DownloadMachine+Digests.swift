// Digests that are found without being given: collected from responses and sidecars, checked before publishing.
extension DownloadMachine {
    /// Whether sidecars were requested.
    enum SidecarState: Hashable, Sendable {
        case notAsked
        case requested
        case known([ExpectedDigest])
    }

    /// All digests that the content must have.
    package var expected: [ExpectedDigest] {
        var all = plan.given
        if case .known(let found) = sidecars { all += found }
        all += representation?.digests.map(\.expected) ?? []
        for digest in carried where !all.contains(digest) { all.append(digest) }
        return all
    }

    /// The algorithms to hash with while bytes arrive.
    package var algorithms: [HashAlgorithm] {
        if plan.checksums.isEmpty, plan.digests.isEmpty, sidecars == .notAsked, carried.isEmpty,
            representation?.digests.isEmpty ?? true
        {
            return plan.storesAttributes ? [.sha256] : []
        }
        let all = expected.algorithms
        return plan.storesAttributes && !all.contains(.sha256) ? [.sha256] + all : all
    }

    /// Notes what the response states of the bytes of the file.
    ///
    /// `nil` when it may be used; else what follows from a contradiction.
    mutating func noteDigests(
        _ head: ResponseHead,
        of response: Judge.AcceptedResponse,
        lane index: Int,
        now: Instant
    ) -> [Action]? {
        guard plan.verification.usesFields else { return nil }
        let source = sources[lanes[index].source]
        guard head.hasDigests || source.linked != nil else { return nil }
        let address = source.given.redacted
        let total = plan.selectedLength(of: response.identity.total)
        let start = base ?? response.range.start
        let isAll =
            response.range.start == start
            && (response.range.end == SegmentMap.open ? total == nil : response.range.end - start == total)
        var stated: [LearntDigest] = head.applicableDigests.compactMap { digest in
            switch digest.scope {
            case .content where !isAll: return nil
            case .representation where plan.selection != .whole: return nil
            case .stored where plan.selection != .whole: return nil
            case .content, .representation, .stored: break
            }
            return LearntDigest(address: address, field: digest.field, checksum: digest.checksum)
        }
        if let linked = source.linked, plan.selection == .whole {
            stated.append(
                LearntDigest(address: address, field: "\(DigestField.linkedTag.name)", checksum: linked)
            )
        }
        lanes[index].stated = Array(stated.prefix(LearntDigest.most))
        let isCoded = response.identity.coding != nil
        let given = isCoded ? [] : plan.given
        guard let (first, second) = contradiction(in: stated, isCoded: isCoded, with: given) else {
            return nil
        }
        let evidence = LocalizableMessage.digestsContradict(first, second)
        if let others = leaveOut(index, evidence, now: now) { return others }
        return cannotAccept(because: evidence, advice: "ask the server's owner")
    }

    /// The fields of a coded response may state digests of both its forms: only one field with two values is a
    /// contradiction then.
    private func contradiction(
        in stated: [LearntDigest],
        isCoded: Bool,
        with given: [ExpectedDigest]
    ) -> (ExpectedDigest, ExpectedDigest)? {
        guard isCoded else { return (given + stated.map(\.expected)).contradiction }
        for digest in stated {
            let same = stated.filter { $0.field == digest.field }.map(\.expected)
            if let found = same.contradiction { return found }
        }
        return nil
    }

    /// Compares what a further response states with what is known of the bytes on disk; `nil` when it agrees.
    ///
    /// `isSame`: a strong tag proves that it is the same version, so that its fields contradict each other.
    mutating func holdDigests(of lane: Lane, _ index: Int, isSame: Bool, now: Instant) -> [Action]? {
        guard let known = representation, !lane.stated.isEmpty else { return nil }
        for digest in lane.stated {
            let before = known.digests.first {
                $0.address == digest.address && $0.field == digest.field
                    && $0.checksum.algorithm == digest.checksum.algorithm
            }
            if let before, before.checksum != digest.checksum {
                return changed(.digestChanged(before, to: digest), lane: index, now: now)
            }
            if before == nil, !isSame, let other = known.digest(contradicting: digest) {
                return changed(.digestChanged(other, to: digest), lane: index, now: now)
            }
            let others = known.digests.map(\.expected) + [digest.expected]
            if before == nil, known.coding == nil, let (first, second) = others.contradiction {
                let evidence = LocalizableMessage.digestsContradict(first, second)
                return leaveOut(index, evidence, now: now)
                    ?? cannotAccept(because: evidence, advice: "ask the servers' owners")
            }
        }
        return nil
    }

    /// Adds what a response states to what is known, once its bytes belong to those on disk.
    mutating func learnDigests(of lane: Lane) -> [Action] {
        guard let known = representation?.digests, !lane.stated.isEmpty, sources[lane.source].isProven else {
            return []
        }
        let new = lane.stated.filter { !known.contains($0) }
        guard !new.isEmpty else { return [] }
        representation?.digests = Array((known + new).prefix(LearntDigest.most))
        return isClaimed ? [.record] : []
    }

    // MARK: sidecars

    /// Requests sums files and a Metalink, once.
    mutating func askForSidecars() -> [Action] {
        let asks = plan.verification.asksForSidecars || described.description != nil
        guard asks, plan.selection == .whole, sidecars == .notAsked else { return [] }
        sidecars = .requested
        let hasSums = plan.verification.asksForSidecars
        return [.findSidecars(source: 0, hasSums: hasSums, description: described.description)]
    }

    /// Stores the links of the first response; links from mirrors are ignored.
    mutating func noteLinks(_ head: ResponseHead, lane index: Int) {
        let source = sources[lanes[index].source]
        guard let link = head.link, lanes[index].source == 0, plan.verification.usesFields,
            plan.selection == .whole, plan.keepsPartial, described == DescribedSources()
        else { return }
        described = DescribedSources(link, of: source.current, allowsDowngrade: plan.allowsDowngrade)
        // A digest from the caller has precedence.
        if plan.hasDigest { described.description = nil }
    }

    /// Makes a source of the best address that the first response or its description named, once the given ones failed:
    /// only with a digest that nobody can forge, as nothing else shows that its content is the same.
    mutating func addDuplicate() -> Bool {
        guard expected.contains(where: { !$0.checksum.algorithm.isWeak }) else { return false }
        while !described.duplicates.isEmpty {
            let next = described.duplicates.removeFirst()
            guard !sources.contains(where: { $0.given == next || $0.current == next }),
                next.scheme.isSecure || !sources[0].given.scheme.isSecure || plan.allowsDowngrade
            else { continue }
            sources.append(Source(next))
            return true
        }
        return false
    }

    /// The search for sums files and a Metalink has ended with this result.
    ///
    /// `address`: what they are beside; what was found for one that was replaced since does not count.
    package mutating func foundSidecars(_ found: FoundDigests, of address: WebAddress? = nil) -> [Action] {
        guard sidecars == .requested, address.map({ $0 == sources[0].given }) ?? true else { return [] }
        sidecars = .known(found.digests)
        described.add(found.sources)
        switch phase {
        case .verifying: return settlePieces() ?? verify(length: written)
        case .probing, .transferring, .waitingForNetwork:
            return representation?.coding == nil ? failEarly() : []
        case .waiting, .publishing, .paused, .preempted, .finished, .failed, .removed: return []
        }
    }

    /// Fails before the rest is fetched, where no digest can be right any more.
    private mutating func failEarly() -> [Action] {
        if let (first, second) = expected.contradiction {
            return cannotAccept(
                because: .digestsContradict(first, second),
                advice: "ask the server's owner"
            )
        }
        guard sources.count == 1, representation != nil, !reachesLeast(expected.map(\.level).max()) else {
            return []
        }
        return failUnverified(expected.map(\.level).max() ?? .none)
    }

    private func reachesLeast(_ level: VerificationLevel?) -> Bool {
        // Pieces are digests that the caller stated.
        plan.verification.least <= (pieces?.isSettled == true ? .given : level ?? .none)
    }

    private mutating func failUnverified(_ level: VerificationLevel) -> [Action] {
        let why =
            plan.verification == .signed
            ? LocalizableMessage(
                "no-signed-digest",
                "no sums file with a good signature by a given key has its digest (level: \(level.message))"
            )
            : LocalizableMessage(
                "no-digest",
                "neither its responses nor sums files beside it state its digest"
            )
        let remedy: Remedy = "give \(.option(.checksum)), or change \(.option(.verification))"
        return failUnverified(because: why, remedy: kept(remedy, otherwise: remedy))
    }

    private mutating func failUnverified(because why: LocalizableMessage, remedy: Remedy) -> [Action] {
        fail(
            Failure(
                .checksumMismatch,
                "cannot verify",
                at: name ?? sources[0].given.redacted,
                because: why,
                remedy: remedy
            ),
            givesBack: true
        )
    }

    // MARK: verification

    /// All bytes are on disk: computes their digests, if there is anything to compare them with.
    mutating func verify(length: Int64) -> [Action] {
        let entered = phase == .verifying ? [] : [enter(.verifying)]
        let asks = askForSidecars()
        if sidecars == .requested { return entered + asks }
        let algorithms = algorithms
        if !algorithms.isEmpty { return entered + [.verify(algorithms, length: length)] }
        return reachesLeast(nil) ? publishUnverified() : failUnverified(.none)
    }

    /// The digests were computed over the bytes in the file.
    package mutating func digested(_ computed: [Checksum], now: Instant? = nil) -> [Action] {
        guard phase == .verifying else { return [] }
        if let now { lastEvent = now }
        if keepsExisting { return existingDigested(computed) }
        let computed = firstComputed + computed
        // A digest whose algorithm was guessed is tried as one of the others before it refutes anything.
        let others = firstComputed.isEmpty ? expected.otherAlgorithms(than: computed) : []
        firstComputed = others.isEmpty ? [] : computed
        if !others.isEmpty { return [.verify(others, length: written)] }
        let coding = representation?.coding
        let verdict = DigestVerdict(expected, computed: computed, isCoded: coding != nil)
        if let coding, case .wrong = verdict {
            undecoded = computed
            let all = HashAlgorithm.allCases.filter { computed.map(\.algorithm).contains($0) }
            return [.verifyDecoded(all, coding: coding, length: written)]
        }
        return follow(verdict)
    }

    /// The digests of the decoded content were computed; `nil` where the coding is not one that can be decoded.
    package mutating func digestedDecoded(_ decoded: [Checksum]?, now: Instant) -> [Action] {
        guard phase == .verifying, !undecoded.isEmpty else { return [] }
        lastEvent = now
        let verdict = DigestVerdict(
            expected,
            computed: undecoded,
            decoded: decoded ?? [],
            isCoded: true,
            isDecodable: decoded != nil
        )
        undecoded = []
        return follow(verdict)
    }

    private mutating func follow(_ verdict: DigestVerdict) -> [Action] {
        if let comparison = compareReplacement(verdict) { return comparison }
        switch verdict {
        case .verified(let result):
            guard reachesLeast(result.level) else { return failUnverified(result.level) }
            verification = result
            return weakness(of: result) + publish()
        case .unverified:
            // A disk computes every requested digest; without the caller's nothing is published.
            if let why = uncomputed { return failUnverified(because: why, remedy: kept("\(.resume)")) }
            return reachesLeast(nil) ? publishUnverified() : failUnverified(.none)
        case .wrong(let digest, let got):
            return mismatch(
                DownloadMachine.evidence(got.digest, instead: digest),
                isGiven: digest.level == .given && digest.source.isEmpty
            )
        case .contradiction(let first, let second):
            return mismatch(.digestsContradict(first, second), isGiven: false)
        }
    }

    /// That the digest which the caller gave was not among those computed.
    private var uncomputed: LocalizableMessage? {
        expected.first { $0.level == .given }.map { given in
            LocalizableMessage(
                "digest-not-computed",
                "its \(given.checksum.algorithm.rawValue) digest could not be computed"
            )
        }
    }

    /// No digest decides: bytes that had another one than an earlier run expected are fetched again.
    private mutating func publishUnverified() -> [Action] {
        guard representation?.damage != nil, existingLength == nil else { return publish() }
        reset(total: nil)
        highWater = 0
        let notice = Action.notify(.notice(Self.startsOverCorrupt))
        if let phase = phaseAfterMismatch { return [notice, .startOver, letGo(), enter(phase)] }
        return [notice, .startOver, enter(.probing)] + openFirst(now: lastEvent)
    }

    static let startsOverCorrupt = LocalizableMessage(
        "corrupt-starting-over",
        "the bytes on disk do not have the expected digest: starting over"
    )

    private func weakness(of result: VerificationResult) -> [Action] {
        guard result.checksum.algorithm.isWeak, result.level != .given else { return [] }
        return [
            .notify(
                .notice(
                    .init(
                        "verified-weakly",
                        "verified with \(result.checksum.algorithm.rawValue) only, which shows damage but no forgery"
                    )
                )
            )
        ]
    }

    /// The bytes are wrong: once they are fetched from another source, else they are kept and never published.
    private mutating func mismatch(_ evidence: LocalizableMessage, isGiven: Bool) -> [Action] {
        if otherSource() == nil, !hasRefetched { _ = addDuplicate() }
        if let other = otherSource(), existingLength == nil, plan.keepsPartial {
            hasRefetched = true
            comparesReplacement = false
            refutation = evidence
            carried = expected.filter { $0.level == .origin }
            for index in sources.indices where index != other { sources[index].isUsable = false }
            reset(total: nil)
            highWater = 0
            let notice = LocalizableMessage(
                "mismatch-other-source",
                "\(evidence): fetching it again from \(sources[other].given.redacted)"
            )
            if let phase = phaseAfterMismatch {
                return [.notify(.notice(notice)), .startOver, letGo(), enter(phase)]
            }
            return [.notify(.notice(notice)), .startOver, enter(.probing)] + openFirst(now: lastEvent)
        }
        representation?.damage = evidence.description
        let record: [Action] = isClaimed && existingLength == nil ? [.record] : []
        return record
            + cannotAccept(
                "checksum mismatch:",
                because: evidence,
                advice: isGiven
                    ? "correct \(.option(.checksum)), or use \(.option(.retriesCorrupt))"
                    : "use \(.option(.retriesCorrupt))"
            )
    }

    /// A source that did not begin these bytes; only once, and only where there is one.
    private func otherSource() -> Int? {
        guard !hasRefetched, sources.count(where: \.isUsable) > 1 || comparesReplacement else { return nil }
        let first = representation?.records.first?.source
        return sources.indices.first { sources[$0].isUsable && sources[$0].text != first }
    }

    // MARK: existing files

    mutating func existingDigested(_ computed: [Checksum]) -> [Action] {
        switch DigestVerdict(expected, computed: computed) {
        case .verified(let result):
            verification = result
            return finishExisting()
        case .unverified: return uncomputed.map { failExisting($0, advice: "\(.resume)") } ?? finishExisting()
        case .wrong(let digest, let got):
            return failExisting(DownloadMachine.evidence(got.digest, instead: digest))
        case .contradiction(let first, let second):
            return failExisting(.digestsContradict(first, second))
        }
    }

    mutating func failExisting(
        _ why: LocalizableMessage,
        advice: Remedy = "give the right checksum"
    ) -> [Action] {
        fail(
            Failure(
                .checksumMismatch,
                "cannot accept the existing file",
                at: name ?? sources[0].given.redacted,
                because: why,
                remedy: "\(advice), choose another name, or change \(.option(.existingFile))"
            )
        )
    }
}
