package import Pawl
package import PawlBase
import PawlTerminal

/// Lists what a URL stands for, where that is several files.
package protocol Lister: Sendable {
    /// Whether the item stands for several files.
    func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool
    /// Those files, for the folder of `download`; blocks while they are listed.
    func list(
        _ item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> GetPlan.Listing
    /// Throws if options are given that need something to list, though there is nothing.
    func checkUnused(_ options: GetOptions) throws(Failure)
}

extension GetPlan {
    /// The files that one item stands for.
    package struct Listing: Sendable {
        /// Those to download.
        package var items: [Item] = []
        /// How many are there already.
        package var unchanged = 0
        /// Those that cannot be files.
        package var refused: [Failure] = []

        package init(items: [Item] = [], unchanged: Int = 0, refused: [Failure] = []) {
            self.items = items
            self.unchanged = unchanged
            self.refused = refused
        }
    }

    /// Replaces the items that stand for several files by these; blocks while they are listed.
    ///
    /// Returns the exit code for files that were refused, 0 for none.
    package mutating func list(with listers: [any Lister]) throws(Failure) -> Int32 {
        for lister in listers where !items.contains(where: { lister.lists($0, options) }) {
            try lister.checkUnused(options)
        }
        guard items.contains(where: { item in listers.contains { $0.lists(item, options) } }) else { return 0 }
        var code: Int32 = 0
        var unchanged = 0
        var listed: [Item] = []
        for item in items {
            guard let lister = listers.first(where: { $0.lists(item, options) }) else {
                listed.append(item)
                continue
            }
            let listing = try lister.list(item, options, try downloadOptions(for: item))
            unchanged += listing.unchanged
            for failure in listing.refused {
                printFailure(failure)
                code = Int32(failure.code.rawValue)
            }
            listed += listing.items
        }
        replace(with: listed, unchanged: unchanged)
        return code
    }
}
