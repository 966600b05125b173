import CPawlSystem
import Glibc
package import PawlJournal
package import PawlSystem
import Synchronization

/// A folder kept open: names are looked up in it without resolving its path again.
package final class Folder: Sendable {
    /// As the claim spelled it, for messages and final paths.
    package let path: String
    package let identity: FileIdentity
    package let traits: FileSystemTraits
    /// Whether another user can replace Pawl's files here.
    package let isOpenToOthers: Bool
    private let user: FileUser
    private let owner: FileUser
    private let isSticky: Bool
    private let file: OpenFile
    private let takesMarks: Atomic<Bool>
    private let takesUnnamed = Atomic(true)
    /// When its path was last seen to lead to it, in the milliseconds of `FolderCache`.
    let seenAt = Atomic<Int64>(.min / 2)
    /// `seenAt` when no attribute protected it.
    private let freeAt = Atomic<Int64>(.max)

    package init(
        path: String, file: OpenFile, traits: FileSystemTraits, marks: Bool, user: FileUser
    ) throws(SystemError) {
        self.path = path
        self.file = file
        self.traits = traits
        self.user = user
        let status = try file.status()
        identity = status.identity
        owner = status.owner
        isSticky = status.isSticky
        isOpenToOthers =
            traits.contains(.keepsOwners) && !status.isSticky && status.rights.isWritableByOthers(than: user)
        takesMarks = Atomic(marks)
    }

    /// Whether part files here can have an extended attribute.
    var bearsMarks: Bool { takesMarks.load(ordering: .relaxed) }
    func noMarks() { takesMarks.store(false, ordering: .relaxed) }

    /// Why an existing file cannot be Pawl's own; `nil` when it can.
    package func flaw(of found: FileStatus) -> FileRights.Flaw? {
        found.rights.flaw(for: user, knowsOwners: traits.contains(.keepsOwners))
    }

    package func path(of name: String) -> String {
        if path.isEmpty || path == "." { return name }
        return path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
    }

    package func open(_ name: String, flags: Int32, mode: UInt32 = 0) throws(SystemError) -> OpenFile {
        try OpenFile(name, in: file.descriptor, flags: flags, mode: mode)
    }

    /// Whether its path still leads to it.
    var isInPlace: Bool {
        var found = stat()
        return unsafe stat(path.isEmpty ? "." : path, &found) == 0 && FileStatus(found).identity == identity
    }

    /// Creates a file that is recognisable as Pawl's own from the start (EEXIST: the name is taken).
    ///
    /// A kill before it is marked leaves it empty, and only this permission bit, which means nothing for files (open(2)
    /// sets it as given), then identifies its owner. `OpenFile.endBeginning` removes it again.
    package func make(_ name: String, mode: UInt32) throws(SystemError) -> OpenFile {
        try open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode | UInt32(S_ISVTX))
    }

    /// Creates a file without a name; `nil` when the file system does not support it.
    package func openUnnamed() throws(SystemError) -> OpenFile? {
        guard takesUnnamed.load(ordering: .relaxed) else { return nil }
        let opened = pawl_open_unnamed(file.descriptor, 0o666)
        if opened >= 0 { return OpenFile(adopting: opened) }
        let error = SystemError(number: -opened)
        guard error.isUnsupported else { throw error }
        takesUnnamed.store(false, ordering: .relaxed)
        return nil
    }

    /// Whether no file system has refused to create a file without a name here.
    package var makesUnnamed: Bool { takesUnnamed.load(ordering: .relaxed) }

    /// Names an unnamed file (EEXIST: the name is taken).
    package func name(_ unnamed: OpenFile, _ name: String) throws(SystemError) {
        let result = unsafe name.withCString { unsafe pawl_name(unnamed.descriptor, file.descriptor, $0) }
        try SystemError.check(result)
    }

    /// Returns `nil` when nothing has that name.
    ///
    /// A symbolic link is not followed.
    package func status(of name: String) throws(SystemError) -> FileStatus? {
        var found = stat()
        // Passed as it is, a short string would be copied to the heap.
        let result = unsafe name.withCString { unsafe fstatat(file.descriptor, $0, &found, AT_SYMLINK_NOFOLLOW) }
        if result == 0 { return FileStatus(found) }
        let error = SystemError.last
        if error.isMissing { return nil }
        throw error
    }

    /// Calls `body` with the descriptor of the folder.
    func withDescriptor<Value>(_ body: (Int32) -> Value) -> Value { body(file.descriptor) }

    /// What has that name, or what a symbolic link of that name leads to; `nil` when that cannot be reached.
    package func target(of name: String) -> FileStatus? {
        var found = stat()
        return unsafe fstatat(file.descriptor, name, &found, 0) == 0 ? FileStatus(found) : nil
    }

    /// Whether an attribute of the folder keeps its entries from being renamed: a part file would never get its final name.
    ///
    /// Looked up as often as its path is.
    var isProtected: Bool {
        let seen = seenAt.load(ordering: .relaxed)
        if freeAt.load(ordering: .relaxed) == seen { return false }
        if unsafe pawl_is_protected(file.descriptor, "") { return true }
        freeAt.store(seen, ordering: .relaxed)
        return false
    }

    /// Whether what has that name cannot be replaced: an attribute forbids it, or only its owner may do so here.
    func isProtected(_ name: String, _ found: FileStatus) -> Bool {
        if unsafe pawl_is_protected(file.descriptor, name) { return true }
        guard isSticky, user.user != 0, traits.contains(.keepsOwners) else { return false }
        return found.owner.user != user.user && owner.user != user.user
    }

    package func remove(_ name: String) throws(SystemError) {
        guard unsafe unlinkat(file.descriptor, name, 0) == 0 else { throw .last }
    }

    package func rename(_ name: String, to newName: String, replacing: Bool) throws(SystemError) {
        if replacing {
            guard unsafe renameat(file.descriptor, name, file.descriptor, newName) == 0 else { throw .last }
        } else {
            try SystemError.check(unsafe pawl_rename_new(file.descriptor, name, newName))
        }
    }

    /// Moves a file to another folder of the same file system, in place of what has the new name there.
    package func move(_ name: String, to newName: String, of other: Folder) throws(SystemError) {
        guard unsafe renameat(file.descriptor, name, other.file.descriptor, newName) == 0 else { throw .last }
    }

    /// Gives a file a name in another folder too (EEXIST: the name is taken by another file).
    ///
    /// Where a file cannot have two names it loses the old one.
    package func link(_ name: String, as newName: String, into other: Folder) throws(SystemError) {
        guard unsafe linkat(file.descriptor, name, other.file.descriptor, newName, 0) != 0 else { return }
        let error = SystemError.last
        switch error.number {
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            guard try other.status(of: newName) == nil else { throw SystemError(number: EEXIST) }
            guard unsafe renameat(file.descriptor, name, other.file.descriptor, newName) == 0 else { throw .last }
        case _: throw error
        }
    }

    /// The bytes that are available to this user.
    package func free() throws(SystemError) -> Int64 {
        var found = statvfs()
        guard unsafe fstatvfs(file.descriptor, &found) == 0 else { throw .last }
        let size = UInt64(found.f_frsize > 0 ? found.f_frsize : found.f_bsize)
        let (bytes, overflows) = UInt64(found.f_bavail).multipliedReportingOverflow(by: size)
        return overflows ? .max : Int64(clamping: bytes)
    }

    /// The names that end in `ending`, unordered.
    package func names(endingIn ending: String) -> [String] {
        final class List { var names: [String] = [] }
        let list = List()
        unsafe pawl_list_folder(file.descriptor, ending, Unmanaged.passUnretained(list).toOpaque()) { context, name in
            guard let context = unsafe context, let name = unsafe name else { return }
            unsafe Unmanaged<List>.fromOpaque(context).takeUnretainedValue().names.append(String(cString: name))
        }
        return list.names
    }

    /// Makes renames in the folder durable.
    ///
    /// Not every file system can sync a folder; there the durability of a rename is not guaranteed.
    package func sync() throws(SystemError) {
        do throws(SystemError) { try file.syncAll() } catch  where !error.isUnsupported && error.number != EBADF {
            throw error
        } catch {}
    }
}
