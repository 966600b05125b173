import CPawlSystem
import Glibc
package import PawlBase
package import PawlJournal
package import PawlSystem
import Synchronization

/// An open file, closed with its last reference.
///
/// A class because a worker may still read or sync the file after its download has closed it.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    private let isLocked = Atomic(false)
    private let failedSync = Mutex<SystemError?>(nil)

    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    /// Opens `name` in `folder`; a symbolic link is rejected (ELOOP).
    package init(_ name: String, in folder: Int32, flags: Int32, mode: UInt32 = 0) throws(SystemError) {
        let result = unsafe pawl_open_at(folder, name, flags, mode)
        guard result >= 0 else { throw SystemError(number: -result) }
        descriptor = result
    }

    /// Opens a file for reading, by its path; a symbolic link is followed.
    package convenience init(at path: String) throws(SystemError) { try self.init(at: Array(path.utf8)) }

    /// The path's bytes need not be UTF-8.
    package init(at path: [UInt8]) throws(SystemError) {
        let name = (path + [0]).map { CChar(bitPattern: $0) }
        let result = unsafe open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard result >= 0 else { throw .last }
        descriptor = result
    }

    /// A lock is released explicitly: a child process that is being started has a copy of the descriptor until its exec.
    deinit {
        if isLocked.load(ordering: .acquiring) { unlock() }
        close(descriptor)
    }

    package func status() throws(SystemError) -> FileStatus {
        var found = stat()
        guard unsafe fstat(descriptor, &found) == 0 else { throw .last }
        return FileStatus(found)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
        try unsafe WholeWrite.perform(bytes, to: descriptor, at: offset)
    }

    package func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
            try unsafe write(buffer, at: offset)
        }
    }

    /// Reads up to the end of the file or the buffer, and returns the number of bytes.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        try unsafe BoundedRead.fill(buffer, from: descriptor, at: offset)
    }

    /// Whether the file has these bytes at `offset`.
    package func holds(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Bool {
        let mine = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
        defer { unsafe mine.deallocate() }
        return try unsafe read(into: mine, at: offset) == bytes.count && mine.elementsEqual(bytes)
    }

    /// The first `limit` bytes, fewer when the file is shorter.
    package func contents(limit: Int) throws(SystemError) -> [UInt8] {
        let length = min(Int(try status().length), limit)
        guard length > 0 else { return [] }
        return try unsafe BoundedRead.bytes(length) { buffer throws(SystemError) in
            try unsafe read(into: buffer, at: 0)
        }
    }

    /// The current end, including bytes of other programs.
    package func end() throws(SystemError) -> Int64 {
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw .last }
        return Int64(end)
    }

    /// The parts to which nothing was ever written; none where the file system does not know them, and not more than
    /// `limit`.
    package func holes(limit: Int) -> [ByteRange] {
        var holes: [ByteRange] = []
        var end: Int64 = 0
        while holes.count < limit {
            let start = unsafe pawl_next_hole(descriptor, end, &end)
            guard start >= 0, end > start else { break }
            holes.append(ByteRange(start, end))
        }
        return holes
    }

    package func truncate(to length: Int64) throws(SystemError) {
        guard retrying({ ftruncate(descriptor, off_t(length)) }) == 0 else { throw .last }
    }

    /// Sets the modification time and keeps the access time.
    func setModified(_ time: timespec) throws(SystemError) {
        var times = (timespec(tv_sec: 0, tv_nsec: Int(omitTime)), time)
        let result = unsafe withUnsafePointer(to: &times) { pair in
            unsafe pair.withMemoryRebound(to: timespec.self, capacity: 2) { unsafe futimens(descriptor, $0) }
        }
        guard result == 0 else { throw .last }
    }

    package func syncData() throws(SystemError) { try SystemError.check(pawl_sync_data(descriptor)) }
    package func syncAll() throws(SystemError) { try SystemError.check(pawl_sync_all(descriptor)) }

    /// Syncs all files of this one's file system: one wait for the disk instead of one per file.
    package func syncFileSystem() throws(SystemError) { try SystemError.check(pawl_sync_file_system(descriptor)) }

    /// After `syncFileSystem`: throws when this file's own data could not be written.
    func checkWriteback() throws(SystemError) { try SystemError.check(pawl_check_writeback(descriptor)) }

    /// Why a sync of the data has failed.
    ///
    /// Linux reports a failed write once per open file: a later sync that succeeds proves nothing.
    var syncError: SystemError? { failedSync.withLock { $0 } }

    func noteFailedSync(_ error: SystemError) { failedSync.withLock { $0 = $0 ?? error } }

    /// Takes the write lock.
    ///
    /// Returns `false` when it is held elsewhere.
    package func lock() throws(SystemError) -> Bool {
        let result = pawl_lock(descriptor)
        if result == EAGAIN || result == EWOULDBLOCK { return false }
        try SystemError.check(result)
        isLocked.store(true, ordering: .releasing)
        return true
    }

    /// Removes the bit of `Folder.make`: the file is marked.
    func endBeginning() throws(SystemError) {
        let found = try status()
        guard found.isBeginning else { return }
        guard fchmod(descriptor, mode_t(found.permissions)) == 0 else { throw .last }
    }

    /// Gives it to the owner of another file, as far as this process may.
    func setOwner(as other: FileStatus) { _ = fchown(descriptor, other.owner.user, other.owner.group) }

    func setPermissions(_ permissions: UInt32) throws(SystemError) {
        guard fchmod(descriptor, mode_t(permissions)) == 0 else { throw .last }
    }

    func unlock() {
        isLocked.store(false, ordering: .releasing)
        _ = pawl_unlock(descriptor)
    }
}

/// UTIME_OMIT, which the C library's overlay hides.
private let omitTime: Int32 = { (1 << 30) - 2 }()

/// The attributes of a file that this module needs.
package struct FileStatus: Hashable, Sendable {
    package let length: Int64
    /// The allocated bytes.
    package let allocated: Int64
    package let identity: FileIdentity
    package let isRegular: Bool
    package let isLink: Bool
    /// A device, a pipe or a socket.
    package let isSpecial: Bool
    /// Whether it has the bit that files have between being created and being marked.
    package let isBeginning: Bool
    package let permissions: UInt32
    package let links: Int
    package let owner: FileUser
    /// Whether only the owner of an entry of this folder can rename or remove it.
    let isSticky: Bool
    let modifiedSeconds: Int
    let modifiedNanoseconds: Int
    /// The time of the last change, the length included, in nanoseconds since 1970; it cannot be set by programs.
    package let changed: Int64

    init(_ found: stat) {
        length = Int64(found.st_size)
        allocated = Int64(found.st_blocks) * 512
        identity = FileIdentity(device: UInt64(truncatingIfNeeded: found.st_dev), inode: UInt64(found.st_ino))
        isRegular = found.st_mode & S_IFMT == S_IFREG
        isLink = found.st_mode & S_IFMT == S_IFLNK
        isSpecial = !isRegular && !isLink && found.st_mode & S_IFMT != S_IFDIR
        isBeginning = isRegular && found.st_mode & S_ISVTX != 0
        permissions = UInt32(found.st_mode & 0o777)
        links = Int(found.st_nlink)
        owner = FileUser(user: found.st_uid, group: found.st_gid)
        isSticky = found.st_mode & S_ISVTX != 0
        let (time, change) = (found.st_mtim, found.st_ctim)
        changed = Int64(clamping: change.tv_sec) &* 1_000_000_000 &+ Int64(clamping: change.tv_nsec)
        modifiedSeconds = time.tv_sec
        modifiedNanoseconds = time.tv_nsec
    }

    /// Whether it was not written between the two readings of the status.
    package func hasContent(of other: FileStatus) -> Bool {
        length == other.length && modifiedSeconds == other.modifiedSeconds
            && modifiedNanoseconds == other.modifiedNanoseconds
    }

    package var stamp: FileStamp {
        FileStamp(device: identity.device, inode: identity.inode, length: length, modified: modifiedTime)
    }

    package var rights: FileRights {
        FileRights(owner: owner, permissions: permissions, isRegular: isRegular, links: links)
    }

    /// The time of the last write, in nanoseconds since 1970.
    var modifiedTime: Int64 {
        Int64(clamping: modifiedSeconds) &* 1_000_000_000 &+ Int64(clamping: modifiedNanoseconds)
    }

    var modified: timespec { timespec(tv_sec: modifiedSeconds, tv_nsec: modifiedNanoseconds) }
}

/// The identity of a file, whatever its path.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
}
