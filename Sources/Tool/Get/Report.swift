package import Pawl
package import PawlCollections

/// An event of one download to be printed as text or JSON.
package struct Report: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// `total` is `nil` while unknown; `resumedAt` is 0 for a fresh file.
        case started(total: Int64?, resumedAt: Int64)
        case notice(String)
        /// `delay` in seconds.
        indirect case retry(PawlError, delay: Double)
        case waitingForNetwork
        case waitingForDisk
        case verifying
        case paused
        indirect case finished(DownloadedFile)
        indirect case failed(PawlError)
        /// The folder has the file of a collection already; `length` as the listing states it.
        case unchanged(path: String, length: Int64?)
        /// A collection was listed.
        indirect case listed(ListingTally)
        /// A file that a collection no longer has was removed.
        case removed(path: String)
    }

    /// Counts from 1; `nil` for a rejected URL.
    package var id: UInt64?
    /// The URL, secrets redacted.
    package var source: String
    /// The file's name once known.
    package var name: String?
    package var kind: Kind

    package init(id: UInt64?, source: String, name: String?, kind: Kind) {
        self.id = id
        self.source = source
        self.name = name
        self.kind = kind
    }
}
