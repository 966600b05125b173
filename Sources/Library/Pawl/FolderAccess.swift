import Glibc
package import PawlBase
import PawlDisk
package import PawlJournal
import PawlSystem

/// Access to files below a folder opened once; see `RootFolder`.
package final class RootedFiles: Sendable {
    private let folder: RootFolder?

    /// If the folder cannot be opened, no file is found.
    package init(_ path: String) { folder = RootFolder(path) }

    /// Throws code 28 if a symbolic link in `path`, a path below the folder `root`, leads out of that.
    package static func check(_ path: String, below root: String) throws(Failure) {
        try RootFolder.check(path, below: root)
    }

    /// A descriptor for reading; `nil` if the file is not below the folder, its path contains a symbolic link, or it is
    /// not the finished file.
    package func open(_ path: String, if file: FinishedFile) -> Int32? { folder?.open(path, if: file) }
}

/// Folders with their contents.
package enum FolderTree {
    /// The names in a folder.
    package static func names(in folder: String) -> [String] { FolderNames.read(folder) }

    /// Removes a file, or a folder with its contents; links are unlinked, and never followed.
    package static func remove(_ path: String) {
        guard unsafe unlink(path) != 0 else { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
