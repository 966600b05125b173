package import PawlBase
package import PawlJournal

/// The way of a small file from its request to its name, without a ``DownloadMachine``.
///
/// It knows one course of events: a request for the whole, a response that has it with its length, each of its bytes, and
/// digests that agree. They are kept in memory until then. At anything else a machine is made and gets the same events from
/// the beginning, so that only the machine decides about what is not plain success.
package struct StraightPath: Hashable, Sendable {
    /// A response whose body is the file.
    package struct Content: Hashable, Sendable {
        package let length: Int64
        package let validators: Validators
        /// The digests that it must have.
        let expected: [ExpectedDigest]

        /// The digests to compute of its bytes.
        package var algorithms: [HashAlgorithm] { expected.isEmpty ? [] : expected.algorithms }
    }

    /// The longest file: as long as one that needs no journal.
    package static let longest = Claim.smallFile
    /// The longest file whose digests are computed at once, on the thread of its download.
    package static let longestHashed: Int64 = 64 << 10

    package private(set) var content: Content?
    /// What the bytes were verified with; `nil` where nothing verifies them.
    package private(set) var verified: VerificationResult?

    /// `nil` where the plan asks for what only a machine decides.
    package init?(_ plan: DownloadPlan) {
        guard plan.sources.count == 1, plan.hooks.isEmpty, plan.selection == .whole, plan.pieces == nil,
            !plan.isSeeded, !plan.replacesAddress, plan.keepsPartial, !plan.isInOrder, !plan.endsWithErrorResponse,
            !plan.takesEverySuccess, !plan.storesAttributes, !plan.verification.asksForSidecars
        else { return nil }
        switch plan.sources[0].scheme {
        case .http, .https: break
        case .ftp, .ftps, .sftp, .located: return nil
        }
    }

    /// The request of a machine that has no byte.
    package static func order(of plan: DownloadPlan) -> LaneOrder {
        LaneOrder(
            lane: LaneID(rawValue: 0), source: 0, address: plan.sources[0], requested: .whole, connection: .shared,
            bypassesCaches: false)
    }

    /// Whether the body of this response is the file, as far as its head says.
    package mutating func responded(_ head: ResponseHead, plan: DownloadPlan, wallTime: UnixTime) -> Bool {
        guard head.status == 200, let length = head.contentLength, length <= Self.longest,
            plan.length ?? length == length, head.contentRange == .absent,
            // It may lead to digests, and to other sources.
            head.link == nil || !plan.verification.usesFields,
            let expected = Self.expected(of: head, plan), expected.isEmpty || length <= Self.longestHashed,
            case .usable(let response) = Judge(requested: .whole, known: nil).verdict(on: head, wallTime: wallTime),
            response.identity.coding == nil, response.range == ByteRange(0, length),
            response.identity.mediaType.map({ !plan.otherTypes.contains($0) }) ?? true
        else { return false }
        content = Content(length: length, validators: response.identity.validators, expected: expected)
        return true
    }

    /// What the caller and the response state of the bytes; `nil` where they contradict each other.
    private static func expected(of head: ResponseHead, _ plan: DownloadPlan) -> [ExpectedDigest]? {
        var all = plan.given
        if plan.verification.usesFields, head.hasDigests {
            let address = plan.sources[0].redacted
            all += head.applicableDigests.prefix(LearntDigest.most).map {
                LearntDigest(address: address, field: $0.field, checksum: $0.checksum).expected
            }
        }
        return all.contradiction == nil ? all : nil
    }

    /// Whether these digests of all bytes are those that they must have.
    package mutating func digested(_ computed: [Checksum]) -> Bool {
        guard let expected = content?.expected,
            case .verified(let result) = DigestVerdict(expected, computed: computed),
            expected.otherAlgorithms(than: computed).isEmpty,
            // The user is told of a weak one.
            !result.algorithm.isWeak || result.level == .given
        else { return false }
        verified = result
        return true
    }
}
