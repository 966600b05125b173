import PawlBase
import PawlJournal

/// What proves that the content is right: digests of all of it that were found, computed and compared.
struct Verification: Hashable, Sendable {
    enum Sidecars: Hashable, Sendable {
        case notAsked
        case requested
        case known([ExpectedDigest])
    }

    enum Digesting: Hashable, Sendable {
        case none
        /// These were computed, while digests of other algorithms are for which a sums file may have been meant.
        case others([Checksum])
        /// These are of coded content, while those of its plain form are computed.
        case decoded([Checksum])
        case verified(VerificationResult)
    }

    /// What was wrong that is fetched from another source.
    enum Refutation: Hashable, Sendable {
        case none
        /// The last bad piece.
        case piece(LocalizableMessage)
        /// The content, once. `stated`: the digests that its source had stated, which it did not have.
        case content(LocalizableMessage, stated: [ExpectedDigest])
    }

    /// What follows the computation of digests.
    enum Step: Hashable, Sendable {
        case digest([HashAlgorithm])
        case digestDecoded([HashAlgorithm], coding: String)
        case decide(DigestVerdict)
    }

    private(set) var sidecars = Sidecars.notAsked
    /// What the first response links to, and what was found there.
    private(set) var described = DescribedSources()
    private var digesting = Digesting.none
    private(set) var refutation = Refutation.none
    /// The address was replaced while the digests of all bytes were computed.
    private(set) var comparesReplacement = false
    /// The phase to enter instead of fetching again, when the digest is wrong: paused or preempted while it was computed.
    private(set) var stopPhase: DownloadState?
    private let place = KeptInPlace()

    // MARK: sidecars

    var hasAsked: Bool { if case .notAsked = sidecars { false } else { true } }

    var isAsking: Bool { if case .requested = sidecars { true } else { false } }

    /// Digests beside the content are requested once.
    mutating func ask() -> Bool {
        guard !hasAsked else { return false }
        sidecars = .requested
        return true
    }

    mutating func found(_ found: FoundDigests) {
        sidecars = .known(found.digests)
        described.add(found.sources)
    }

    /// The address beside which they were requested was replaced: what is found there does not count.
    mutating func forgetSidecars() { if isAsking { sidecars = .notAsked } }

    mutating func linked(to sources: DescribedSources) { described = sources }

    mutating func forgetLinks() { described = DescribedSources() }

    /// The best address that was described and not taken yet.
    mutating func nextDuplicate() -> WebAddress? {
        described.duplicates.isEmpty ? nil : described.duplicates.removeFirst()
    }

    // MARK: digests

    /// What the content was verified with; `nil` before that, and where nothing verifies it.
    var result: VerificationResult? { if case .verified(let result) = digesting { result } else { nil } }

    /// The digests that are known beside the given ones and those of the responses on disk.
    func addFound(to all: inout [ExpectedDigest]) {
        if case .known(let found) = sidecars { all += found }
    }

    func addStated(to all: inout [ExpectedDigest]) {
        guard case .content(_, let stated) = refutation else { return }
        for digest in stated where !all.contains(digest) { all.append(digest) }
    }

    /// Whether digests were found, or may be.
    var knowsMore: Bool {
        if case .content(_, let stated) = refutation, !stated.isEmpty { return true }
        return hasAsked
    }

    /// Digests of all bytes were computed.
    ///
    /// One whose algorithm was guessed is tried as one of the others before it refutes anything.
    mutating func digested(_ new: [Checksum], expected: [ExpectedDigest], coding: String?) -> Step {
        var computed = new
        if case .others(let first) = digesting {
            computed = first + new
        } else if case let others = expected.otherAlgorithms(than: computed), !others.isEmpty {
            digesting = .others(computed)
            return .digest(others)
        }
        digesting = .none
        let verdict = DigestVerdict(expected, computed: computed, isCoded: coding != nil)
        guard let coding, case .wrong = verdict else { return .decide(verdict) }
        digesting = .decoded(computed)
        let all = HashAlgorithm.allCases.filter { computed.map(\.algorithm).contains($0) }
        return .digestDecoded(all, coding: coding)
    }

    /// Those of the decoded content were computed; nothing follows where none were awaited.
    ///
    /// `decoded`: `nil` for a coding that cannot be decoded.
    mutating func digestedDecoded(_ decoded: [Checksum]?, expected: [ExpectedDigest]) -> DigestVerdict? {
        guard case .decoded(let computed) = digesting else { return nil }
        digesting = .none
        return DigestVerdict(
            expected, computed: computed, decoded: decoded ?? [], isCoded: true, isDecodable: decoded != nil)
    }

    mutating func verified(_ result: VerificationResult) { digesting = .verified(result) }

    // MARK: what was wrong

    var hasRefetched: Bool { if case .content = refutation { true } else { false } }

    var wrong: LocalizableMessage? {
        switch refutation {
        case .none: nil
        case .piece(let evidence), .content(let evidence, stated: _): evidence
        }
    }

    mutating func refute(piece evidence: LocalizableMessage) {
        if case .content(_, let stated) = refutation {
            refutation = .content(evidence, stated: stated)
        } else {
            refutation = .piece(evidence)
        }
    }

    /// The content is fetched again.
    mutating func refute(content evidence: LocalizableMessage, stated: [ExpectedDigest]) {
        refutation = .content(evidence, stated: stated)
        comparesReplacement = false
    }

    // MARK: commands meanwhile

    mutating func replaced() { comparesReplacement = true }

    mutating func comparedReplacement() { comparesReplacement = false }

    /// The user stops it, whatever the scheduler wants; `nil`: it is to go on.
    mutating func stop(as phase: DownloadState?) {
        if phase != .preempted || stopPhase == nil { stopPhase = phase }
    }
}
