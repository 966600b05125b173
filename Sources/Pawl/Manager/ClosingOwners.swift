import Glibc
import Synchronization

/// Owners in this process that nobody holds any more and that are still closing what they own.
///
/// A program that opens the same again has no other way to wait for that.
package final class ClosingOwners<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var owners: [Key: Int] = [:]
        var ended: UInt64 = 0
    }

    private let state = Mutex(State())
    private let ends = ChangeSignal()

    package init() {}

    package func begin(_ key: Key) { state.withLock { $0.owners[key, default: 0] += 1 } }

    package func end(_ key: Key) {
        state.withLock { state in
            let rest = (state.owners[key] ?? 0) - 1
            state.owners[key] = rest > 0 ? rest : nil
            state.ended += 1
        }
        ends.notify()
    }

    /// How many owners have been closed: read before an attempt to open.
    package var count: UInt64 { state.withLock { $0.ended } }

    /// After an attempt that failed: waits for the end of an owner, which may be any, and returns whether another attempt
    /// may succeed; it may not when none is closing the key, or the task is cancelled.
    package func wait(for key: Key, since count: UInt64) async -> Bool {
        while !Task.isCancelled {
            let seen = ends.count
            let (ended, isClosing) = state.withLock { ($0.ended, $0.owners[key] != nil) }
            if ended != count { return true }
            guard isClosing else { return false }
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
