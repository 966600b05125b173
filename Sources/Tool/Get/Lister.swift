package import Pawl
package import PawlBase
package import PawlCollections
import PawlIntake
import PawlTerminal

/// Knows how to list what a URL stands for, where that is several files.
package protocol Lister: Sendable {
    /// Whether the item stands for several files.
    func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool
    /// What lists them, for the folder of `download`.
    func lister(
        for item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> any CollectionLister
}

extension GetPlan {
    /// An item that stands for several files.
    package struct Collection: Sendable {
        package let item: Item
        package let lister: any CollectionLister
        /// Where the files are to be.
        package let folder: String
        /// The user info of its URL, which those of its entries lack: with an at sign, or empty.
        let login: String

        init(_ item: Item, _ lister: any CollectionLister, folder: String) {
            self.item = item
            self.lister = lister
            self.folder = folder
            let credentials = (try? WebAddress.parse(item.source))?.credentials
            login =
                credentials.map { login in
                    [login.user, login.password].map { PercentCoding.reversible($0.utf8, keepingSlash: false) }
                        .joined(separator: ":") + "@"
                } ?? ""
        }
    }

    /// Takes out the items that stand for several files; nothing is requested yet.
    package mutating func list(with listers: [any Lister]) throws(Failure) {
        var single: [Item] = []
        for item in items {
            guard let lister = listers.first(where: { $0.lists(item, options) }) else {
                single.append(item)
                continue
            }
            if options.output != nil {
                throw OptionValues.bad(
                    "output", options.output ?? "", "there are several files; use --dir for their folder")
            }
            var download = try downloadOptions(for: item)
            if options.readsNetrc, download.netrc == nil { download.netrc = NetrcPermission.usual() }
            collections.append(
                Collection(item, try lister.lister(for: item, options, download), folder: download.folder))
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
    package func checkUnused() throws(Failure) {
        guard collections.isEmpty, !hasPlaced, let option = options.listingOption else { return }
        throw Failure(
            .badOption, "cannot use", at: "--\(option)",
            because: "no URL is a folder: end it with /, as s3://BUCKET/PREFIX/ and https://HOST/FOLDER/")
    }
}

extension GetPlan.Item {
    /// The file of an entry; the lines are those of the collection's URL.
    init(_ planned: PlannedEntry, of collection: GetPlan.Collection) {
        var lines = collection.item.lines.filter { !["out", "output"].contains($0.name) }
        lines.append(InputOption(name: "out", value: "./" + planned.entry.path, line: 0))
        var replaced: FileStamp?
        switch planned.state {
        case .missing, .unchanged: break
        // What the entry was before gives way to what it is.
        case .outdated(let stamp), .perhapsOutdated(let stamp):
            replaced = stamp
            lines.append(InputOption(name: "if-exists", value: "overwrite", line: 0))
        }
        if let checksum = planned.entry.checksum {
            lines.append(InputOption(name: "checksum", value: checksum, line: 0))
        }
        if !planned.entry.mayHaveSums { lines.append(InputOption(name: "verify", value: "auto", line: 0)) }
        let source = planned.entry.address
        let start = source.firstRange(of: "://")?.upperBound ?? source.startIndex
        self.init(
            source: collection.login.isEmpty ? source : source[..<start] + collection.login + source[start...],
            mirrors: [], lines: lines, digests: planned.entry.digest.map { [$0] } ?? [], replaces: replaced)
    }
}
