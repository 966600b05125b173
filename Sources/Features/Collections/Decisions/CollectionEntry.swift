package import PawlBase
package import PawlJournal

/// A file or a folder that a listing names.
package struct CollectionEntry: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case file
        case folder
        /// A symbolic link, where a listing tells links from what they lead to.
        case link
    }

    /// What shows that a file which is there is the entry.
    package enum Proof: Hashable, Sendable {
        /// What the listing says of it, and what is known of the file's download.
        case facts
        /// Its digest, or those of its pieces: all of it is read.
        case digest
        /// Its name, which is that of its digest; then its length is enough.
        case name
    }

    /// Below the collection: checked names, separated by slashes.
    @Bytewise package var path: String
    /// Where its file is below the folder, if that was not chosen by others, as `path` was.
    package var place: String?
    /// Its URL.
    package var address: String
    package var kind: Kind
    /// In bytes; `nil` if the listing does not say.
    package var size: Int64?
    /// Whether `size` is the number of bytes, and not a rounded one.
    package var isExact: Bool
    package var modified: UnixTime?
    /// How many seconds `modified` may stand for: 60 where a listing has minutes.
    package var timeStep: Int64
    /// A strong entity tag, without its quotes.
    package var entityTag: String?
    /// A digest of the content, in the form of ``DownloadOptions/checksum``.
    package var checksum: String?
    /// What a sums file of the collection states.
    package var digest: ExpectedDigest?
    /// Whether a file that is there counts only by a digest, whatever else shows that it is unchanged.
    package var needsDigest = false
    /// Whether a sums file beside it could be missing in the listing.
    package var mayHaveSums = true
    package var mediaType: String?
    /// Other URLs of the same file.
    package var mirrors: [String] = []
    /// The digests of its pieces.
    package var pieces: PieceHashes?
    package var proof = Proof.facts
    /// Whether the file replaces any that has its name.
    package var replaces = false

    package init(
        path: String, address: String, kind: Kind = .file, size: Int64? = nil, isExact: Bool = false,
        modified: UnixTime? = nil, timeStep: Int64 = 1, entityTag: String? = nil, checksum: String? = nil
    ) {
        _path = Bytewise(path)
        self.address = address
        self.kind = kind
        self.size = size
        self.isExact = isExact
        self.modified = modified
        self.timeStep = timeStep
        self.entityTag = entityTag
        self.checksum = checksum
    }

    /// Its file below the folder.
    package var file: String { place ?? path }

    /// The folder of its file and the path below, in which no link may lead elsewhere.
    package func location(in folder: String) -> (folder: String, path: String) {
        guard let place, let slash = place.utf8.lastIndex(of: .slash) else { return (folder, file) }
        return ("\(folder)/\(place[..<slash])", String(place[slash...].dropFirst()))
    }

    /// Whether length and time together may show that a file is unchanged.
    package var describesContent: Bool { isExact && size != nil && modified != nil }
}

/// What a listing says of one name, before it is known whether it belongs to the collection.
package struct ListedLink: Hashable, Sendable {
    /// A reference relative to the page (RFC 3986 §4.2): percent-encoded, ends with a slash for a folder.
    package var reference: [UInt8]
    package var size: Int64?
    package var isExact = false
    package var modified: UnixTime?
    package var timeStep: Int64 = 1
    package var entityTag: String?
    package var checksum: String?
    package var isLink = false

    package init(_ reference: [UInt8]) { self.reference = reference }

    /// One of a name, which is no reference yet.
    package init(name: some Collection<UInt8>, isFolder: Bool) {
        reference = Array((PercentCoding.reversible(name, keepingSlash: false) + (isFolder ? "/" : "")).utf8)
    }
}
