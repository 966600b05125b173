package import PawlBase
package import PawlJournal

/// The parameters of a download; they never change while it runs.
package struct DownloadPlan: Hashable, Sendable {
    /// The address given first, then mirrors.
    package var sources: [WebAddress]
    package var ramp = ConnectionRamp.Mode.automatic(maximum: 32)
    package var retry = RetryPolicy()
    /// The longest time without data: connecting, waiting for the response, or between bytes.
    package var timeout = Interval.seconds(30)
    /// Bytes per second that a connection has to exceed; `nil` for none.
    package var lowestSpeed: Int64?
    package var maximumRedirects = 20
    /// Whether a redirect may lead from https to http.
    package var allowsDowngrade = false
    /// The digests that the caller stated of the requested part; all have to match.
    package var checksums: [Checksum] = []
    /// Further digests that the caller stated, of the whole resource: in fragments of addresses, in descriptions.
    package var digests: [ExpectedDigest] = []
    /// Which other digests are looked for, and what must be reached.
    package var verification = VerificationPolicy.off
    /// Whether bytes on disk that were found to have a wrong digest are discarded.
    package var retriesCorrupt = false
    /// Whether the address and the SHA-256 digest are stored with the file.
    package var storesAttributes = false
    /// Whether redirects to other hosts are refused.
    package var staysOnHost = false
    /// The digests of the content's pieces: each piece is checked when its last byte is on disk.
    package var pieces: PieceHashes?
    /// The part file begins with bytes of another file that a digest will prove to be the content's; no validator can.
    package var isSeeded = false
    /// The length that the content must have, in bytes.
    package var length: Int64?
    /// The requested part of the resource; `.whole` by default.
    package var selection = RequestedRange.whole
    package var keepsServerTime = true
    /// The first address replaces another one: bytes on disk are kept even if its content differs.
    package var replacesAddress = false
    /// Whether a failure leaves a partial file; streams and memory have none.
    package var keepsPartial = true
    /// Whether all received bytes can be read again for a comparison; of streams and uploads only the last ones can.
    package var isReadable = true
    /// Whether a status other than success ends the download while nothing is on disk, instead of a retry: the
    /// response is the result.
    package var endsWithErrorResponse = false
    /// Whether the response of every status of success is the content, as rules for robots are (RFC 9309 §2.3.1.1).
    package var takesEverySuccess = false
    /// Whether another address can be requested when one has expired.
    package var canRefresh = false
    /// The decisions that the program makes itself.
    package var hooks: HookSet = []

    package init(sources: [WebAddress]) {
        precondition(!sources.isEmpty, "a download needs an address")
        self.sources = sources
    }

    /// The digests that the caller stated of the file.
    package var given: [ExpectedDigest] {
        guard hasDigest else { return [] }
        return checksums.map { ExpectedDigest($0, level: .given, source: "") } + (selection == .whole ? digests : [])
    }

    package var hasDigest: Bool { !checksums.isEmpty || selection == .whole && !digests.isEmpty }

    /// The digests that may be requested of a stream, whose bytes pass only once.
    package var streamAlgorithms: [HashAlgorithm] {
        let found: [HashAlgorithm] = verification.asksForSidecars ? [.sha256, .sha512, .blake2b, .sha1, .md5] : []
        return HashAlgorithm.allCases.filter { given.algorithms.contains($0) || found.contains($0) }
    }

    /// The upper bound of the requested part's length.
    package var longest: Int64 { selection.longest }

    /// The length of the requested part of a resource of `total` bytes.
    func selectedLength(of total: Int64) -> Int64 { selection.length(of: total) }

    func selectedLength(of total: Int64?) -> Int64? { total.map { selectedLength(of: $0) } }

    /// Where the requested part begins in a resource of `total` bytes; `nil` while that is unknown.
    package func base(total: Int64?) -> Int64? {
        switch selection {
        case .whole: 0
        case .from(let start): start
        case .closed(let range): range.start
        case .suffix(let count): total.map { max(0, $0 - count) }
        }
    }
}

/// One address of the content and its state.
package struct Source: Hashable, Sendable {
    package internal(set) var given: WebAddress { didSet { text = given.text } }
    /// The text of ``given``, the key of its records.
    package private(set) var text: String
    /// The target of redirects; the given address again after the target expired.
    package var current: WebAddress { didSet { host = current.key(redirectedFrom: given) } }
    /// The key of the records of ``current``.
    package private(set) var host: String
    /// Its bytes are proven to be the content's: the download began with it, or an overlap agreed.
    ///
    /// The validators of its hosts are in the representation's records.
    package var isProven = false
    package var isUsable = true
    /// It was left out because its ranges cannot be used, while another source seemed to have the content.
    var lacksRanges = false
    /// It has sent a part, and no request with Range timed out since.
    package var sendsParts = false
    /// It has rejected a further connection while it served another: that rejection says nothing about the
    /// content.
    var turnsAway = false
    /// The digest that a redirect of it stated of its target (X-Linked-ETag).
    package internal(set) var linked: Checksum?
    /// Its redirect target was abandoned once since the last progress.
    package var wentBack = false
    /// How many bytes its last response brought, if it broke and most of them were compared: the next ones compare fewer.
    package internal(set) var breaksAfter: Int64?
    /// The longest part that it sent, where that was too short for the bytes to compare and others after them.
    package internal(set) var longestPart: Int64?
    /// Where such a part ended; a later one that ends there too ends with the content.
    var shortEnd: Int64?
    /// Whether a response of it broke.
    var hasBroken = false
    /// It replaces another address and has not been shown to have the same content; until then no bytes on
    /// disk are discarded for it.
    package var isOnTrial = false
    /// The user has replaced its address, not the program that refreshes expired ones.
    var isGivenByUser = false

    package init(_ address: WebAddress) {
        given = address
        text = address.text
        current = address
        host = address.origin.text
    }

    package var isFileTransfer: Bool {
        switch given.scheme {
        case .ftp, .ftps, .sftp: true
        case .http, .https, .located: false
        }
    }
}

extension WebAddress {
    /// The origin, and the path and query of a redirect's target: validators speak for one address only.
    ///
    /// What signs a request does not count: it differs from one redirect to the next. The rest may contain a secret, and is
    /// hashed.
    fileprivate func key(redirectedFrom given: WebAddress) -> String {
        let content = unsignedTarget
        guard content != given.unsignedTarget else { return origin.text }
        return "\(origin.text)#\(String(CRC64.value(of: content.utf8), radix: 16))"
    }
}

/// What requests have compared before one whose response can hold only a part of the bytes to compare.
struct ComparedAhead: Hashable, Sendable {
    package var range: ByteRange
    /// The agreement of another source would say nothing of this one's content.
    var source: Int
}

/// Where a compared response that stated no total ended.
struct ComparedEnd: Hashable, Sendable {
    var offset: Int64
    /// Another server's 416 would say nothing of this one's content.
    var source: Int
}
