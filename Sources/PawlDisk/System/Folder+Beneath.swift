import CPawlSystem
import Glibc
package import PawlCore
import PawlSystem

// Paths that others have chosen stay below their folder, also through symbolic links.
extension Folder {
    /// Throws code 28 if a symbolic link in a path below this folder leads out of it, or, where `found` is what the path was
    /// resolved to, if that is not below it.
    ///
    /// What is missing will be created inside.
    func checkBeneath(_ path: String, _ found: Folder? = nil) throws(Failure) {
        var parts = path.pathParts()
        while !parts.isEmpty {
            let opened = withDescriptor {
                unsafe pawl_open_folder_beneath($0, parts.joined(separator: "/"))
            }
            if opened >= 0 {
                let file = OpenFile(adopting: opened)
                guard let found, (try? file.status().identity) != found.identity else { return }
                throw .leadsOut(path)
            }
            switch -opened {
            case EXDEV, ELOOP: throw .leadsOut(path)
            case ENOENT: parts.removeLast()
            // What is in the way is reported when the path is used.
            case _: return
            }
        }
    }
}

extension Failure {
    /// A symbolic link leads to another place than a path names.
    package static func leadsOut(_ folder: String) -> Failure {
        Failure(
            .badOption,
            "cannot use",
            at: "the folder \(folder)",
            because: LocalizableMessage("folder-leads-out", "a link in it leads out of the download root"),
            remedy: "give another folder"
        )
    }
}

extension RootFolder {
    /// Throws code 28 if a symbolic link in `path`, a path below the folder `root`, leads out of that; a root that does not
    /// exist has no links.
    package static func check(_ path: String, below root: String) throws(Failure) {
        let folders = FolderCache(
            traits: nil,
            marks: false,
            trust: 0,
            user: FileUser(user: geteuid(), group: getegid())
        )
        try folders.existing(root)?.checkBeneath(path)
    }
}
