package import PawlBase
package import PawlCollections

/// Lists the objects of a prefix of keys.
package struct PrefixLister: CollectionLister {
    package let address: WebAddress
    private let store: ObjectStore
    private let filter: EntryFilter
    private let isRecursive: Bool

    /// `isRecursive`: with the objects behind further slashes.
    package init(_ store: ObjectStore, _ prefix: WebAddress, _ filter: EntryFilter, isRecursive: Bool) {
        self.store = store
        self.filter = filter
        self.isRecursive = isRecursive
        address = prefix
    }

    package var source: String { address.redacted }

    package func addresses(of path: String) -> [String]? {
        (try? WebAddress.s3(bucket: address.bucket, key: address.key + path)).map { [$0.text] } ?? []
    }

    package func list(into sink: ListingSink) throws(Failure) {
        var token: String?
        var seen: Set<Bytewise<String>> = []
        var hasAny = false
        repeat {
            let page = try store.list(address, delimiter: isRecursive ? nil : "/", after: token)
            hasAny = hasAny || !page.objects.isEmpty || !page.prefixes.isEmpty
            let entries = page.objects.compactMap { entry(of: $0, sink) }
            guard entries.isEmpty || sink.put(entries) else { return }
            token = page.next
            // A store that repeats itself would be listed for ever.
            if let token, !seen.insert(Bytewise(token)).inserted {
                throw Failure(.badResponse, "cannot list", at: address.redacted, because: "the listing repeats itself")
            }
        } while token != nil && !sink.isStopped
        guard hasAny else {
            throw Failure(
                .notFound, "cannot list", at: address.redacted, because: "no object has a key that begins like this",
                remedy: "check the prefix")
        }
    }

    /// `nil` for what is not wanted, or refused.
    private func entry(of object: S3Object, _ sink: ListingSink) -> CollectionEntry? {
        // In bytes: a combining mark behind the prefix belongs to the rest.
        let start = address.key.utf8
        guard object.key.utf8.starts(with: start) else { return nil }
        let rest = String(Substring(object.key.utf8.dropFirst(start.count)))
        // An empty object of such a key stands for a folder.
        let isFolder = rest.utf8.last ?? .slash == .slash
        guard !isFolder || object.size > 0 else { return nil }
        var entry = CollectionEntry(
            path: rest, address: "", size: object.size, isExact: true, modified: object.modified)
        guard filter.takes(entry), filter.maximumDepth ?? .max >= rest.utf8.count(where: { $0 == .slash }) else {
            return nil
        }
        do throws(Failure) {
            let address = try WebAddress.s3(bucket: address.bucket, key: object.key)
            entry.address = address.text
            entry.path = try ObjectPath.path(of: rest, address)
        } catch {
            sink.refuse(error)
            return nil
        }
        entry.entityTag = object.entityTag.isEmpty ? nil : object.entityTag
        return entry
    }
}
