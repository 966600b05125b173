import Glibc
import PawlBase
import PawlSystem

/// A netrc file, read again when it has changed: a missing one is looked for once per second.
final class NetrcFile {
    private(set) var netrc: Netrc?
    private let path: String
    private var state: State?
    private var missing: Instant?

    private struct State: Equatable {
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    /// The size limit in bytes.
    private static let longest = 1 << 20

    init(_ path: String) { self.path = path }

    /// Returns `false` when the file cannot be read.
    func refresh(at now: Instant) -> Bool {
        if let missing, now - missing < .seconds(1) { return false }
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return forget(at: now) }
        let found = State(
            inode: UInt64(info.st_ino), size: Int64(info.st_size), seconds: info.st_mtim.tv_sec,
            nanoseconds: info.st_mtim.tv_nsec)
        if found == state, netrc != nil { return true }
        guard let bytes = try? BoundedRead.file(path, atMost: Self.longest, followsLinks: true, isRegular: true)
        else { return forget(at: now) }
        netrc = Netrc(parsing: bytes)
        state = found
        missing = nil
        return true
    }

    private func forget(at now: Instant) -> Bool {
        missing = now
        netrc = nil
        state = nil
        return false
    }
}
