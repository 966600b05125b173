import CPawlSystem
import Glibc
package import PawlBase
import Synchronization

/// A lock on a separate file: one holder at a time, in this process or another, released however the holder ends.
package final class FileLock: Sendable {
    /// The state of a lock, read without taking it.
    package struct Sight: Sendable {
        package var isHeld: Bool
        /// The number that the last holder noted; 0 when there is none.
        package var number: UInt64
    }

    private let descriptor: Mutex<Int32>

    /// Takes the lock, and creates the file when it is missing; `nil` when it is held elsewhere.
    ///
    /// `path` is its path in failures.
    ///
    /// On a file system without locks (some network ones) every caller gets it.
    init?(in folder: Int32, _ name: String, at path: String) throws(Failure) {
        let file = unsafe pawl_open_at(folder, name, O_RDWR | O_CREAT, 0o600)
        guard file >= 0 else { throw .system(.cannotOpen, "cannot lock", at: path, -file) }
        descriptor = Mutex(file)
        if pawl_lock(file) == EAGAIN { return nil }
    }

    /// The same by path; missing folders are created.
    package convenience init?(at path: String) throws(Failure) {
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex {
            try QueueFiles.makeFolder(String(path[..<slash]))
        }
        try self.init(in: AT_FDCWD, path, at: path)
    }

    deinit { release() }

    /// Releases the lock.
    package func release() {
        let file = descriptor.withLock { file in
            defer { file = -1 }
            return file
        }
        guard file >= 0 else { return }
        // Explicitly: a child that was just forked may keep the file open for a moment longer.
        _ = pawl_unlock(file)
        close(file)
    }

    /// Stores a number for readers of the lock.
    package func note(_ number: UInt64) {
        descriptor.withLock { file in
            var number = number
            _ = unsafe pwrite(file, &number, MemoryLayout<UInt64>.size, 0)
        }
    }

    /// Reads the state without taking the lock; `nil` when there is no lock, or its holder cannot be determined.
    package static func look(at path: String) -> Sight? {
        let file = unsafe pawl_open_at(AT_FDCWD, path, O_RDWR, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var number: UInt64 = 0
        // First the number: a process that takes the lock after this is either seen as its holder or has noted another.
        _ = unsafe pread(file, &number, MemoryLayout<UInt64>.size, 0)
        let status = pawl_is_locked(file)
        return status < 0 ? nil : Sight(isHeld: status == 1, number: number)
    }
}
