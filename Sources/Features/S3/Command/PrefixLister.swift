package import Pawl
package import PawlBase
package import PawlGet
import PawlIntake
import PawlS3

/// Lists the objects of a prefix of keys.
package struct PrefixLister: Lister {
    package init() {}

    package func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool { Self.prefix(item, options) != nil }

    package func list(
        _ item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> GetPlan.Listing {
        guard let prefix = Self.prefix(item, options) else { preconditionFailure("only prefixes are listed") }
        if options.output != nil {
            throw Self.misuse("output", "a prefix has several files; use --dir for their folder")
        }
        var selection = PrefixListing.Selection()
        selection.isRecursive = options.isRecursive
        selection.includes = options.includes.map(KeyPattern.init)
        selection.excludes = options.excludes.map(KeyPattern.init)
        let store = try ObjectStore(download, deniesPrivateAddresses: options.deniesPrivateAddresses)
        let found = try PrefixListing(store, prefix, selection, into: download.folder)
        return GetPlan.Listing(
            items: found.entries.map { GetPlan.Item($0, item.lines) }, unchanged: found.unchanged,
            refused: found.refused)
    }

    package func checkUnused(_ options: GetOptions) throws(Failure) {
        guard options.isRecursive || !options.includes.isEmpty || !options.excludes.isEmpty else { return }
        let option = options.isRecursive ? "recursive" : !options.includes.isEmpty ? "include" : "exclude"
        throw Self.misuse(option, "it is for s3://BUCKET/PREFIX/ only")
    }

    private static func misuse(_ option: String, _ why: String) -> Failure {
        Failure(.badOption, "cannot use", at: "--\(option)", because: why)
    }

    /// The prefix that an item names; `nil` for one file.
    private static func prefix(_ item: GetPlan.Item, _ options: GetOptions) -> WebAddress? {
        // Most of a list are none: no text is made of them.
        guard item.source.utf8.prefix(3).isCaseInsensitively("s3:"),
            var address = try? WebAddress.parse(item.source).address,
            address.isPrefix || options.isRecursive
        else { return nil }
        if !address.isPrefix { address.path += "/" }
        return address
    }
}

extension GetPlan.Item {
    fileprivate init(_ entry: PrefixListing.Entry, _ lines: [InputOption]) {
        var lines = lines + [InputOption(name: "out", value: "./" + entry.path, line: 0)]
        // What the object was before gives way to what it is.
        if entry.isOutdated { lines.append(InputOption(name: "if-exists", value: "overwrite", line: 0)) }
        self.init(source: entry.address, mirrors: [], lines: lines)
    }
}
