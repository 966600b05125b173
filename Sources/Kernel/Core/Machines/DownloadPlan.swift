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
    /// Whether bytes go in order, over one connection, and only the last ones can be read again for a comparison.
    package var isInOrder = false
    /// Whether another run may begin with what this one has delivered: no reader has got it yet.
    package var mayBeginAnew = true
    /// Whether a status other than success ends the download while nothing is on disk, instead of a retry: the
    /// response is the result.
    package var endsWithErrorResponse = false
    /// Whether the response of every status of success is the content, as rules for robots are (RFC 9309 §2.3.1.1).
    package var takesEverySuccess = false
    /// Media types of what is not downloaded as a file: such a response ends the download before its first byte is used.
    package var otherTypes: Set<String> = []
    /// Whether the listing of a folder of a file server is the content.
    package var listing: FolderListingForm?
    /// The time of the file that is there and may be replaced: the content is wanted only if it has changed since
    /// (If-Modified-Since), and a response without it has to show that it is that file's.
    package var existingTime: UnixTime?
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
