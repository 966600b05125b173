import Glibc
package import PawlBase
import PawlDisk
import PawlJournal
import PawlSystem

/// Removes from a folder what an earlier run put there and the collection no longer has.
///
/// A file is removed only if its completion mark says that it was fetched from the address that this path has in the
/// collection, and that nobody has changed it since; where files cannot have marks, nothing is.
package struct CollectionCleanup {
    private static let deepest = 80

    private let run: CollectionRun
    private let folder: String
    private let isSelective: Bool
    private let disk = FileDisk(notice: { _ in })

    /// `isSelective`: a filter has left out entries, so that a missing one says nothing.
    package init(_ run: CollectionRun, in folder: String, isSelective: Bool) {
        self.run = run
        self.folder = folder
        self.isSelective = isSelective
    }

    /// Why nothing may be removed; `nil` if nothing speaks against it.
    package var obstacle: String? {
        let tally = run.tally
        if run.addresses(of: "") == nil { return "where its files are from cannot be told from their names" }
        if isSelective { return "a filter or a limit was given" }
        if !tally.isOver || tally.isPartial { return "the listing is not complete, or no index of files" }
        // An empty answer where there were files is more likely a mistake of the server.
        return tally.files == 0 ? "the listing is empty" : nil
    }

    /// Removes them and the folders that are then empty; `report` gets the paths below the folder, which are never all kept.
    package func removeMissing(_ report: (Result<String, Failure>) -> Void) {
        guard obstacle == nil else { return }
        _ = visit("", 0, report)
    }

    /// Returns whether something was removed.
    private func visit(_ path: String, _ depth: Int, _ report: (Result<String, Failure>) -> Void) -> Bool {
        let full = path.isEmpty ? folder : "\(folder)/\(path)"
        var hasRemoved = false
        FolderNames.forEach(in: full) { name in
            let own = path.isEmpty ? name : "\(path)/\(name)"
            var found = stat()
            guard unsafe lstat("\(folder)/\(own)", &found) == 0 else { return }
            if found.st_mode & S_IFMT == S_IFDIR, depth < Self.deepest {
                if visit(own, depth + 1, report) { hasRemoved = true }
                return
            }
            guard found.st_mode & S_IFMT == S_IFREG, !run.hasListed(own),
                let file = disk.finishedFile(name, in: full, from: run.addresses(of: own) ?? [])
            else { return }
            do throws(Failure) {
                try disk.remove(name, in: full, if: file)
                hasRemoved = true
                report(.success(own))
            } catch { report(.failure(error)) }
        }
        guard hasRemoved else { return false }
        disk.syncNames(in: full)
        // Fails where anything is left.
        if !path.isEmpty { unsafe rmdir(full) }
        return true
    }
}
