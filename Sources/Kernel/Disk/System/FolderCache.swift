import CPawlSystem
import Glibc
package import PawlBase
package import PawlJournal
import PawlSystem
import Synchronization

/// Keeps a bounded number of folders open, so that ten thousand small files do not resolve ten thousand paths.
package final class FolderCache: Sendable {
    /// A part of the descriptors of this process: its transfers need them, too.
    private let limit = max(2, min(64, SystemDescriptors.limit / 16))
    private let folders = Mutex<[Bytewise<String>: Folder]>([:])
    private let marks: Bool
    private let traits: FileSystemTraits?
    private let user: FileUser
    /// The time in milliseconds for which a path is assumed to lead to the same folder.
    ///
    /// A running download stays in its folder wherever that is moved to; resolving the path for each of many small
    /// files reveals no more than that.
    private let trust: Int64

    /// `traits` and `marks` replace the file system's properties, for tests.
    package init(traits: FileSystemTraits?, marks: Bool, trust: Int64, user: FileUser) {
        self.user = user
        self.traits = traits
        self.trust = trust
        self.marks = marks
    }

    /// The folder at `path`, created when missing.
    ///
    /// One that was removed a moment ago is found where it is `trusting`, and nothing can be created in it.
    package func open(_ path: String, trusting: Bool = true) throws(Failure) -> Folder {
        if let folder = find(path, trusting: trusting) { return folder }
        do throws(SystemError) { return try keep(path) } catch  where error.number == ENOENT || error.number == ELOOP {
            if let dead = LocalizableMessage.deadLink(in: path) { throw .noFolder(path, because: dead) }
            try make(path)
        } catch  where error.number == ENOTDIR { throw Failure.noFolder(path, because: .file(inPlaceOf: path)) } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: path, error)
        }
        do throws(SystemError) { return try keep(path) } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: path, error)
        }
    }

    /// The folder at `path` if it exists and can be read; only for many small files, it may be `trusting`.
    package func existing(_ path: String, trusting: Bool = false) -> Folder? {
        if let folder = find(path, trusting: trusting) { return folder }
        return try? keep(path)
    }

    /// The folder that was at `path` when it was last resolved.
    package func kept(_ path: String) -> Folder? { folders.withLock { $0[Bytewise(path)] } }

    /// A kept folder, if its path still leads to it: it may have been moved, and another created in its place.
    private func find(_ path: String, trusting: Bool) -> Folder? {
        guard let folder = kept(path) else { return nil }
        let now = Self.milliseconds()
        if trusting, now - folder.seenAt.load(ordering: .relaxed) < trust { return folder }
        if folder.isInPlace {
            folder.seenAt.store(now, ordering: .relaxed)
            return folder
        }
        folders.withLock { $0[Bytewise(path)] = nil }
        return nil
    }

    /// The time of a monotonic clock.
    private static func milliseconds() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }

    /// Closes folders that nothing else uses; `false` when none is kept.
    @discardableResult package func release() -> Bool {
        folders.withLock { folders in
            defer { folders = [:] }
            return !folders.isEmpty
        }
    }

    private func keep(_ path: String) throws(SystemError) -> Folder {
        var descriptor = unsafe pawl_open_folder(path.isEmpty ? "." : path)
        if [EMFILE, ENFILE].contains(-descriptor), release() {
            descriptor = unsafe pawl_open_folder(path.isEmpty ? "." : path)
        }
        guard descriptor >= 0 else { throw SystemError(number: -descriptor) }
        let file = OpenFile(adopting: descriptor)
        let folder = try Folder(
            path: path, file: file, traits: traits ?? FileSystemTraits(of: file), marks: marks, user: user)
        folders.withLock { folders in
            if folders.count >= limit, let oldest = folders.first?.key { folders[oldest] = nil }
            folders[Bytewise(path)] = folder
        }
        return folder
    }

    /// Creates the folder and its missing parents.
    private func make(_ path: String) throws(Failure) {
        var prefix = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for component in path.pathParts() {
            prefix += prefix.isEmpty || prefix == "/" ? component : "/\(component)"
            guard unsafe mkdir(prefix, 0o777) != 0, errno != EEXIST else { continue }
            let error = SystemError.last
            // A read-only or foreign folder in the path may return EACCES or EROFS for one that exists.
            var found = stat()
            if unsafe stat(prefix, &found) == 0 { continue }
            // The folder that it would be in exists: procfs and the like have no others than their own.
            if error.number == ENOENT { throw Failure.noFolder(prefix, because: .noPlaceForOwn) }
            throw Failure.system(.cannotMakeFolder, "cannot make the folder", at: prefix, error)
        }
    }
}
