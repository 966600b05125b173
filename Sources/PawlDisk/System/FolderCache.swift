import CPawlSystem
import Glibc
import PawlCore
import Synchronization

/// Keeps a bounded number of folders open, so that ten thousand small files do not walk ten thousand paths.
final class FolderCache: Sendable {
    private static let limit = 64
    private let folders = Mutex<[String: Folder]>([:])
    private let marks: Bool
    private let traits: FileSystemTraits?
    private let user: FileUser
    /// For how many milliseconds a path that led to its folder is taken to lead there still.
    ///
    /// A download that has begun stays in its folder wherever that is moved to; looking anew for each of many small files
    /// finds out no more than that.
    private let trust: Int64

    /// `traits` and `marks` stand in for what the file system says, for tests.
    init(traits: FileSystemTraits?, marks: Bool, trust: Int64, user: FileUser) {
        self.user = user
        self.traits = traits
        self.trust = trust
        self.marks = marks
    }

    /// The folder at `path`, made when missing.
    func open(_ path: String) throws(Failure) -> Folder {
        if let folder = find(path) { return folder }
        do throws(SystemError) {
            return try keep(path)
        } catch  where error.number == ENOENT {
            try make(path)
        } catch {
            throw Failure.system(
                error.number == ENOTDIR ? .cannotMakeFolder : .cannotOpen,
                "cannot open",
                at: path,
                error
            )
        }
        do throws(SystemError) {
            return try keep(path)
        } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: path, error)
        }
    }

    /// The folder at `path` if there is one that can be read.
    func existing(_ path: String) -> Folder? {
        if let folder = find(path) { return folder }
        return try? keep(path)
    }

    /// The folder that was at `path` when it was last looked at.
    func kept(_ path: String) -> Folder? { folders.withLock { $0[path] } }

    /// A kept folder, if its path still leads to it: it may have been moved, and another be in its place.
    private func find(_ path: String) -> Folder? {
        guard let folder = kept(path) else { return nil }
        let now = Self.milliseconds()
        if now - folder.seenAt.load(ordering: .relaxed) < trust { return folder }
        var found = stat()
        let isThere = unsafe stat(path.isEmpty ? "." : path, &found) == 0
        if isThere && FileStatus(found).identity == folder.identity {
            folder.seenAt.store(now, ordering: .relaxed)
            return folder
        }
        folders.withLock { $0[path] = nil }
        return nil
    }

    /// Of a clock that is never set.
    private static func milliseconds() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }

    private func keep(_ path: String) throws(SystemError) -> Folder {
        let descriptor = unsafe pawl_open_folder(path.isEmpty ? "." : path)
        guard descriptor >= 0 else { throw SystemError(number: -descriptor) }
        let file = OpenFile(adopting: descriptor)
        let folder = try Folder(
            path: path,
            file: file,
            traits: traits ?? FileSystemTraits(of: file),
            marks: marks,
            user: user
        )
        folders.withLock { folders in
            if folders.count >= Self.limit, let oldest = folders.first?.key { folders[oldest] = nil }
            folders[path] = folder
        }
        return folder
    }

    /// Makes the folder and those above it that are missing.
    private func make(_ path: String) throws(Failure) {
        var prefix = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for component in path.split(separator: "/", omittingEmptySubsequences: true) {
            prefix += prefix.isEmpty || prefix == "/" ? component : "/\(component)"
            guard unsafe mkdir(prefix, 0o777) != 0, errno != EEXIST else { continue }
            let error = SystemError.last
            // A read-only or foreign folder on the way may say EACCES or EROFS for one that exists.
            var found = stat()
            if unsafe stat(prefix, &found) == 0 { continue }
            throw Failure.system(.cannotMakeFolder, "cannot make the folder", at: prefix, error)
        }
    }
}
