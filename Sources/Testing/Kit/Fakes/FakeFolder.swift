import PawlBase
import Synchronization

/// The names of files, and the fate of the latest changes in a power cut.
///
/// Changes become durable in their order, as in journalling file systems; a sync of a file
/// covers the change that created it, and a sync of the folder all of them.
struct FakeFolder: Sendable {
    private enum Change: Sendable {
        case made(String, FakeFile)
        case published(from: String, to: String, FakeFile, replaced: FakeFile?)
        case removed(String, FakeFile)
        /// A finished file has become a part file.
        case converted(String, FakeFile)
    }

    private(set) var parts: [String: FakeFile] = [:]
    private(set) var finished: [String: FakeFile] = [:]
    private var unsynced: [Change] = []

    var paths: [String] { parts.keys.sorted() }
    /// Every file that exists or that a power cut can restore, in the order of creation.
    var files: [FakeFile] {
        var all = Array(parts.values) + Array(finished.values)
        for case .removed(_, let file) in unsynced { all.append(file) }
        for case .published(_, _, _, let replaced?) in unsynced { all.append(replaced) }
        let byNumber = Dictionary(all.map { ($0.number, $0) }) { first, _ in first }
        return byNumber.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Adds a file that another program created long ago.
    mutating func put(_ file: FakeFile, at path: String) { finished[path] = file }
    mutating func removeFinished(_ path: String) { finished[path] = nil }

    /// The files of one folder, while its disk is away.
    struct Stash: Sendable {
        var parts: [String: FakeFile]
        var finished: [String: FakeFile]
    }

    /// Takes the files of a folder away; an orderly unmount has synced their names.
    mutating func takeAway(_ folder: String) -> Stash {
        let prefix = folder + "/"
        let stash = Stash(
            parts: parts.filter { $0.key.hasPrefix(prefix) }, finished: finished.filter { $0.key.hasPrefix(prefix) })
        for path in stash.parts.keys { parts[path] = nil }
        for path in stash.finished.keys { finished[path] = nil }
        sync()
        return stash
    }

    mutating func bringBack(_ stash: Stash) {
        parts.merge(stash.parts) { _, back in back }
        finished.merge(stash.finished) { _, back in back }
    }

    mutating func make(_ file: FakeFile, at path: String) {
        guard parts[path] !== file else { return }
        parts[path] = file
        unsynced.append(.made(path, file))
    }

    mutating func publish(_ path: String, as final: String) {
        guard let file = parts.removeValue(forKey: path) else { return }
        unsynced.append(.published(from: path, to: final, file, replaced: finished[final]))
        finished[final] = file
    }

    mutating func remove(_ path: String) {
        guard let file = parts.removeValue(forKey: path) else { return }
        unsynced.append(.removed(path, file))
    }

    mutating func convert(_ path: String) -> FakeFile? {
        guard let file = finished.removeValue(forKey: path) else { return nil }
        parts[path] = file
        unsynced.append(.converted(path, file))
        return file
    }

    mutating func sync() { unsynced = [] }

    /// A sync of a file's data makes its name durable too, if it is new.
    mutating func sync(_ file: FakeFile) {
        let last = unsynced.lastIndex { change in
            switch change {
            case .made(_, let made): made === file
            case .published, .removed, .converted: false
            }
        }
        if let last { unsynced.removeSubrange(...last) }
    }

    mutating func losePower(_ dice: inout Dice) {
        let kept = Int(dice.next() % UInt64(unsynced.count + 1))
        for change in unsynced[kept...].reversed() { undo(change) }
        unsynced = []
    }

    private mutating func undo(_ change: Change) {
        switch change {
        case .made(let path, _): parts[path] = nil
        case .published(let path, let final, let file, let replaced):
            parts[path] = file
            finished[final] = replaced
        case .removed(let path, let file): parts[path] = file
        case .converted(let path, let file):
            parts[path] = nil
            finished[path] = file
            file.contents.withLock { $0.goBack() }
        }
    }
}
