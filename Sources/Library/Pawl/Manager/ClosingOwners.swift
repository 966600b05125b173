#if Queue
import Glibc
import Synchronization

/// Owners in this process that nobody holds any more and that are still closing what they own.
///
/// A program that opens the same again has no other way to wait for that.
package final class ClosingOwners<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var lastTurn: UInt64 = 0
        /// The turns of those that are being closed.
        var owners: [Key: Set<UInt64>] = [:]
        var ended: UInt64 = 0
    }

    private let state = Mutex(State())
    private let ends = ChangeSignal()

    package init() {}

    /// The place of a new owner in the order in which owners are made.
    package func takeTurn() -> UInt64 {
        state.withLock { state in
            state.lastTurn += 1
            return state.lastTurn
        }
    }

    package func begin(_ key: Key, _ turn: UInt64) { state.withLock { _ = $0.owners[key, default: []].insert(turn) } }

    package func end(_ key: Key, _ turn: UInt64) {
        state.withLock { state in
            state.owners[key]?.remove(turn)
            if state.owners[key]?.isEmpty == true { state.owners[key] = nil }
            state.ended += 1
        }
        ends.notify()
    }

    /// How many owners have been closed: read before an attempt to open.
    package var count: UInt64 { state.withLock { $0.ended } }

    /// Waits until no owner that was made before `turn` is closing the key, or the task is cancelled: owners never wait for
    /// each other.
    ///
    /// Returns whether another attempt may succeed: an owner has been closed since `count` was read.
    package func wait(for key: Key, before turn: UInt64, since count: UInt64) async -> Bool {
        while !Task.isCancelled {
            let seen = ends.count
            let (ended, isAwaited) = state.withLock { state in
                (state.ended, state.owners[key]?.contains { $0 < turn } ?? false)
            }
            guard isAwaited else { return ended != count }
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
#endif
