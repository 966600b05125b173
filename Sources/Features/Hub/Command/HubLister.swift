import Glibc
package import Pawl
package import PawlBase
import PawlCollections
package import PawlGet
import PawlHub
import PawlIntake
import PawlTerminal

/// Lists the files of a repository of a model hub, into its cache or a folder.
package struct HubLister: PlacedLister {
    package init() {}

    package func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool { Self.address(item, options) != nil }

    package func list(
        _ item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> GetPlan.Placement {
        guard let address = try Self.address(item, options)?.get() else { preconditionFailure("only hubs are listed") }
        let environment = HubEnvironment.ofProcess
        guard !environment.isOffline else {
            throw Failure(
                .rejected, "cannot list", at: address.text, because: "HF_HUB_OFFLINE is set",
                remedy: "unset it to download")
        }
        let client = try HubClient(download, deniesPrivateAddresses: options.deniesPrivateAddresses)
        let listing = try client.list(address)
        let wanted = listing.selected.filter { entry in
            options.filter.takes(CollectionEntry(path: entry.path, address: "", size: entry.size, isExact: true))
        }
        var found = GetPlan.Placement()
        found.refused = listing.refused.map { refused in
            Failure(
                .badResponse, "cannot download", at: "\(address.text): \(Redaction.printable(refused.path))",
                because: refused.why)
        }
        if options.folder == nil, options.output == nil, options.target == nil {
            guard let root = environment.cache else {
                throw Failure(
                    .badOption, "missing", at: "HOME", because: "the cache of the hub is below it",
                    remedy: "set HF_HUB_CACHE, or give a folder with --dir")
            }
            try Self.fill(&found, wanted, of: listing, into: HubCache(at: root, for: listing), options)
        } else {
            try Self.fill(&found, wanted, of: listing, in: download.folder, options)
        }
        return found
    }

    /// As plain files, each below the folder at its path.
    private static func fill(
        _ found: inout GetPlan.Placement, _ wanted: [HubEntry], of listing: HubClient.Listing, in folder: String,
        _ options: GetOptions
    ) throws(Failure) {
        if options.output != nil, wanted.count != 1 || !listing.isFile {
            throw Failure(
                .badOption, "cannot use", at: "--output",
                because: "a repository has several files; use --dir for their folder")
        }
        for entry in wanted {
            guard let checksum = entry.checksum else { continue }
            let isThere =
                options.output == nil && options.target == nil
                && PresentFile.has(checksum, length: entry.size, at: "\(folder)/\(entry.path)")
            if isThere {
                found.unchanged += 1
                continue
            }
            let own = options.output == nil ? [line("out", "./" + entry.path)] : []
            found.items.append(item(entry, of: listing, checksum, own))
        }
    }

    /// As blobs of the cache; the snapshot's links follow when they are there.
    private static func fill(
        _ found: inout GetPlan.Placement, _ wanted: [HubEntry], of listing: HubClient.Listing, into cache: HubCache,
        _ options: GetOptions
    ) throws(Failure) {
        var tags: Set<String> = []
        let blobs = wanted.filter { tags.insert($0.tag).inserted }
        var locks: HubLocks?
        if !options.isDryRun {
            try cache.begin()
            locks = try cache.lock(blobs.filter { !cache.has($0) }) { path in
                guard !options.isQuiet else { return }
                tell("waiting for another program that fetches the same file: \(path)")
            }
        }
        for entry in blobs {
            guard let checksum = entry.checksum else { continue }
            if cache.has(entry) {
                found.unchanged += 1
                continue
            }
            let lines = [line("dir", cache.blobs), line("out", "./" + entry.tag), line("if-exists", "overwrite")]
            found.items.append(item(entry, of: listing, checksum, lines))
        }
        found.completion = { [locks] () throws(Failure) in
            try cache.complete(wanted)
            withExtendedLifetime(locks) {}
            if !options.isQuiet, !options.isJSON { tell(cache.snapshot) }
        }
    }

    private static func tell(_ text: String) {
        var errors = OutputFile(descriptor: STDERR_FILENO)
        errors.appendLine(text)
        errors.flush()
    }

    private static func item(
        _ entry: HubEntry, of listing: HubClient.Listing, _ checksum: Checksum, _ lines: [InputOption]
    ) -> GetPlan.Item {
        let facts = [line("checksum", checksum.text), line("length", "\(entry.size)")]
        return GetPlan.Item(source: listing.address(of: entry), mirrors: [], lines: lines + facts)
    }

    private static func line(_ name: String, _ value: String) -> InputOption {
        InputOption(name: name, value: value, line: 0)
    }

    package func checkUnused(_ options: GetOptions) throws(Failure) {}

    /// The repository that an item names; `nil` for what is no address and no page of a hub.
    private static func address(_ item: GetPlan.Item, _ options: GetOptions) -> Result<HubAddress, Failure>? {
        if HubAddress.isHub(item.source) {
            return Result { () throws(Failure) in try HubAddress(item.source) }
        }
        // Most of a list are none: no text is made of them.
        guard
            item.source.utf8.firstRange(of: "/tree/".utf8) != nil
                || item.source.utf8.firstRange(of: "/blob/".utf8) != nil,
            let access = try? HubAccess(HubOptions(options.download)),
            let page = HubAddress(page: item.source, of: access.endpoint)
        else { return nil }
        return .success(page)
    }
}
