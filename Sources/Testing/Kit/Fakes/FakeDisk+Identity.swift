package import PawlBase
package import PawlJournal
import Synchronization

// What is done to the finished file of a download.
extension FakeDisk {
    package func stamp(of name: String, in folder: String) -> FileStamp? {
        state.withLock { $0.folder.finished[folder + "/" + name] }?.stamp
    }

    package func presence(of file: FinishedFile, as name: String, in folder: String) -> FinishedFile.Presence {
        guard let found = stamp(of: name, in: folder) else { return .missing }
        if state.withLock({ $0.identifiesByName }) { return .there }
        return file.presence(of: found) { nil }
    }

    package func remove(_ name: String, in folder: String, if file: FinishedFile) throws(Failure) {
        guard try prove(file, name, in: folder, to: "cannot remove") else { return }
        checkOwn(folder + "/" + name, "removed")
        state.withLock { $0.folder.removeFinished(folder + "/" + name) }
    }

    package func rename(
        _ name: String, to newName: String, in folder: String, if file: FinishedFile, replacing: Bool
    ) throws(Failure) {
        guard try prove(file, name, in: folder, to: "cannot rename") else {
            throw Failure(.renameFailed, "cannot rename", at: folder + "/" + name, because: "it does not exist")
        }
        checkOwn(folder + "/" + name, "renamed")
        if replacing { state.withLock { $0.folder.removeFinished(folder + "/" + newName) } }
        try give(newName, in: folder, toFile: name, in: folder)
        state.withLock { $0.folder.removeFinished(folder + "/" + name) }
    }

    package func link(
        _ name: String, from folder: String, as newName: String, to newFolder: String, if file: FinishedFile
    ) throws(Failure) {
        guard try prove(file, name, in: folder, to: "cannot move") else {
            throw Failure(.renameFailed, "cannot move", at: folder + "/" + name, because: "it does not exist")
        }
        checkOwn(folder + "/" + name, "moved")
        guard !isAway(newFolder) else {
            throw Failure(.cannotCreate, "cannot move", at: newFolder, because: "permission was denied")
        }
        try give(newName, in: newFolder, toFile: name, in: folder)
    }

    private func give(_ newName: String, in newFolder: String, toFile name: String, in folder: String) throws(Failure) {
        let isTaken = state.withLock { state in
            guard let file = state.folder.finished[folder + "/" + name] else { return false }
            guard state.folder.finished[newFolder + "/" + newName] == nil else { return true }
            state.folder.put(file, at: newFolder + "/" + newName)
            return false
        }
        guard isTaken else { return }
        throw Failure(.fileExists, "cannot rename", at: folder + "/" + name, because: "\(newName) exists")
    }

    /// `false` when there is no such file.
    private func prove(_ file: FinishedFile, _ name: String, in folder: String, to what: String) throws(Failure) -> Bool
    {
        switch presence(of: file, as: name, in: folder) {
        case .missing: return false
        case .there: return true
        case .changed, .other: throw Failure.notTheFile(what, at: folder + "/" + name)
        }
    }

    /// A file that no download has finished, or that was written since, is the user's.
    private func checkOwn(_ path: String, _ action: String) {
        guard let file = state.withLock({ $0.folder.finished[path] }) else { return }
        if file.contents.withLock({ $0.source.isEmpty || $0.isUsers }) {
            violate(.users, "the user's file \(path) was \(action)")
        }
    }
}

extension FakeFile {
    var stamp: FileStamp {
        contents.withLock { contents in
            FileStamp(
                device: 1, inode: UInt64(number), length: Int64(contents.length),
                modified: contents.modified.map { $0.seconds * 1_000_000_000 } ?? contents.changed,
                birth: Int64(number) + 1)
        }
    }
}
