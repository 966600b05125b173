// Digests that are found without being given: collected from responses and sidecars.
package import PawlBase
package import PawlJournal

extension DownloadMachine {
    /// All digests that the content must have.
    package var expected: [ExpectedDigest] {
        var all = plan.given
        verification.addFound(to: &all)
        all += continuity.representation?.digests.map(\.expected) ?? []
        verification.addStated(to: &all)
        return all
    }

    /// The algorithms to hash with while bytes arrive.
    package var algorithms: [HashAlgorithm] {
        if plan.checksums.isEmpty, plan.digests.isEmpty, !verification.knowsMore,
            continuity.representation?.digests.isEmpty ?? true
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
        _ head: ResponseHead, of response: Judge.AcceptedResponse, lane index: Int, now: Instant
    ) -> [Action]? {
        guard plan.verification.usesFields else { return nil }
        guard head.hasDigests || sources[lanes[index].source].linked != nil else { return nil }
        let source = sources[lanes[index].source]
        let address = source.given.redacted
        let total = plan.selectedLength(of: response.identity.total)
        let start = continuity.base ?? response.range.start
        let isAll =
            response.range.start == start
            && (response.range.end == ByteRange.open ? total == nil : response.range.end - start == total)
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
            stated.append(LearntDigest(address: address, field: "\(DigestField.linkedTag.name)", checksum: linked))
        }
        lanes[index].response.stated = Array(stated.prefix(LearntDigest.most))
        let isCoded = response.identity.coding != nil
        let given = isCoded ? [] : plan.given
        guard let (first, second) = contradiction(in: stated, isCoded: isCoded, with: given) else { return nil }
        let evidence = LocalizableMessage.digestsContradict(first, second)
        if let others = leaveOut(index, evidence, now: now) { return others }
        return cannotAccept(because: evidence, advice: "ask the server's owner")
    }

    /// The fields of a coded response may state digests of both its forms: only one field with two values is a
    /// contradiction then.
    private func contradiction(
        in stated: [LearntDigest], isCoded: Bool, with given: [ExpectedDigest]
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
        guard let known = continuity.representation, !lane.response.stated.isEmpty else { return nil }
        for digest in lane.response.stated {
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

    /// Whether the response states a digest that the bytes on disk cannot have, if what was stated of them is true.
    func contradictsDigests(_ lane: Lane) -> Bool {
        guard let known = continuity.representation else { return false }
        return lane.response.stated.contains { digest in
            known.digests.contains {
                $0.address == digest.address && $0.field == digest.field
                    && $0.checksum.algorithm == digest.checksum.algorithm && $0.checksum != digest.checksum
            } || known.digest(contradicting: digest) != nil
        }
    }

    /// Adds what a response states to what is known, once its bytes belong to those on disk.
    mutating func learnDigests(of lane: Lane) -> [Action] {
        guard sources[lane.source].isProven, addDigests(of: lane) else { return [] }
        return file.isClaimed ? [.record] : []
    }

    /// Adds them; returns whether there were new ones.
    @discardableResult mutating func addDigests(of lane: Lane) -> Bool {
        guard let known = continuity.representation?.digests else { return false }
        let new = lane.response.stated.filter { !known.contains($0) }
        let isAgreed = continuity.representation?.coding != nil || (known + new).map(\.expected).contradiction == nil
        guard !new.isEmpty, isAgreed else { return false }
        continuity.representation?.digests = Array((known + new).prefix(LearntDigest.most))
        return true
    }

    // MARK: sidecars

    /// Looks for digests beside the content and in its description, once.
    mutating func askForSidecars() -> [Action] {
        let asks = plan.verification.asksForSidecars || verification.described.description != nil
        guard asks, plan.selection == .whole, verification.ask() else { return [] }
        let hasSums = plan.verification.asksForSidecars
        return [.findSidecars(source: 0, hasSums: hasSums, description: verification.described.description)]
    }

    /// Stores the links of the first response; links from mirrors are ignored.
    mutating func noteLinks(_ head: ResponseHead, lane index: Int) {
        guard let link = head.link, lanes[index].source == 0, plan.verification.usesFields, plan.selection == .whole,
            plan.keepsPartial, verification.described == DescribedSources()
        else { return }
        var described = DescribedSources(link, of: sources[0].current, allowsDowngrade: plan.allowsDowngrade)
        // A digest from the caller has precedence.
        if plan.hasDigest { described.description = nil }
        verification.linked(to: described)
    }

    /// Makes a source of the best address that the first response or its description named, once the given ones failed:
    /// only with a digest that nobody can forge, as nothing else shows that its content is the same.
    mutating func addDuplicate() -> Bool {
        guard expected.contains(where: { !$0.checksum.algorithm.isWeak }) else { return false }
        while let next = verification.nextDuplicate() {
            guard !sources.contains(where: { $0.given == next || $0.current == next }),
                next.scheme.isSecure || !sources[0].given.scheme.isSecure || plan.allowsDowngrade
            else { continue }
            sources.append(Source(next))
            return true
        }
        return false
    }

    /// The search for digests has ended with this result.
    ///
    /// `address`: what they are beside; what was found for one that was replaced since does not count.
    package mutating func foundSidecars(_ found: FoundDigests, of address: WebAddress? = nil) -> [Action] {
        guard verification.isAsking, address.map({ $0 == sources[0].given }) ?? true else { return [] }
        verification.found(found)
        switch phase {
        case .verifying: return file.checksKept ? verifyExisting() : settlePieces() ?? verify(length: written)
        case .probing, .transferring, .waitingForNetwork:
            return continuity.representation?.coding == nil ? failEarly() : []
        case .waiting, .waitingForDisk, .publishing, .paused, .preempted, .finished, .failed, .removed: return []
        }
    }

    /// Fails before the rest is fetched, where no digest can be right any more.
    private mutating func failEarly() -> [Action] {
        if let (first, second) = expected.contradiction {
            return cannotAccept(because: .digestsContradict(first, second), advice: "ask the server's owner")
        }
        guard sources.count == 1, continuity.representation != nil, !reachesLeast(expected.map(\.level).max()) else {
            return []
        }
        return failUnverified(expected.map(\.level).max() ?? .none)
    }
}
