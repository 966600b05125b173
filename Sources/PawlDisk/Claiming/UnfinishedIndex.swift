import PawlCore
import Synchronization

/// Which address each journal of a folder is about: read once for each folder, then kept by what this process does.
///
/// A hint, never a truth: the claim that follows looks at the files themselves.
final class UnfinishedIndex: Sendable {
    private let folders = Mutex<[FileIdentity: [String: String]]>([:])

    func name(of source: String, in folder: Folder) -> String? {
        let known = folders.withLock { folders -> String?? in folders[folder.identity].map { $0[source] } }
        if let known { return known }
        let read = Self.scan(folder)
        return folders.withLock { folders in
            // Another loop may have read it meanwhile, and journals begun since; its answer is as good.
            let names = folders[folder.identity] ?? read
            folders[folder.identity] = names
            return names[source]
        }
    }

    func add(_ source: String, name: String, in folder: Folder) {
        folders.withLock { $0[folder.identity]?[source] = name }
    }

    func remove(_ source: String, name: String, in folder: Folder) {
        folders.withLock { folders in
            if folders[folder.identity]?[source] == name { folders[folder.identity]?[source] = nil }
        }
    }

    private static func scan(_ folder: Folder) -> [String: String] {
        var names: [String: String] = [:]
        for entry in folder.names(endingIn: ".pawl") {
            guard let facts = JournalFile.peek(entry, in: folder), let source = facts.sources.first else {
                continue
            }
            // The files may have been renamed by hand: then their names count.
            let agrees = FileName.journal(of: facts.name) == entry
            names[source] = agrees ? facts.name : String(entry.dropLast(".pawl".count))
        }
        return names
    }
}
