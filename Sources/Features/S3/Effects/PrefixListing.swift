package import PawlBase
import PawlDisk
import PawlJournal

/// The objects of a prefix, and what of them a folder lacks.
package struct PrefixListing: Sendable {
    /// Which keys are downloaded.
    package struct Selection: Sendable {
        package var isRecursive = false
        package var includes: [KeyPattern] = []
        package var excludes: [KeyPattern] = []

        package init() {}

        func contains(_ path: String) -> Bool {
            (includes.isEmpty || includes.contains { $0.matches(path) }) && !excludes.contains { $0.matches(path) }
        }
    }

    /// An object that is to be downloaded.
    package struct Entry: Hashable, Sendable {
        package var address: String
        /// Below the folder.
        package var path: String
        /// Whether the file there was made from the object as it was before.
        package var isOutdated: Bool
    }

    /// Those to download, in the order of their keys.
    package private(set) var entries: [Entry] = []
    /// How many objects the folder has unchanged.
    package private(set) var unchanged = 0
    /// The keys that name no file.
    package private(set) var refused: [Failure] = []

    /// Lists a prefix; blocks the calling thread.
    package init(
        _ store: ObjectStore, _ prefix: WebAddress, _ selection: Selection, into folder: String
    ) throws(Failure) {
        let disk = FileDisk(notice: { _ in })
        var token: String?
        var seen: Set<Bytewise<String>> = []
        var hasAny = false
        repeat {
            let page = try store.list(prefix, delimiter: selection.isRecursive ? nil : "/", after: token)
            hasAny = hasAny || !page.objects.isEmpty || !page.prefixes.isEmpty
            for object in page.objects { take(object, of: prefix, selection, into: folder, on: disk) }
            token = page.next
            // A store that repeats itself would be listed for ever.
            if let token, !seen.insert(Bytewise(token)).inserted {
                throw Failure(.badResponse, "cannot list", at: prefix.redacted, because: "the listing repeats itself")
            }
        } while token != nil
        guard hasAny else {
            throw Failure(
                .notFound, "cannot list", at: prefix.redacted, because: "no object has a key that begins like this",
                remedy: "check the prefix")
        }
    }

    private mutating func take(
        _ object: S3Object, of prefix: WebAddress, _ selection: Selection, into folder: String, on disk: FileDisk
    ) {
        // In bytes: a combining mark behind the prefix belongs to the rest.
        let start = prefix.key.utf8
        guard object.key.utf8.starts(with: start) else { return }
        let rest = String(Substring(object.key.utf8.dropFirst(start.count)))
        // An empty object of such a key stands for a folder.
        let isFolder = rest.utf8.last ?? UInt8(ascii: "/") == UInt8(ascii: "/")
        guard !isFolder || object.size > 0, selection.contains(rest) else { return }
        let address: WebAddress
        let path: String
        do throws(Failure) {
            address = try WebAddress.s3(bucket: prefix.bucket, key: object.key)
            path = try ObjectPath.path(of: rest, address)
        } catch {
            refused.append(error)
            return
        }
        let name = path.pathParts().last.map(String.init) ?? path
        let parent = path.utf8.count > name.utf8.count ? "/" + Substring(path.utf8.dropLast(name.utf8.count + 1)) : ""
        let validators = Validators(
            entityTag: object.entityTag.isEmpty ? nil : EntityTag(opaque: object.entityTag, isWeak: false),
            lastModified: object.modified, date: nil)
        let file = disk.listedFile(
            name, in: folder + parent, from: address.text,
            content: ContentFingerprint(
                source: address.text, host: address.origin.text, selection: .whole, validators: validators),
            length: object.size, modified: object.modified)
        guard file != .unchanged else {
            unchanged += 1
            return
        }
        entries.append(Entry(address: address.text, path: path, isOutdated: file == .outdated))
    }
}
