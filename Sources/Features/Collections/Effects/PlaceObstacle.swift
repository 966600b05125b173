import Glibc
package import PawlBase

/// What stands in the folder where the file of an entry is to be, although a collection had something else there before.
package enum PlaceObstacle: Hashable, Sendable {
    /// A file, where the collection has a folder.
    case file(at: String)
    /// A folder, where the collection has a file.
    case folder(at: String)

    /// `nil` if nothing of that kind is there.
    package init?(of entry: CollectionEntry, below folder: String) {
        let (base, path) = entry.location(in: folder)
        let whole = "\(base)/\(path)"
        var found = stat()
        if unsafe lstat(whole, &found) == 0 {
            guard found.st_mode & S_IFMT == S_IFDIR else { return nil }
            self = .folder(at: whole)
            return
        }
        guard errno == ENOTDIR else { return nil }
        var prefix = base
        for part in path.pathParts().dropLast() {
            prefix += "/\(part)"
            guard unsafe lstat(prefix, &found) == 0 else { return nil }
            if found.st_mode & S_IFMT == S_IFREG {
                self = .file(at: prefix)
                return
            }
        }
        return nil
    }

    package var failure: Failure {
        switch self {
        case .file(let place):
            Failure(
                .cannotMakeFolder, "cannot make the folder", at: place,
                because: LocalizableMessage(
                    "file-in-place-of-folder", "a file of that name is there, and the collection has a folder"),
                remedy: "move the file away, or let 'pawl get --delete' remove what an earlier run has downloaded")
        case .folder(let place):
            Failure(
                .fileExists, "cannot download to", at: place,
                because: LocalizableMessage(
                    "folder-in-place-of-file", "a folder of that name is there, and the collection has a file"),
                remedy: "move the folder away, or let 'pawl get --delete' remove what an earlier run has downloaded")
        }
    }
}
