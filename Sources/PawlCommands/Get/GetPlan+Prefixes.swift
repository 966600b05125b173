import Pawl
import PawlCore

extension GetPlan {
    /// Replaces the prefixes of object stores by their objects; blocks while they are listed.
    ///
    /// Returns the exit code for keys that were refused, 0 for none.
    mutating func listPrefixes() throws(Failure) -> Int32 {
        guard items.contains(where: { Self.prefix($0, options) != nil }) else {
            let option = options.isRecursive ? "recursive" : !options.includes.isEmpty ? "include" : "exclude"
            if options.isRecursive || !options.includes.isEmpty || !options.excludes.isEmpty {
                throw Self.misuse(option, "it is for s3://BUCKET/PREFIX/ only")
            }
            return 0
        }
        if options.output != nil {
            throw Self.misuse("output", "a prefix has several files; use --dir for their folder")
        }
        var selection = PrefixListing.Selection()
        selection.isRecursive = options.isRecursive
        selection.includes = options.includes
        selection.excludes = options.excludes
        var code: Int32 = 0
        var unchanged = 0
        var listed: [Item] = []
        for item in items {
            guard let prefix = Self.prefix(item, options) else {
                listed.append(item)
                continue
            }
            let own = try downloadOptions(for: item)
            let store = try ObjectStore(own, deniesPrivateAddresses: options.deniesPrivateAddresses)
            let listing = try PrefixListing(store, prefix, selection, into: own.folder)
            unchanged += listing.unchanged
            for failure in listing.refused {
                printFailure(failure)
                code = Int32(failure.code.rawValue)
            }
            listed += listing.entries.map { Item($0, item.lines) }
        }
        replace(with: listed, unchanged: unchanged)
        return code
    }

    private static func misuse(_ option: String, _ why: String) -> Failure {
        Failure(.badOption, "cannot use", at: "--\(option)", because: why)
    }

    /// The prefix that an item names; `nil` for one file.
    private static func prefix(_ item: Item, _ options: GetOptions) -> WebAddress? {
        guard item.source.lowercased().hasPrefix("s3:"), var address = try? WebAddress.parse(item.source).address,
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
