package import Pawl
package import PawlBase
import PawlTerminal

/// Knows which files an address stands for, where each has a place of its own: blobs of a cache or of an image's layout.
package protocol PlacedLister: Sendable {
    /// Whether the item stands for several files.
    func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool
    /// The files that it stands for; blocks. `download` are the options for each of them.
    func list(
        _ item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> GetPlan.Placement
    /// Throws if `options` has options for this lister, though it has nothing to list.
    func checkUnused(_ options: GetOptions) throws(Failure)
}

extension GetPlan {
    /// The files that one item stands for.
    package struct Placement: Sendable {
        /// Those to download.
        package var items: [Item] = []
        /// How many are there already.
        package var unchanged = 0
        /// Those that cannot be files.
        package var refused: [Failure] = []
        /// Called once at the end, also when some were not downloaded.
        package var completion: Completion?

        package typealias Completion = @Sendable () throws(Failure) -> Void

        package init() {}
    }

    /// Replaces the items that stand for several files by these; blocks while they are listed.
    ///
    /// Returns the exit code for files that were refused, 0 for none.
    package mutating func place(with listers: [any PlacedLister]) throws(Failure) -> Int32 {
        guard items.contains(where: { item in listers.contains { $0.lists(item, options) } }) else {
            for lister in listers { try lister.checkUnused(options) }
            return 0
        }
        hasPlaced = true
        var code: Int32 = 0
        var placed: [Item] = []
        for item in items {
            guard let lister = listers.first(where: { $0.lists(item, options) }) else {
                placed.append(item)
                continue
            }
            let placement = try lister.list(item, options, try downloadOptions(for: item))
            unchanged += placement.unchanged
            placed += placement.items
            if let completion = placement.completion { completions.append(completion) }
            for failure in placement.refused {
                printFailure(failure)
                code = Int32(failure.code.rawValue)
            }
        }
        items = placed
        return code
    }

    /// Completes placed collections; returns the exit code of the last one that cannot be, 0 for none.
    package func complete() -> Int32 {
        var code: Int32 = 0
        for completion in completions {
            do throws(Failure) { try completion() } catch {
                printFailure(error)
                code = Int32(error.code.rawValue)
            }
        }
        return code
    }
}
