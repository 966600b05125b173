import CPawlSystem
import Glibc
import PawlBase
import Synchronization

/// The database's files in its folder, locked for this owner alone.
///
/// SQLite's own lock is not enough: it is released when a damaged file is closed, and before the file is renamed
/// another process could do the same and rename the new one.
final class QueueFiles: Sendable {
    let path: String
    /// The name of a VFS of SQLite; `nil` for the system's.
    let fileSystem: String?
    private let name: String
    private let folder: Descriptor
    private let lock: FileLock

    /// The database that was opened.
    private let opened = Mutex<Identity?>(nil)

    private struct Identity: Hashable, Sendable {
        let device: dev_t
        let inode: ino_t

        init?(_ path: String) {
            var found = stat()
            guard unsafe stat(path, &found) == 0 else { return nil }
            (device, inode) = (found.st_dev, found.st_ino)
        }
    }

    private struct Descriptor: ~Copyable, Sendable {
        let raw: Int32
        deinit { close(raw) }
    }

    init(at path: String, on fileSystem: String? = nil) throws(Failure) {
        // SQLite interprets some names that are no path.
        let path = path.hasPrefix("/") ? path : "./\(path)"
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        let name = String(path[path.index(after: slash)...])
        let folderPath = slash == path.startIndex ? "/" : String(path[..<slash])
        try Self.makeFolder(folderPath)
        let folder = unsafe pawl_open_folder(folderPath)
        guard folder >= 0 else { throw .system(.cannotOpen, "cannot open the folder", at: folderPath, -folder) }
        self.folder = Descriptor(raw: folder)
        try Self.checkOwner(of: name, in: folder, at: folderPath)
        // On a file system without locks (some network ones) only SQLite's remain.
        guard let lock = try FileLock(in: folder, "\(name).lock", at: "\(path).lock") else {
            throw .queueInUse(path, by: FileLock.look(at: "\(path).lock"))
        }
        lock.note(UInt64(getpid()))
        self.lock = lock
        self.path = path
        self.fileSystem = fileSystem
        self.name = name
    }

    /// A queue directs files and names files to read, such as those with cookies and keys: one that another user made in
    /// a root where others may write is refused.
    private static func checkOwner(of name: String, in folder: Int32, at path: String) throws(Failure) {
        var isForeign = false
        var found = stat()
        func note(_ code: Int32) { if code == 0, found.st_uid != geteuid() { isForeign = true } }
        note(unsafe fstat(folder, &found))
        // Of the link if it is one.
        note(unsafe lstat(path, &found))
        for ending in endings { note(unsafe fstatat(folder, name + ending, &found, AT_SYMLINK_NOFOLLOW)) }
        guard isForeign else { return }
        throw Failure(
            .cannotOpen, "will not use the queue in", at: path, because: "it belongs to another user",
            remedy: "remove the folder, or choose another download root")
    }

    /// Whether there is a database; without one, its log is orphaned.
    var isThere: Bool { exists(name) }

    /// Notes the database that is open now.
    func noteOpened() { opened.withLock { $0 = Identity(path) } }

    /// Throws if the next start would not find what is written now: the database, its folder or the root was deleted, moved
    /// or replaced.
    func checkPlace() throws(Failure) {
        let opened = opened.withLock { $0 }
        guard opened != Identity(path) else { return }
        throw Failure(
            .cannotOpen, "cannot save to the queue", at: path,
            because: "it was deleted, moved or replaced while it was in use",
            remedy: "put it back, or stop the service or program that uses it and start it again")
    }

    /// Whether something emptied the database beside its log, which SQLite would remove.
    ///
    /// SQLite itself writes the database's first page before it makes a log.
    var isEmptied: Bool { length(name) == 0 && length("\(name)-wal") ?? 0 > 0 }

    /// Creates an empty database if there is none.
    ///
    /// A log that SQLite would remove is renamed, which the returned sentence says: that of a database that is missing,
    /// because a kill came between the renames, or that was emptied.
    func make() throws(Failure) -> String? {
        if isEmptied {
            return """
                the queue \(path) was empty although it had a log; both were renamed to \(try setAside()), and a \
                new queue was created: restore a backup, or add the downloads again
                """
        }
        if !exists(name), Self.endings.contains(where: { exists(name + $0) }) {
            return "the queue \(path) was missing; its log was renamed to \(try setAside())"
        }
        try makeDatabase()
        return nil
    }

    static func makeFolder(_ path: String) throws(Failure) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        if errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex {
            try makeFolder(String(path[..<slash]))
            if unsafe mkdir(path, 0o700) == 0 { return }
        }
        // "/" and mount points may return another error than "exists".
        if unsafe access(path, F_OK) == 0 { return }
        throw .system(.cannotMakeFolder, "cannot make the folder", at: path, errno)
    }

    /// Queues hold URLs, and those may hold secrets, so other users may not read them; SQLite gives its log the
    /// permissions of the database.
    private func makeDatabase() throws(Failure) {
        let file = unsafe pawl_open_at(folder.raw, name, O_RDWR | O_CREAT, 0o600)
        guard file >= 0 else { throw .system(.cannotOpen, "cannot open the queue", at: path, -file) }
        close(file)
    }

    private static let endings = ["", "-wal", "-journal"]

    /// Renames the database and its companions to `NAME.bad`, or the next such name that is free, creates an empty
    /// one, and returns the old one's new path.
    func setAside() throws(Failure) -> String {
        for number in 0..<10_000 {
            let bad = number == 0 ? "\(name).bad" : "\(name).bad.\(number)"
            guard !Self.endings.contains(where: { exists(bad + $0) }) else { continue }
            for ending in Self.endings where exists(name + ending) {
                let code = unsafe pawl_rename_new(folder.raw, name + ending, bad + ending)
                guard code == 0 else { throw .system(.renameFailed, "cannot rename the damaged queue", at: path, code) }
            }
            try makeDatabase()
            _ = pawl_sync_all(folder.raw)
            return String(Substring(path.utf8.dropLast(name.utf8.count))) + bad
        }
        throw .system(.renameFailed, "cannot rename the damaged queue", at: path, EEXIST)
    }

    private func exists(_ name: String) -> Bool { length(name) != nil }

    private func length(_ name: String) -> Int? {
        var found = stat()
        return unsafe fstatat(folder.raw, name, &found, AT_SYMLINK_NOFOLLOW) == 0 ? found.st_size : nil
    }
}
