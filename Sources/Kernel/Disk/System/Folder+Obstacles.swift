import Glibc
package import PawlBase
import PawlSystem

extension Folder {
    /// Why what has that name, and is no regular file, is neither replaced nor used.
    package func obstacle(_ name: String, _ found: FileStatus) -> Failure {
        let target = target(of: name)
        if found.isSpecial || target?.isSpecial == true { return .noFile(path(of: name)) }
        guard found.isLink else {
            return .notAFile(
                path(of: name), because: LocalizableMessage("folder-name-exists", "a directory of that name exists"))
        }
        let why =
            switch target {
            case nil: LocalizableMessage("link-to-nothing", "a symbolic link of that name leads to nothing")
            case let target? where target.isRegular:
                LocalizableMessage("link-exists", "a symbolic link of that name exists")
            case _?: LocalizableMessage("link-to-folder", "a symbolic link of that name leads to a directory")
            }
        return .notAFile(path(of: name), because: why)
    }
}

extension LocalizableMessage {
    /// The first symbolic link in the path that cannot be followed to anything; `nil` when there is none.
    static func deadLink(in path: String) -> LocalizableMessage? {
        var prefix = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for component in path.pathParts() {
            prefix += prefix.isEmpty || prefix == "/" ? component : "/\(component)"
            var found = stat()
            guard unsafe lstat(prefix, &found) == 0 else { return nil }
            guard found.st_mode & S_IFMT == S_IFLNK, unsafe stat(prefix, &found) != 0 else { continue }
            if errno == ELOOP {
                return LocalizableMessage("path-link-circle", "the symbolic link \(prefix) leads back to itself")
            }
            return errno == ENOENT
                ? LocalizableMessage("path-link-dead", "the symbolic link \(prefix) leads to nothing") : nil
        }
        return nil
    }
}
