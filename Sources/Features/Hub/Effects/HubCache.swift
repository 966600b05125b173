import Glibc
package import PawlBase
import PawlDisk
import PawlSystem

/// The cache that the hub's own libraries share: what of a listing it has, and what is added.
///
/// Blobs are downloads like others, with part files beside them. A snapshot is links to them; the name of a revision is
/// written when every file that was wanted is there.
package struct HubCache: Sendable {
    private let root: String
    private let layout: HubCacheLayout
    private let listing: HubClient.Listing

    package init(at root: String, for listing: HubClient.Listing) {
        self.root = root
        self.listing = listing
        layout = HubCacheLayout(listing.address)
    }

    /// The folder of downloads.
    package var blobs: String { path(layout.blobs) }

    /// The folder of the files' links.
    package var snapshot: String { path(layout.snapshot(of: listing.commit)) }

    private func path(_ relative: String) -> String { "\(root)/\(relative)" }

    /// Whether the file is there, maybe by a link into another folder, with its length: what has its name was verified.
    package func has(_ entry: HubEntry) -> Bool {
        var found = stat()
        return unsafe stat(path(layout.blob(entry)), &found) == 0 && found.st_mode & S_IFMT == S_IFREG
            && Int64(found.st_size) == entry.size
    }

    /// Makes the folders, and records which files the commit has, before the first of them is there.
    package func begin() throws(Failure) {
        try FolderPath.make(blobs)
        let tag = path(HubCacheLayout.tagFile)
        if unsafe access(tag, F_OK) != 0 {
            _ = try AtomicFile.create(tag, with: Array(HubCacheLayout.tag.utf8), permissions: 0o644)
        }
        let tree = path(layout.tree(of: listing.commit))
        guard unsafe access(tree, F_OK) != 0 else { return }
        try write(HubCacheLayout.tree(listing.entries), to: tree)
    }

    /// Links the files that are there into the snapshot, and names the revision if all of them are.
    ///
    /// `sync` puts the names in the folder of a path on stable storage.
    package func complete(
        _ wanted: [HubEntry], sync: (String) -> Void = AtomicFile.syncFolder
    ) throws(Failure) {
        var isWhole = true
        /// A blob, and a link in each folder that has any.
        var named: [Bytewise<String>: String] = [:]
        for entry in wanted {
            guard has(entry) else {
                isWhole = false
                continue
            }
            let (link, target) = layout.link(to: entry, at: listing.commit)
            let place = path(link)
            try self.link(place, to: target)
            for path in [place, path(layout.blob(entry))] { named[Bytewise(FolderPath.parent(of: path))] = path }
        }
        // Before the revision has a name: with that, all of its files are there. Also those that a killed process has named.
        for path in named.values { sync(path) }
        guard isWhole else { return }
        let revision = listing.address.revision ?? HubAddress.defaultRevision
        guard let reference = layout.reference(revision) else { return }
        try write(Array(listing.commit.utf8), to: path(reference))
    }

    private func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        try FolderPath.make(FolderPath.parent(of: path))
        try AtomicFile.replace(path, with: bytes, permissions: 0o644)
    }

    private func link(_ path: String, to target: String) throws(Failure) {
        var present = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &present, present.count)
        if count > 0, present.prefix(count).map(UInt8.init(bitPattern:)).elementsEqual(target.utf8) { return }
        let folder = FolderPath.parent(of: path)
        try FolderPath.make(folder)
        let draft = "\(folder)/\(AtomicFile.draftName())"
        guard unsafe symlink(target, draft) == 0, unsafe rename(draft, path) == 0 else {
            let error = SystemError.last
            unsafe unlink(draft)
            throw Failure.system(.cannotCreate, "cannot create", at: path, error)
        }
    }

    /// Takes the locks by which the hub's own libraries keep two of them from fetching the same blob; waits for those that
    /// are taken.
    ///
    /// A courtesy to others: what is correct does not depend on it. In the order of their names, so that no two processes
    /// wait for each other.
    package func lock(_ entries: [HubEntry], waiting: (String) -> Void) throws(Failure) -> HubLocks {
        var held: [Int32] = []
        let tags = Set(entries.map(layout.lock)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for relative in tags.prefix(HubLocks.most) {
            let lock = path(relative)
            try FolderPath.make(FolderPath.parent(of: lock))
            let file = unsafe open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
            guard file >= 0 else { continue }
            if flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                waiting(lock)
                _ = retrying { flock(file, LOCK_EX) }
            }
            held.append(file)
        }
        return HubLocks(held)
    }
}

/// Locks of blobs; released when it is gone.
package final class HubLocks: Sendable {
    private let files: [Int32]
    static let most = 256

    init(_ files: [Int32]) { self.files = files }

    deinit { for file in files { close(file) } }
}
