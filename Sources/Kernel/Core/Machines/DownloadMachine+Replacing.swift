// Replacement of an address: given by the user, or requested when the old one has expired (A8).
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// Replaces the source's address.
    ///
    /// The bytes on disk have to be shown to be its content; if they are not, they stay and the download
    /// fails.
    package mutating func replaceSource(
        _ source: Int, with address: WebAddress, isByUser: Bool = true, now: Instant
    ) -> [Action] {
        let awaitsSums = verification.isAsking
        switch phase {
        case .probing, .transferring, .waitingForNetwork: break
        // What the digests show decides what the new address has to show.
        case .verifying where !awaitsSums: verification.replaced()
        case .verifying: verification.forgetLinks()
        // The queue knows which address the file is of, or the next run begins with the new one.
        case .waiting, .waitingForDisk, .publishing, .paused, .preempted, .finished, .failed, .removed: return []
        }
        // The sums files of the old address no longer count.
        if source == 0 { verification.forgetSidecars() }
        sources[source] = Source(address, replacing: isByUser ? .byUser : .byProgram)
        continuity.replaced(source)
        budget.replaced()
        guard !verification.comparesReplacement else { return [] }
        var actions: [Action] = []
        for index in lanes.list.indices.reversed() where lanes[index].source == source { actions.append(remove(index)) }
        if phase == .waitingForNetwork { return tryAgain(now: now) }
        guard isActive || phase == .verifying else { return actions }
        if lanes.list.contains(where: { !$0.isSettling }) { return actions + refill(now: now) }
        return actions + stop() + openFirst(now: now)
    }

    /// Requests another address, a bounded number of times; `nil` when that is of no use.
    mutating func refresh(_ source: Int, after fault: AttemptFault, _ failure: Failure) -> Action? {
        guard plan.canRefresh, fault.isExpiry, budget.refresh() else { return nil }
        return .refresh(source: source, generation: waiting.beginForAddress(after: failure))
    }

    /// The result of `refresh`; `nil` when there is no other address.
    package mutating func refreshed(_ source: Int, _ number: UInt32, to address: WebAddress?, now: Instant) -> [Action]
    {
        guard number == waiting.generation, case .address(let refusal) = waiting.reason, isActive else { return [] }
        guard let address else {
            sources[source].leaveOut()
            return fail(refusal)
        }
        let notice = LocalizableMessage(
            "url-expired-continuing", "the URL has expired: continuing with \(address.redacted)")
        return [.notify(.notice(notice))] + replaceSource(source, with: address, isByUser: false, now: now)
    }

    /// The digests of the bytes on disk are known, and their address was replaced meanwhile: the bytes are compared with
    /// the new one before they are published.
    ///
    /// `nil` where the digests decide: those that the caller gave are of what is wanted from any address, and wrong
    /// bytes are of no use.
    mutating func compareReplacement(_ verdict: DigestVerdict) -> [Action]? {
        guard verification.comparesReplacement else { return nil }
        switch verdict {
        case .verified(let result) where result.level == .given: return nil
        case .wrong, .contradiction: return nil
        case .verified, .unverified: break
        }
        verification.comparedReplacement()
        if let phase = verification.stopPhase { return [letGo(), enter(phase)] }
        return openFirst(now: lastEvent)
    }

    /// Whether bytes are on disk that this source has not shown to be its content.
    ///
    /// Bytes of another range than the requested one are of no use, whatever the source.
    func mayNotDiscard(for source: Int) -> Bool {
        sources[source].isOnTrial && !lanes.map.done.isEmpty && !continuity.isStale
    }

    /// The new address is not shown to lead to the same content.
    mutating func failTrial(of source: Int, _ evidence: LocalizableMessage) -> [Action] {
        fail(
            Failure(
                .cannotResume, "cannot continue with", at: sources[source].given.redacted,
                because: LocalizableMessage(
                    "content-not-proven", "it is not proven to be the same content: \(evidence)"),
                remedy: kept("give another URL of the same file")))
    }
}
