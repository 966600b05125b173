package import Pawl
package import PawlBase
package import PawlCollections
import PawlIntake
import PawlTerminal

extension GetPlan {
    /// An item that stands for several files.
    package struct Collection: Sendable {
        package let item: Item
        package let source: CollectionSource
        package let lister: any CollectionLister
        /// Where the files are to be.
        package let folder: String
        /// Whether the files are not in the folder: they have a name of their own, or become objects.
        let isElsewhere: Bool
        /// The user info of its URL, which those of its entries lack: with an at sign, or empty.
        let login: String

        init(
            _ item: Item, _ source: CollectionSource, _ options: GetOptions, _ download: DownloadOptions
        ) throws(Failure) {
            self.item = item
            self.source = source
            isElsewhere = options.output != nil || options.target != nil
            let target: CollectionSource.Target =
                options.output != nil ? .file : options.folder != nil || isElsewhere ? .folder(download.folder) : .usual
            lister = try source.lister(options.listing, to: target, download, options.connections)
            folder = lister.folder ?? download.folder
            let credentials = (try? WebAddress.parse(item.source))?.credentials
            login =
                credentials.map { login in
                    [login.user, login.password].map { PercentCoding.reversible($0.utf8, keepingSlash: false) }
                        .joined(separator: ":") + "@"
                } ?? ""
        }

        /// A listing of it, see ``CollectionRun``.
        package func run(
            remembersPaths: Bool = false, isForDownload: Bool = false,
            onChange: @escaping @Sendable () -> Void = {}
        ) -> CollectionRun {
            CollectionRun(
                lister, into: isElsewhere ? nil : folder, remembersPaths: remembersPaths, isForDownload: isForDownload,
                onChange: onChange)
        }
    }

    /// Takes out the items that stand for several files; nothing is requested yet.
    package mutating func list() throws(Failure) {
        var single: [Item] = []
        for item in items {
            guard
                let source = try CollectionSource(
                    item.source, isRecursive: options.listing.isRecursive, options.download)
            else {
                single.append(item)
                continue
            }
            if options.output != nil {
                guard case .repository = source else {
                    throw OptionValues.bad(
                        "output", options.output ?? "", "there are several files; use --dir for their folder")
                }
            }
            var download = try downloadOptions(for: item)
            if options.readsNetrc, download.netrc == nil { download.netrc = NetrcPermission.usual() }
            collections.append(try Collection(item, source, options, download))
        }
        items = single
    }

    /// What the user may have meant by a URL that looks like a folder's, for text output.
    package var folderNotice: String? {
        guard !options.isQuiet, !options.isJSON, options.output == nil, options.target == nil,
            let item = items.first(where: { $0.source.utf8.last == .slash && !$0.hasOwnOptions }),
            let address = try? WebAddress.parse(item.source).address, address.path.utf8.count > 1, !address.isLocated
        else { return nil }
        return "\(address.redacted) ends with /: its page is one file; --recursive downloads the files below it"
    }

    /// Throws if options are given that need something to list, though there is nothing; called after all of it was listed.
    package func checkUnused() throws(Failure) { try checkUnused(collections.map(\.source)) }

    /// The same, where these URLs stand for several files.
    package func checkUnused(_ sources: [CollectionSource]) throws(Failure) {
        func unused(_ option: String, _ why: String) -> Failure {
            Failure(.badOption, "cannot use", at: "--\(option)", because: .init(stringLiteral: why))
        }
        let hasImage = sources.contains { if case .image = $0 { true } else { false } }
        if !hasImage, options.listing.isArtifact || options.listing.platform != nil {
            let option = options.listing.isArtifact ? "artifact" : "platform"
            throw unused(option, "it is for oci:// and docker:// only")
        }
        guard sources.isEmpty, let option = options.listingOption else { return }
        throw unused(option, "no URL is a folder: end it with /, as s3://BUCKET/PREFIX/ and https://HOST/FOLDER/")
    }
}

extension GetPlan.Item {
    /// The file of an entry; the lines are those of the collection's URL.
    init(_ planned: PlannedEntry, of collection: GetPlan.Collection) {
        let entry = planned.entry
        var lines = collection.item.lines.filter { !["out", "output"].contains($0.name) }
        func add(_ name: String, _ value: String) { lines.append(InputOption(name: name, value: value, line: 0)) }
        if !collection.isElsewhere {
            let (folder, path) = entry.location(in: collection.folder)
            if collection.lister.folder != nil { add("dir", folder) }
            add("out", "./" + path)
        }
        var replaced: FileStamp?
        switch planned.state {
        case .missing, .unchanged: if entry.replaces { add("if-exists", "overwrite") }
        // What the entry was before gives way to what it is.
        case .outdated(let stamp), .perhapsOutdated(let stamp):
            replaced = stamp
            add("if-exists", "overwrite")
        }
        if let checksum = entry.checksum { add("checksum", checksum) }
        if !entry.mayHaveSums { add("verify", "auto") }
        if entry.proof != .facts, let size = entry.size { add("length", "\(size)") }
        let source = entry.address
        let start = source.firstRange(of: "://")?.upperBound ?? source.startIndex
        self.init(
            source: collection.login.isEmpty ? source : source[..<start] + collection.login + source[start...],
            mirrors: [], lines: lines, digests: entry.digest.map { [$0] } ?? [], replaces: replaced)
    }
}
