import Glibc
import Synchronization

/// Owners in this process that nobody holds any more and that are still closing what they own.
///
/// A program that opens the same again has no other way to wait for that.
package final class ClosingOwners<Key: Hashable & Sendable>: Sendable {
    private let owners = Mutex<[Key: Int]>([:])
    private let ends = ChangeSignal()

    package init() {}

    package func begin(_ key: Key) { owners.withLock { $0[key, default: 0] += 1 } }

    package func end(_ key: Key) {
        owners.withLock { owners in
            let rest = (owners[key] ?? 0) - 1
            owners[key] = rest > 0 ? rest : nil
        }
        ends.notify()
    }

    /// How many owners have been closed: read before an attempt to open.
    package var count: UInt64 { ends.count }

    /// After an attempt that failed: waits until no owner is closing it, or the task is cancelled.
    ///
    /// Returns whether another attempt may succeed: an owner was being closed since `count` was read.
    package func wait(for key: Key, since count: UInt64) async -> Bool {
        while !Task.isCancelled {
            let seen = ends.count
            guard owners.withLock({ $0[key] != nil }) else { return seen != count }
            await ends.wait(after: seen)
        }
        return false
    }
}

extension DownloadManager {
    /// Managers that were released without being shut down, until their queues are closed.
    static let closing = ClosingOwners<FolderIdentity>()
}

/// The identity of a folder, whatever its path.
struct FolderIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` if there is no such folder.
    init?(of path: String) {
        var found = stat()
        guard unsafe stat(path, &found) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: found.st_dev)
        inode = UInt64(found.st_ino)
    }
}
