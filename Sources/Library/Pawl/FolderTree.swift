import Glibc
import PawlSystem

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
