package import Pawl
package import PawlBase
package import PawlCollections
package import PawlGet
import PawlS3

/// `s3://BUCKET/PREFIX/` in `pawl get`: the objects of a prefix of keys.
package struct PrefixSource: Lister {
    package init() {}

    package func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool { Self.prefix(item, options) != nil }

    package func lister(
        for item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> any CollectionLister {
        guard let prefix = Self.prefix(item, options) else { preconditionFailure("only prefixes are listed") }
        let store = try ObjectStore(download, deniesPrivateAddresses: options.deniesPrivateAddresses)
        return PrefixLister(store, prefix, options.filter, isRecursive: options.isRecursive)
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
