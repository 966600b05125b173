#if Features
package import PawlBase
package import PawlCollections
package import PawlHub
package import PawlRegistry
import PawlS3
package import PawlTorrent

/// A URL that stands for several files, by what lists them: one case for each kind.
package enum CollectionSource: Hashable, Sendable {
    /// The files below a page of links, or in a folder of an FTP or SFTP server.
    case tree(WebAddress, Credentials?)
    /// The objects of a prefix of keys.
    case prefix(WebAddress)
    case repository(HubAddress)
    case image(RegistryReference)
    /// The files of a torrent, and where that is, for messages.
    case torrent(Torrent, at: String)

    /// `nil` for the URL of one file.
    ///
    /// `isRecursive`: whether folders are listed. `options` say which hub's pages are known. Throws code 28 for an address of a hub or registry that is none.
    package init?(_ source: String, isRecursive: Bool, _ options: DownloadOptions) throws(Failure) {
        // Most of a list are none: no text is made of them.
        if source.utf8.starts(with: Self.torrentMark.utf8) {
            self = try Self.torrent(in: source)
        } else if HubAddress.isHub(source) {
            self = .repository(try HubAddress(source))
        } else if RegistryReference.scheme(of: source) != nil {
            self = .image(try RegistryReference(source))
        } else if let page = Self.page(source, options) {
            self = .repository(page)
        } else if source.utf8.prefix(3).isCaseInsensitively("s3:") {
            guard var address = try? WebAddress.parse(source).address, address.isPrefix || isRecursive else {
                return nil
            }
            if !address.isPrefix { address.path += "/" }
            self = .prefix(address)
        } else {
            guard isRecursive, source.utf8.contains(.slash),
                let (address, credentials) = try? WebAddress.parse(source), !address.isLocated, address.query == nil,
                address.path.utf8.last == .slash
            else { return nil }
            self = .tree(address, credentials)
        }
    }

    /// Whether it may also be requested as one file, as a file of a repository or a blob of a registry.
    package var namesFile: Bool {
        switch self {
        case .tree, .prefix, .torrent: false
        case .repository(let address): !address.path.isEmpty
        case .image(let reference): reference.scheme == .oci && reference.digest != nil
        }
    }

    /// Whether it is known to have one file, which gets the name of the options.
    package var isOneFile: Bool {
        if case .torrent(let torrent, _) = self { torrent.content.count == 1 } else { false }
    }

    private static func page(_ source: String, _ options: DownloadOptions) -> HubAddress? {
        // No search of a whole text in each: most URLs are none, and lists are long.
        var rest = source.utf8[...]
        repeat {
            guard let slash = rest.firstIndex(of: .slash) else { return nil }
            rest = rest[slash...].dropFirst()
        } while !rest.starts(with: "tree/".utf8) && !rest.starts(with: "blob/".utf8)
        guard let access = try? HubAccess(HubOptions(options))
        else { return nil }
        return HubAddress(page: source, of: access.endpoint)
    }

    /// The options of each request: URLs of entries have no login, and that of the given one is for its origin.
    package func options(_ options: DownloadOptions) -> DownloadOptions {
        guard case .tree(_, let credentials?) = self, options.user == nil else { return options }
        var own = options
        (own.user, own.password) = (credentials.user, credentials.password)
        return own
    }

    /// The last part of its path, as the name of a folder.
    var name: String {
        let parts: [Substring]
        let other: String
        switch self {
        case .tree(let address, _): (parts, other) = (address.path.pathParts(), address.host)
        case .prefix(let address): (parts, other) = (address.key.pathParts(), address.bucket)
        case .repository(let address): (parts, other) = (address.repository.pathParts(), "")
        case .image(let reference): (parts, other) = (reference.name.pathParts(), "")
        // Its paths begin with its name.
        case .torrent: return ""
        }
        let text = parts.last.map(String.init) ?? other
        let name = String(decoding: PercentCoding.decoded(text.utf8), as: UTF8.self)
        return (try? EntryName.path([Array(name.utf8)])) ?? "collection"
    }

    /// Where its files are to be.
    package enum Target: Hashable, Sendable {
        /// The folder that is usual for its kind: the cache of a hub's libraries, Ollama's folder, one with an image's name.
        case usual
        case folder(String)
        /// One file, which gets the name of the options.
        case file
        /// One file with all of an image, at a path.
        case archive(String)
    }

    /// Why it cannot become one archive at a path; `nil` if it can.
    package func archiveFlaw(_ path: String, _ listing: ListingOptions) -> String? {
        guard case .image(let reference) = self, ArchiveFile.mayHold(reference, isArtifact: listing.isArtifact) else {
            return "only an image of oci:// or docker:// becomes one file"
        }
        let isNamed = path.hasSuffix(ArchiveFile.ending) && path.utf8.count > ArchiveFile.ending.utf8.count
        return isNamed ? nil : "an image becomes a folder, or one file whose name ends with \(ArchiveFile.ending)"
    }

    /// What lists it, with the logins, proxy and header fields of these downloads.
    package func lister(
        _ listing: ListingOptions, to target: Target, _ download: DownloadOptions,
        _ configuration: Downloader.Configuration
    ) throws(Failure) -> any CollectionLister {
        let deniesPrivate = configuration.deniesPrivateAddresses || download.deniesPrivateAddresses
        try check(download)
        switch self {
        case .tree(let root, _):
            var tree = TreeLister.Options()
            (tree.filter, tree.limits, tree.obeysRobots) = (listing.filter, listing.limits, listing.obeysRobots)
            (tree.followsLinks, tree.namesFolders) = (listing.followsLinks, listing.namesFolders)
            let own = options(download)
            if !listing.namesFolders { tree.sums = own.sumsUse }
            return TreeLister(root, tree, pages: DownloadedPages(own, configuration))
        case .prefix(let address):
            let store = try ObjectStore(download, deniesPrivateAddresses: deniesPrivate)
            return PrefixLister(store, address, listing.filter, isRecursive: listing.isRecursive)
        case .repository(let address):
            let client = try HubClient(download, deniesPrivateAddresses: deniesPrivate)
            return try HubLister(
                client, address, listing.filter, to: try Self.place(of: target), mirrors: download.mirrors)
        case .image(let reference):
            let client = try RegistryClient(download, deniesPrivateAddresses: deniesPrivate)
            var folder: String?
            var archive: ArchiveFile?
            if case .folder(let path) = target { folder = path }
            if case .archive(let path) = target { archive = ArchiveFile(path, IfExists(download.existingFile)) }
            return try RegistryLister(
                client, reference, platform: listing.platform, isArtifact: listing.isArtifact, listing.filter,
                into: folder, archive: archive)
        case .torrent(let torrent, let place):
            var folder: String?
            if case .folder(let path) = target { folder = path }
            return TorrentLister(
                torrent, at: place, listing.filter, from: DownloadedParts(download, configuration),
                in: folder ?? download.folder)
        }
    }

    /// Throws code 28 for an option that is for one file: here it would be left out, or applied to each.
    private func check(_ options: DownloadOptions) throws(Failure) {
        let one = LocalizableMessage("for-one-file", "it is for one file, and there may be several")
        if let checksum = options.checksum { throw Failure(refusing: .checksum, checksum, because: one) }
        if let range = options.range { throw Failure(refusing: .range, range, because: one) }
        if let length = options.expectedLength { throw Failure(refusing: .expectedLength, "\(length)", because: one) }
        if let mirror = options.mirrors.first {
            guard case .repository = self else {
                throw Failure(
                    refusing: .mirror, Redaction.address(mirror),
                    because: "it is for one file, or for a repository of a hub (hf://)")
            }
        }
    }

    private static func place(of target: Target) throws(Failure) -> HubLister.Target {
        switch target {
        case .folder: return .folder
        case .file, .archive: return .file
        case .usual:
            guard let cache = HubEnvironment.ofProcess.cache else {
                throw Failure(
                    .badOption, "missing", at: "HOME", because: "the cache of the hub is below it",
                    remedy: "set HF_HUB_CACHE, or give a folder")
            }
            return .cache(cache)
        }
    }
}

/// What is listed of a collection.
package struct ListingOptions: Hashable, Sendable {
    /// Whether a URL that ends with a slash stands for all files below it.
    package var isRecursive = false
    package var filter = EntryFilter()
    package var limits = TreeWalk.Limits()
    package var obeysRobots = true
    package var followsLinks = true
    /// Whether folders are entries too.
    package var namesFolders = false
    /// Of a registry's index, `OS/ARCHITECTURE[/VARIANT]` or `all`; `nil` for this machine's.
    package var platform: String?
    /// Whether the blobs of an artifact become files under their titles.
    package var isArtifact = false

    package init() {}
}
#endif
