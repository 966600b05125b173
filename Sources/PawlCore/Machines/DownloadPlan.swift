/// What a download is asked to do; never changes while it runs.
package struct DownloadPlan: Hashable, Sendable {
    /// The address given first, then mirrors.
    package var sources: [WebAddress]
    package var ramp = ConnectionRamp.Mode.automatic(maximum: 8)
    package var retry = RetryPolicy()
    /// The longest silence: connecting, waiting for the answer, or between bytes.
    package var timeout = Interval.seconds(30)
    /// Bytes a second that a connection has to exceed; `nil` for none.
    package var lowestSpeed: Int64?
    package var maximumRedirects = 20
    /// Whether a redirect may lead from https to http.
    package var allowsDowngrade = false
    package var checksum: Checksum?
    /// Bytes that the content must have.
    package var length: Int64?
    /// The part of the resource that is wanted; `.whole` by default.
    package var wish = RequestedRange.whole
    package var keepsServerTime = true
    /// The first address stands in for another one: bytes on disk are kept even if it turns out to be other content.
    package var replacesAddress = false
    /// Somebody can be asked for another address when one has expired.
    package var canRefresh = false

    package init(sources: [WebAddress]) {
        precondition(!sources.isEmpty, "a download needs an address")
        self.sources = sources
    }

    /// The wanted part has no more bytes than these.
    package var longest: Int64 { wish.longest }

    /// Where the wanted part begins in a resource of `total` bytes; `nil` while nobody can know.
    package func base(total: Int64?) -> Int64? {
        switch wish {
        case .whole: 0
        case .from(let start): start
        case .closed(let range): range.start
        case .suffix(let count): total.map { max(0, $0 - count) }
        }
    }
}

/// One address of the content and what is known of it.
package struct Source: Hashable, Sendable {
    package internal(set) var given: WebAddress { didSet { text = given.text } }
    /// The text of ``given``, by which records know it.
    package private(set) var text: String
    /// Where redirects led; the given address again after the target expired.
    package var current: WebAddress { didSet { host = current.origin.text } }
    /// The origin of ``current``, by which records know it.
    package private(set) var host: String
    /// Its bytes are shown to be the content's: it began the download, or an overlap agreed.
    ///
    /// What its hosts said then stands in the representation's records.
    package var isProven = false
    package var isUsable = true
    /// It has sent a part, and was not silent to a request with Range since.
    package var sendsParts = false
    /// It has turned a further connection away while it served another: what it says to that is no word about the content.
    var turnsAway = false
    /// Its redirect target was given up once since the last progress.
    package var wentBack = false
    /// It stands in for another address and has not shown yet that its content is the same; until then nothing that is on
    /// disk may be given up for it.
    package var isOnTrial = false

    package init(_ address: WebAddress) {
        given = address
        text = address.text
        current = address
        host = address.origin.text
    }

    package var isFileTransfer: Bool {
        switch given.scheme {
        case .ftp, .ftps, .sftp: true
        case .http, .https: false
        }
    }
}
