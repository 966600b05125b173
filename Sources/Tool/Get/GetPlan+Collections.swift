package import Pawl
package import PawlBase
package import PawlCollections
import PawlIntake
import PawlJournal
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
        private let isElsewhere: Bool
        /// Those of each file: with the login of its URL, which the URLs of its entries lack.
        private let options: DownloadOptions

        init(
            _ item: Item, _ source: CollectionSource, _ options: GetOptions, _ download: DownloadOptions
        ) throws(Failure) {
            self.item = item
            self.source = source
            let target = try Self.target(of: source, options, download)
            isElsewhere = target == .file || options.target != nil
            lister = try source.lister(options.listing, to: target, download, options.connections)
            folder = lister.folder ?? download.folder
            self.options = source.options(download)
        }

        private static func target(
            of source: CollectionSource, _ options: GetOptions, _ download: DownloadOptions
        ) throws(Failure) -> CollectionSource.Target {
            guard let output = options.output else {
                return options.folder != nil || options.target != nil ? .folder(download.folder) : .usual
            }
            switch source {
            case .repository: return .file
            case .image:
                let flaw =
                    options.stream == nil
                    ? source.archiveFlaw(output, options.listing) : "an image becomes a folder or a file, not a stream"
                if let flaw { throw OptionValues.bad("output", output, flaw) }
                let name = download.fileName ?? output
                return .archive(download.folder == "." ? name : "\(download.folder)/\(name)")
            case .torrent where source.isOneFile: return .file
            case .tree, .prefix, .torrent:
                throw OptionValues.bad("output", output, "there are several files; use --dir for their folder")
            }
        }

        /// The download of an entry, and the only file that it may replace.
        package func download(
            of planned: PlannedEntry
        ) throws(PawlError) -> (options: DownloadOptions, replaced: FileStamp?) {
            var own = options
            let replaced = isElsewhere ? try own.take(planned, at: nil) : try own.take(planned, below: folder)
            return (own, replaced)
        }

        /// What has to give way before an entry can be downloaded.
        func obstacle(of planned: PlannedEntry) -> PlaceObstacle? {
            isElsewhere ? nil : PlaceObstacle(of: planned.entry, below: folder)
        }

        /// Where an entry's file is to be, if the name of that looks like a part file or journal of another.
        func placeLikePart(of planned: PlannedEntry) -> (folder: String, name: String)? {
            guard !isElsewhere, FileName.looksLikePart(planned.entry.path) else { return nil }
            let (folder, path) = planned.entry.location(in: folder)
            let name = path.pathParts().last.map(String.init) ?? path
            let parent = Substring(path.utf8.dropLast(name.utf8.count + 1))
            return (parent.isEmpty ? folder : "\(folder)/\(parent)", name)
        }

        /// A listing of it, see ``CollectionRun``.
        package func run(
            remembersPaths: Bool = false, isForDownload: Bool = false, settles: Bool = false,
            onChange: @escaping @Sendable () -> Void = {}
        ) -> CollectionRun {
            CollectionRun(
                lister, into: isElsewhere ? nil : folder, remembersPaths: remembersPaths, isForDownload: isForDownload,
                settles: settles && !isElsewhere, onChange: onChange)
        }
    }

    /// Takes out the items that stand for several files; nothing is requested yet.
    package mutating func list() throws(Failure) {
        var single: [Item] = []
        for item in items {
            guard let source = try source(of: item) else {
                single.append(item)
                continue
            }
            var download = try downloadOptions(for: item)
            if options.readsNetrc, download.netrc == nil { download.netrc = NetrcPermission.usual() }
            collections.append(try Collection(item, source, options, download))
        }
        items = single
    }

    /// What an item stands for if that is several files.
    package func source(of item: Item) throws(Failure) -> CollectionSource? {
        try CollectionSource(item.source, isRecursive: options.listing.isRecursive, options.download)
    }

    /// What the user may have meant by a URL that looks like a folder's, for text output.
    package var folderNotice: String? {
        guard !options.isQuiet, !options.isJSON, options.output == nil, options.target == nil,
            let item = items.first(where: { $0.source.utf8.last == .slash && !$0.hasOwnOptions }),
            let address = try? WebAddress.parse(item.source).address, address.path.utf8.count > 1,
            address.scheme == .http || address.scheme == .https
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
