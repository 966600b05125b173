import Glibc
package import PawlBase

/// Folders of a feature's own layout, by their paths.
package enum FolderPath {
    /// The path up to its last slash.
    package static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the folder and those above it, with the permissions that the user's mask leaves.
    package static func make(_ path: String) throws(Failure) {
        guard unsafe mkdir(path, 0o777) != 0, errno != EEXIST else { return }
        let error = SystemError.last
        let above = parent(of: path)
        guard error.number == ENOENT, above != path, above != "." else { throw failure(path, error) }
        try make(above)
        guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else { throw failure(path, .last) }
    }

    private static func failure(_ path: String, _ error: SystemError) -> Failure {
        Failure(.cannotMakeFolder, "cannot create the folder", at: path, because: error.text)
    }
}
