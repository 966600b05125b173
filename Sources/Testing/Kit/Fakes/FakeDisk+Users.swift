package import PawlBase
import PawlJournal
import Synchronization

// What the user does: finished files are moved, replaced and edited, and the disk of a folder goes and comes.
extension FakeDisk {
    /// A folder whose disk is not there.
    struct AwayFolder: Sendable {
        var stash: FakeFolder.Stash
        /// Whether there is no folder at all, or that in which the disk was mounted.
        var isMissing: Bool
    }

    static func isFile(_ path: String, in folder: String) -> Bool {
        path.hasPrefix(folder + "/") && !path.dropFirst(folder.count + 1).contains("/")
    }

    // MARK: finished files

    /// The path of a finished file of one of these URLs that nobody has touched.
    package func finishedPath(of sources: Set<String>) -> String? {
        state.withLock { state in
            state.folder.finished.keys.sorted().first { path in
                state.folder.finished[path]?.contents.withLock {
                    sources.contains($0.source) && !$0.isUsers && $0.holder == nil
                } == true
            }
        }
    }

    /// Gives a file another name, unless that is taken.
    package func move(_ path: String, to newPath: String) -> Bool {
        state.withLock { state in
            guard let file = state.folder.finished[path], state.folder.finished[newPath] == nil,
                state.folder.parts[newPath] == nil
            else { return false }
            state.folder.removeFinished(path)
            state.folder.put(file, at: newPath)
            return true
        }
    }

    /// Writes to a finished file, which gets longer.
    package func edit(_ path: String) {
        let now = timeline.now
        state.withLock { $0.folder.finished[path] }?.contents.withLock { contents in
            if !contents.isUsers { contents.usersFrom = contents.length }
            contents.append(7, now: now)
            contents.modified = nil
            contents.isUsers = true
        }
    }

    /// Whether no download has finished the file, or somebody has written to it since.
    package func isUsers(_ path: String) -> Bool {
        state.withLock { $0.folder.finished[path] }?.contents.withLock { $0.source.isEmpty || $0.isUsers } ?? false
    }

    package func identifyByName() { state.withLock { $0.identifiesByName = true } }

    // MARK: disks that go and come

    package func confuseFolders() { state.withLock { $0.confusesFolders = true } }

    /// Calls `body` with each attempt to begin a part file in a folder whose disk is away.
    package func onAwayClaim(_ body: @escaping @Sendable (_ source: String, _ path: String) -> Void) {
        state.withLock { $0.onAwayClaim = body }
    }

    /// Takes the disk of a folder away; `false` while a file on it is open.
    package func unmount(_ folder: String, isMissing: Bool) -> Bool {
        state.withLock { state in
            guard state.away[folder] == nil else { return true }
            let isBusy = (Array(state.folder.parts) + Array(state.folder.finished)).contains { path, file in
                Self.isFile(path, in: folder) && file.contents.withLock { $0.holder != nil }
            }
            guard !isBusy else { return false }
            state.away[folder] = AwayFolder(stash: state.folder.takeAway(folder), isMissing: isMissing)
            return true
        }
    }

    package func mount(_ folder: String) {
        state.withLock { state in
            guard let away = state.away.removeValue(forKey: folder) else { return }
            state.folder.bringBack(away.stash)
        }
    }

    package func isAway(_ folder: String) -> Bool { state.withLock { $0.away[folder] != nil } }

    /// Whether the disk that is away has bytes of a part file.
    package func awayHolds(_ path: String, in folder: String) -> Bool {
        state.withLock { $0.away[folder]?.stash.parts[path] }?.contents.withLock { !$0.written.isEmpty } ?? false
    }

    package func stamp(ofFolder folder: String) -> FolderStamp? {
        let there = FolderStamp(inode: 1, birth: 1)
        return state.withLock { state in
            guard let away = state.away[folder], !state.confusesFolders else { return there }
            return away.isMissing ? nil : FolderStamp(inode: 2, birth: 2)
        }
    }

    /// Without its disk a folder belongs to another user.
    func checkPlace(of claim: Claim) throws(Failure) {
        guard isAway(claim.folder) else { return }
        let path = claim.folder + "/" + claim.name
        state.withLock { $0.onAwayClaim }?(claim.facts.sources.first ?? "", path)
        throw Failure(.cannotCreate, "cannot create", at: path, because: "permission was denied")
    }
}
