package import Pawl
package import PawlBase
package import PawlCollections
package import PawlGet
import PawlSystem

/// `--recursive URL/` in `pawl get`: the files below a page of links, or in a folder of an FTP or SFTP server.
package struct TreeSource: Lister {
    /// Whether folders are entries too.
    private let namesFolders: Bool

    package init(namesFolders: Bool = false) { self.namesFolders = namesFolders }

    package func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool {
        options.isRecursive && Self.root(item) != nil
    }

    package func lister(
        for item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> any CollectionLister {
        guard let (root, credentials) = Self.root(item) else { preconditionFailure("only folders are listed") }
        var own = download
        // The entries' URLs have no login: that of the given one is for its origin.
        if own.user == nil { (own.user, own.password) = (credentials?.user, credentials?.password) }
        var configuration = options.connections
        configuration.stateFolder = Environment.pawlState
        var tree = TreeLister.Options()
        (tree.filter, tree.limits, tree.obeysRobots) = (options.filter, options.listingLimits, options.obeysRobots)
        (tree.followsLinks, tree.namesFolders) = (options.followsLinks, namesFolders)
        if !namesFolders { tree.sums = own.sumsUse }
        return TreeLister(root, tree, pages: DownloadedPages(own, configuration))
    }

    /// The folder that an item names; `nil` for a file.
    private static func root(_ item: GetPlan.Item) -> (WebAddress, Credentials?)? {
        guard item.source.utf8.contains(.slash), let (address, credentials) = try? WebAddress.parse(item.source),
            !address.isLocated, address.query == nil, address.path.utf8.last == .slash
        else { return nil }
        return (address, credentials)
    }
}
