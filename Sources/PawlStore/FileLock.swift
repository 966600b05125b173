import CPawlSystem
import Glibc
package import PawlCore
import Synchronization

/// A lock on a file of its own: one holder at a time, in this process or another, and it goes with that one however it ends.
package final class FileLock: Sendable {
    /// What is seen of a lock without taking it.
    package struct Sight: Sendable {
        package var isHeld: Bool
        /// What the last holder noted; 0 when it noted nothing.
        package var number: UInt64
    }

    private let descriptor: Mutex<Int32>

    /// Takes it, and makes the file when it is missing; `nil` when another one has it.
    ///
    /// On a file system without locks (some network ones) everybody gets it.
    init?(in folder: Int32, _ name: String) throws(Failure) {
        let file = unsafe pawl_open_at(folder, name, O_RDWR | O_CREAT, 0o600)
        guard file >= 0 else { throw .system(.cannotOpen, "cannot lock", at: name, -file) }
        descriptor = Mutex(file)
        if pawl_lock(file) == EAGAIN { return nil }
    }

    /// The same by its path, whose folders are made too.
    package convenience init?(at path: String) throws(Failure) {
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try QueueFiles.makeFolder(String(path[..<slash]))
        }
        try self.init(in: AT_FDCWD, path)
    }

    deinit { release() }

    /// Others may have it.
    package func release() {
        let file = descriptor.withLock { file in
            defer { file = -1 }
            return file
        }
        guard file >= 0 else { return }
        // Explicitly: a child that was just forked may hold the file open for a moment longer.
        _ = pawl_unlock(file)
        close(file)
    }

    /// Leaves a number for those who look.
    package func note(_ number: UInt64) {
        descriptor.withLock { file in
            var number = number
            _ = unsafe pwrite(file, &number, MemoryLayout<UInt64>.size, 0)
        }
    }

    /// Looks without taking it; `nil` where there is none, or where it cannot be told who has it.
    package static func look(at path: String) -> Sight? {
        let file = unsafe pawl_open_at(AT_FDCWD, path, O_RDWR, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var number: UInt64 = 0
        // First the number: one who has taken the lock since is then either seen as its holder or known by another one.
        _ = unsafe pread(file, &number, MemoryLayout<UInt64>.size, 0)
        let answer = pawl_is_locked(file)
        return answer < 0 ? nil : Sight(isHeld: answer == 1, number: number)
    }
}
