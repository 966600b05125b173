import Glibc
import Synchronization

/// Queues of managers of this process that were released without being shut down, until they are closed.
///
/// A program that opens one of them again has no other way to wait for that.
enum ClosingManagers {
    private static let roots = Mutex<[FolderIdentity: Int]>([:])
    private static let ends = ChangeSignal()

    static func begin(_ root: FolderIdentity) { roots.withLock { $0[root, default: 0] += 1 } }

    static func end(_ root: FolderIdentity) {
        roots.withLock { roots in
            let rest = (roots[root] ?? 0) - 1
            roots[root] = rest > 0 ? rest : nil
        }
        ends.notify()
    }

    /// Waits until none of `root` is being closed; `false` if none was.
    static func wait(for root: String) async -> Bool {
        guard let root = FolderIdentity(of: root) else { return false }
        var hasWaited = false
        while !Task.isCancelled {
            let seen = ends.count
            guard roots.withLock({ $0[root] != nil }) else { return hasWaited }
            hasWaited = true
            await ends.wait(after: seen)
        }
        return false
    }
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
