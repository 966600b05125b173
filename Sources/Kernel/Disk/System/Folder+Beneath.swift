import CPawlSystem
import Glibc
package import PawlBase
import PawlJournal
import PawlSystem

// Paths that others have chosen stay below their folder, also through symbolic links.
extension Folder {
    /// Throws code 28 if a symbolic link in a path below this folder leads out of it, or, where `found` is what the path was
    /// resolved to, if that is not below it.
    ///
    /// What is missing will be created inside. Throws, too, if it cannot be determined for lack of a descriptor.
    package func checkBeneath(_ path: String, _ found: Folder? = nil) throws(Failure) {
        var parts = path.pathParts()
        while !parts.isEmpty {
            let part = parts.joined(separator: "/")
            do throws(SystemError) {
                let opened = try openBeneath(part).status().identity
                if found == nil || opened == found?.identity { return }
                // Another folder has got the path meanwhile.
                throw SystemError(number: EXDEV)
            } catch {
                switch error.number {
                case EXDEV: throw .leadsOut(path)
                case ENOENT: parts.removeLast()
                case EMFILE, ENFILE, ENOMEM: throw .system(.cannotOpen, "cannot open", at: self.path(of: part), error)
                // What is in the way is reported when the path is used.
                case _:
                    guard found == nil else { throw .leadsOut(path) }
                    return
                }
            }
        }
    }

    /// Opens a folder below this one (EXDEV: it is not below).
    ///
    /// The system refuses every absolute link, and without openat2(2) every link. Where one leads is seen by the way up from there.
    private func openBeneath(_ path: String) throws(SystemError) -> OpenFile {
        let opened = withDescriptor { unsafe pawl_open_folder_beneath($0, path) }
        if opened >= 0 { return OpenFile(adopting: opened) }
        guard [EXDEV, ELOOP, ENOTDIR].contains(-opened) else { throw SystemError(number: -opened) }
        let followed = withDescriptor { unsafe pawl_open_folder_at($0, path) }
        guard followed >= 0 else { throw SystemError(number: -followed) }
        let folder = OpenFile(adopting: followed)
        guard try isAbove(folder) else { throw SystemError(number: EXDEV) }
        return folder
    }

    /// Whether an open folder is this one or below it.
    private func isAbove(_ folder: OpenFile) throws(SystemError) -> Bool {
        var (folder, own) = (folder, try folder.status().identity)
        while own != identity {
            let parent = pawl_open_parent(folder.descriptor)
            guard parent >= 0 else { throw SystemError(number: -parent) }
            folder = OpenFile(adopting: parent)
            let above = try folder.status().identity
            // The root's parent is the root.
            if above == own { return false }
            own = above
        }
        return true
    }
}

extension Failure {
    /// A symbolic link leads to another place than a path names.
    package static func leadsOut(_ folder: String) -> Failure {
        Failure(
            .badOption, "cannot use", at: "the folder \(folder)",
            because: LocalizableMessage("folder-leads-out", "a link in it leads out of the download root"),
            remedy: "give another folder")
    }
}

extension RootFolder {
    /// Throws code 28 if a symbolic link in `path`, a path below the folder `root`, leads out of that; a root that does not
    /// exist has no links.
    package static func check(_ path: String, below root: String) throws(Failure) {
        let folders = FolderCache(
            traits: nil, marks: false, trust: 0, user: FileUser(user: geteuid(), group: getegid()))
        try folders.existing(root)?.checkBeneath(path)
    }
}
