package import PawlBase

/// Finds digests of a content that its own response does not state.
package protocol DigestFinder: Sendable {
    /// Calls `completion` once, on any thread.
    func find(_ search: DigestSearch, completion: @escaping @Sendable (FoundDigests) -> Void)
}

package struct DigestSearch: Sendable {
    /// The content's.
    package var address: WebAddress
    /// Whether lists of digests beside the content are wanted.
    package var hasSums: Bool
    /// What the content's response named as its description.
    package var description: WebAddress?
    package var keys: SigningKeys
    package var terms: FetchTerms

    package init(
        beside address: WebAddress, hasSums: Bool, description: WebAddress?, keys: SigningKeys, terms: FetchTerms
    ) {
        self.address = address
        self.hasSums = hasSums
        self.description = description
        self.keys = keys
        self.terms = terms
    }
}

/// The keys that a caller trusts to sign lists of digests.
package struct SigningKeys: Hashable, Sendable {
    /// A keyring file of OpenPGP keys, binary or armored.
    package var keyring: String?
    /// Keys of minisign: each the base64 of one, or the path of its file.
    package var minisign: String?

    package init() {}
    package init(keyring: String?, minisign: String?) {
        self.keyring = keyring
        self.minisign = minisign
    }

    package var isEmpty: Bool { keyring == nil && minisign == nil }
}

/// What a request beside a download has from it.
package struct FetchTerms: Sendable {
    package var settings: TransferSettings
    package var timeout: Interval
    package var allowsDowngrade: Bool
    package var trustsRedirects: Bool
    package var sharesConnections: Bool

    package init(
        settings: TransferSettings, timeout: Interval, allowsDowngrade: Bool, trustsRedirects: Bool,
        sharesConnections: Bool
    ) {
        self.settings = settings
        self.timeout = timeout
        self.allowsDowngrade = allowsDowngrade
        self.trustsRedirects = trustsRedirects
        self.sharesConnections = sharesConnections
    }
}

/// Downloads small content into memory, unnoticed by the engine's owner.
package protocol ContentFetching: Sendable {
    var clock: any Clock { get }

    /// Calls `completion` once, on any thread; with `nil` for anything but a complete response of the same host, of at
    /// most `limit` bytes.
    func fetch(
        _ address: WebAddress, on terms: FetchTerms, limit: Int, before end: Instant,
        completion: @escaping @Sendable (FetchedContent?) -> Void)
}

package struct FetchedContent: Hashable, Sendable {
    package var bytes: [UInt8]
    /// Content-Type.
    package var contentType: String?
    /// Content-Encoding: that of the bytes.
    package var coding: String?

    package init(bytes: [UInt8], contentType: String?, coding: String?) {
        self.bytes = bytes
        self.contentType = contentType
        self.coding = coding
    }
}
