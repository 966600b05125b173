import Glibc

/// Folders with their contents.
package enum FolderTree {
    /// The names in a folder.
    package static func names(in folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: unsafe bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a file, or a folder with its contents; links are unlinked, and never followed.
    package static func remove(_ path: String) {
        guard unsafe unlink(path) != 0 else { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
