import CPawlSystem
import Glibc
package import PawlBase
import Synchronization

/// A small file that is written whole or not at all: whatever ends the writer, readers see the old content or the new one.
///
/// The content is written and synced under a temporary name of its own, and that is renamed.
package enum AtomicFile {
    /// Replaces the file, or creates it; of a link, what it leads to.
    ///
    /// A device or a pipe is written to instead.
    ///
    /// With the default `permissions` only its owner can read it. With `syncs` the content and the name are on stable storage
    /// when this returns; without it a power cut may leave an empty file.
    package static func replace(
        _ path: String, with bytes: [UInt8], permissions: UInt32 = 0o600, syncs: Bool = true
    ) throws(Failure) {
        guard let path = replaceable(path) else { return try pass(bytes, to: path) }
        let draft = try write(bytes, beside: path, permissions, syncs: syncs)
        guard unsafe rename(draft, path) == 0 else { throw discarding(draft, "cannot rename to", path) }
        if syncs { syncFolder(of: path) }
    }

    /// The kind of what has the name itself; `nil` if there is nothing.
    package static func kind(of path: String) -> UInt32? {
        var found = stat()
        return unsafe lstat(path, &found) == 0 ? found.st_mode & S_IFMT : nil
    }

    /// The path of the regular file to be replaced or created; `nil` for what can only be written to.
    private static func replaceable(_ path: String) -> String? {
        var found = stat()
        guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT != S_IFDIR else { return path }
        guard found.st_mode & S_IFMT == S_IFREG else { return nil }
        guard kind(of: path) == S_IFLNK else { return path }
        // A link of /proc may lead to a file without a name.
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    private static func pass(_ bytes: [UInt8], to path: String) throws(Failure) {
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw failure("cannot write", path) }
        defer { close(file) }
        do throws(SystemError) { try WholeWrite.perform(bytes, to: file) } catch {
            throw failure("cannot write", path, error)
        }
    }

    /// Creates the file; `false` if there is one, which stays as it is.
    package static func create(_ path: String, with bytes: [UInt8], permissions: UInt32 = 0o600) throws(Failure) -> Bool
    {
        let draft = try write(bytes, beside: path, permissions, syncs: true)
        let number = unsafe pawl_rename_new(AT_FDCWD, draft, path)
        guard number == 0 else {
            let failure = discarding(draft, "cannot create", path, SystemError(number: number))
            if number == EEXIST { return false }
            throw failure
        }
        syncFolder(of: path)
        return true
    }

    /// Gives a file that is written and synced its name; `false` if there is one of that name and it is not to be replaced.
    ///
    /// Both are on one file system.
    package static func name(_ draft: String, _ path: String, replaces: Bool) throws(Failure) -> Bool {
        let number =
            replaces ? unsafe rename(draft, path) == 0 ? 0 : errno : unsafe pawl_rename_new(AT_FDCWD, draft, path)
        guard number == 0 else {
            if number == EEXIST, !replaces { return false }
            throw failure("cannot rename to", path, SystemError(number: number))
        }
        syncFolder(of: path)
        return true
    }

    /// Replaces content of which `isUseless` says so; `false` if that is not what the file has any more.
    ///
    /// Of several processes that do this at the same time, one replaces it, and the others get `false`.
    package static func replace(
        _ path: String, while isUseless: ([UInt8]) -> Bool, atMost limit: Int, with bytes: [UInt8]
    ) throws(Failure) -> Bool {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return false }
            throw failure("cannot replace", path)
        }
        // Also ends the lock.
        defer { close(file) }
        guard LockWait.take({ pawl_lock(file) != EAGAIN }) else { return false }
        var held = stat()
        var named = stat()
        guard unsafe fstat(file, &held) == 0, unsafe lstat(path, &named) == 0, held.st_dev == named.st_dev,
            held.st_ino == named.st_ino, let content = try read(path, atMost: limit), isUseless(content)
        else { return false }
        try replace(path, with: bytes)
        return true
    }

    /// The content; `nil` if there is no such file, and at most one byte more than `limit`.
    ///
    /// Any other reason throws: a file that cannot be read now is not an empty one, and must not be replaced by what
    /// follows from that.
    package static func read(_ path: String, atMost limit: Int) throws(Failure) -> [UInt8]? {
        do throws(SystemError) { return try BoundedRead.file(path, atMost: limit + 1) } catch {
            if error.number == ENOENT || error.number == ENOTDIR { return nil }
            throw failure("cannot read", path, error)
        }
    }

    /// Puts the names in the folder of `path` on stable storage, as far as the file system can.
    package static func syncFolder(of path: String) {
        let folder = unsafe pawl_open_folder(self.folder(of: path))
        guard folder >= 0 else { return }
        _ = retrying { fsync(folder) }
        close(folder)
    }

    // MARK: the draft

    private static func write(
        _ bytes: [UInt8], beside path: String, _ permissions: UInt32, syncs: Bool
    ) throws(Failure) -> String {
        let folder = folder(of: path)
        sweep(folder)
        // Of a fixed length: the file's own name may have the longest one that is possible.
        let draft = "\(folder)/\(draftName())"
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, permissions)
        guard file >= 0 else { throw failure("cannot create", path) }
        var isOpen = true
        do throws(SystemError) {
            try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
                try unsafe WholeWrite.perform(buffer, to: file, at: 0)
            }
            if syncs, retrying({ fsync(file) }) != 0 { throw .last }
            isOpen = false
            if close(file) != 0, errno != EINTR { throw .last }
        } catch {
            if isOpen { close(file) }
            throw discarding(draft, "cannot write", path, error)
        }
        return draft
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func failure(_ what: String, _ path: String, _ error: SystemError = .last) -> Failure {
        Failure(.inputOutput, what, at: path, because: error.text)
    }

    private static func discarding(
        _ draft: String, _ what: String, _ path: String, _ error: SystemError = .last
    ) -> Failure {
        unsafe unlink(draft)
        return failure(what, path, error)
    }
}

// What a kill leaves.
extension AtomicFile {
    private static let beginning = ".pawl-"
    private static let ending = ".new"
    /// In seconds.
    ///
    /// No write takes as long, also not one of a process with numbers of its own, such as in a container.
    private static let age = 60
    private static let swept = Mutex<Set<String>>([])

    /// A temporary name that ``sweep(_:)`` recognizes.
    package static func draftName() -> String {
        "\(beginning)\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 16))\(ending)"
    }

    /// Removes drafts of processes that have ended, once for each folder.
    package static func sweep(_ folder: String) {
        guard swept.withLock({ $0.count < 1000 && $0.insert(folder).inserted }) else { return }
        removeDrafts(in: folder, olderThan: age)
    }

    package static func removeDrafts(in folder: String, olderThan age: Int) {
        for name in FolderNames.read(folder) where name.hasPrefix(beginning) && name.hasSuffix(ending) {
            let number = name.dropFirst(beginning.count).prefix { $0 != "-" }
            guard let process = pid_t(number), kill(process, 0) != 0, errno == ESRCH else { continue }
            var found = stat()
            guard unsafe lstat("\(folder)/\(name)", &found) == 0, found.st_mode & S_IFMT == S_IFREG,
                time(nil) - found.st_mtim.tv_sec >= age
            else { continue }
            _ = unsafe unlink("\(folder)/\(name)")
        }
    }
}

/// The content of folders.
package enum FolderNames {
    /// The names in a folder, unsorted, without `.` and `..`; invalid UTF-8 is repaired.
    package static func read(_ folder: String) -> [String] {
        var names: [String] = []
        forEach(in: folder) { names.append($0) }
        return names
    }

    /// The same one after another, however many there are: what is removed meanwhile does not disturb.
    package static func forEach(in folder: String, _ body: (String) -> Void) {
        guard let directory = unsafe opendir(folder) else { return }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: unsafe bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { body(name) }
        }
    }
}

/// Takes a lock whose holder may be ending: a process that was killed keeps its locks until the kernel has closed its files.
package enum LockWait {
    package static let attempts = 50
    private static let milliseconds: Int32 = 10

    /// Calls `take` until it returns `true`, at most so often, by default for half a second; returns whether it did.
    package static func take(attempts: Int = attempts, _ take: () -> Bool) -> Bool {
        for attempt in 1...attempts {
            if take() { return true }
            if attempt < attempts { _ = poll(nil, 0, milliseconds) }
        }
        return false
    }
}
