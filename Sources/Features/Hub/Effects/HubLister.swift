package import PawlBase
package import PawlCollections

/// Lists the files of a repository of a model hub.
package struct HubLister: CollectionLister {
    /// Where its files go.
    package enum Target: Hashable, Sendable {
        /// The cache at this path, as blobs.
        case cache(String)
        /// The user's folder.
        case folder
        /// A name that the user has chosen: the address must be that of one file.
        case file
    }

    private let client: HubClient
    private let address: HubAddress
    private let filter: EntryFilter
    private let target: Target
    /// Hubs that have the same repository.
    private let mirrors: [HubAccess]

    /// Throws code 28 for a URL of `mirrors` that is none of a hub.
    package init(
        _ client: HubClient, _ address: HubAddress, _ filter: EntryFilter, to target: Target, mirrors: [String] = []
    ) throws(Failure) {
        self.client = client
        var accesses: [HubAccess] = []
        for mirror in mirrors { accesses.append(try HubAccess(mirror: mirror)) }
        self.mirrors = accesses
        self.address = address
        self.filter = filter
        self.target = target
    }

    package var source: String { address.text }

    package var folder: String? {
        guard case .cache(let root) = target else { return nil }
        return "\(root)/\(HubCacheLayout(address).folder)"
    }

    package func list(into sink: ListingSink) throws(Failure) {
        guard !HubEnvironment.ofProcess.isOffline else {
            throw Failure(
                .rejected, "cannot list", at: address.text, because: "HF_HUB_OFFLINE is set",
                remedy: "unset it to download")
        }
        let listing = try client.list(address)
        for refused in listing.refused {
            sink.refuse(
                Failure(
                    .badResponse, "cannot download", at: "\(address.text): \(Redaction.printable(refused.path))",
                    because: refused.why))
        }
        if target == .file, !listing.isFile {
            throw Failure(
                .badOption, "cannot use", at: "--output",
                because: "a repository has several files; use --dir for their folder")
        }
        let wanted = listing.selected.filter { entry in
            filter.takes(CollectionEntry(path: entry.path, address: "", size: entry.size, isExact: true))
                && filter.maximumDepth ?? .max >= entry.path.utf8.count { $0 == .slash }
        }
        guard case .cache(let root) = target else {
            sink.put(wanted.map { entry($0, of: listing) })
            return
        }
        var tags: Set<String> = []
        let blobs = wanted.filter { tags.insert($0.tag).inserted }
        if sink.isForDownload { try fill(HubCache(at: root, for: listing), blobs, wanted, sink) }
        sink.put(
            blobs.map { blob in
                var entry = self.entry(blob, of: listing)
                (entry.place, entry.proof, entry.replaces) = ("blobs/\(blob.tag)", .name, true)
                return entry
            })
    }

    /// The snapshot's links follow when the blobs are there.
    private func fill(
        _ cache: HubCache, _ blobs: [HubEntry], _ wanted: [HubEntry], _ sink: ListingSink
    ) throws(Failure) {
        try cache.begin()
        let locks = try cache.lock(blobs.filter { !cache.has($0) }) { path in
            sink.tell("waiting for another program that fetches the same file: \(path)")
        }
        sink.follow { () throws(Failure) in
            try cache.complete(wanted)
            withExtendedLifetime(locks) {}
            return cache.snapshot
        }
    }

    private func entry(_ entry: HubEntry, of listing: HubClient.Listing) -> CollectionEntry {
        var found = CollectionEntry(
            path: entry.path, address: listing.address(of: entry), size: entry.size, isExact: true,
            checksum: entry.checksum?.text)
        found.proof = .digest
        let file = listing.address.at(listing.commit, path: entry.path).filePath
        found.mirrors = mirrors.map { $0.url(file).text }
        return found
    }
}
