import Glibc
import PawlBase
import PawlJournal
import Synchronization

/// The URL of each part file in a folder: read once per folder, then kept up to date by this process.
///
/// Only a hint: the claim that follows inspects the files themselves.
final class UnfinishedIndex: Sendable {
    private struct Names: Sendable {
        /// By the first URL in the journal.
        var journalled: [Bytewise<String>: String] = [:]
        /// By the owner attribute, for part files without a readable journal; this process knows the names of its own.
        var leftovers: [UInt64: String] = [:]
        /// Files with spare names of part files and journals, whosever they are.
        var spares: Set<Bytewise<String>> = []
        /// Files with the usual names of part files, whosever they are.
        ///
        /// Those that were there, and those of this process that have a journal; they may be gone.
        var parts: Set<Bytewise<String>> = []
    }

    private let folders = Mutex<[FileIdentity: Names]>([:])

    func name(of source: String, in folder: Folder) -> String? { look(in: folder) { $0.journalled[Bytewise(source)] } }

    /// The name of a part file whose process was killed before it wrote a journal.
    func leftover(of source: String, in folder: Folder) -> String? {
        look(in: folder) { $0.leftovers[OwnerAttribute.value(of: source)] }
    }

    /// Whether files with spare names may be beside `name`.
    ///
    /// Looks at no file; a folder that was not read yet may have any.
    func maySpare(_ name: String, in folder: Folder) -> Bool {
        folders.withLock { folders in
            guard let spares = folders[folder.identity]?.spares else { return true }
            return !spares.isEmpty
                && (spares.contains(Bytewise(FileName.partial(of: name, as: .spare)))
                    || spares.contains(Bytewise(FileName.journal(of: name, as: .spare))))
        }
    }

    /// Whether a part file may be beside `name`, under its usual name or a spare one.
    ///
    /// Looks at no file, but reads the folder if that was not done yet.
    func mayHavePart(_ name: String, in folder: Folder) -> Bool {
        look(in: folder) { names in
            let isAny = !names.parts.isEmpty || !names.spares.isEmpty
            guard isAny else { return nil }
            let isPart = names.parts.contains(Bytewise(FileName.partial(of: name, as: .usual)))
            return isPart || names.spares.contains(Bytewise(FileName.partial(of: name, as: .spare)))
                || names.spares.contains(Bytewise(FileName.journal(of: name, as: .spare))) ? name : nil
        } != nil
    }

    /// This process uses spare names for `name`.
    func addSpare(_ name: String, in folder: Folder) {
        let part = Bytewise(FileName.partial(of: name, as: .spare))
        folders.withLock { _ = $0[folder.identity]?.spares.insert(part) }
    }

    private func look(in folder: Folder, _ find: (Names) -> String?) -> String? {
        let known = folders.withLock { $0[folder.identity].map(find) }
        if let known { return known }
        let read = Self.scan(folder)
        return folders.withLock { folders in
            // Another loop may have read it in the meantime, and started journals since; its result is as good.
            let names = folders[folder.identity] ?? read
            folders[folder.identity] = names
            return find(names)
        }
    }

    func add(_ source: String, name: String, in folder: Folder) {
        let part = Bytewise(FileName.partial(of: name, as: .usual))
        folders.withLock { folders in
            folders[folder.identity]?.journalled[Bytewise(source)] = name
            _ = folders[folder.identity]?.parts.insert(part)
        }
    }

    func remove(_ source: String, name: String, in folder: Folder) {
        folders.withLock { folders in
            let key = Bytewise(source)
            guard (folders[folder.identity]?.journalled[key]).hasSameBytes(as: name) else { return }
            folders[folder.identity]?.journalled[key] = nil
        }
    }

    /// A missing file is no reason for distrust.
    private static func isTrusted(_ name: String, in folder: Folder) -> Bool {
        guard let found = try? folder.status(of: name) else { return true }
        return folder.flaw(of: found) == nil
    }

    private static func scan(_ folder: Folder) -> Names {
        var names = Names()
        var known: Set<Bytewise<String>> = []
        for form in FileName.PartForm.allCases {
            for entry in folder.names(endingIn: form.journalEnding) {
                if form == .spare { names.spares.insert(Bytewise(entry)) }
                guard let facts = JournalFile.peek(entry, in: folder), let source = facts.sources.first else {
                    continue
                }
                // The files may have been renamed by hand: then their names count.
                let agrees = FileName.journal(of: facts.name, as: form).hasSameBytes(as: entry)
                let name = agrees ? facts.name : entry.withoutEnding(form.journalEnding)
                guard isTrusted(FileName.partial(of: name, as: form), in: folder) else { continue }
                names.journalled[Bytewise(source)] = name
                known.insert(Bytewise(FileName.partial(of: name, as: form)))
            }
            for entry in folder.names(endingIn: form.partialEnding) {
                if form == .spare { names.spares.insert(Bytewise(entry)) } else { names.parts.insert(Bytewise(entry)) }
                guard !known.contains(Bytewise(entry)) else { continue }
                guard case .of(let mark) = OwnerAttribute.ofPart(entry, in: folder) else { continue }
                names.leftovers[mark] = entry.withoutEnding(form.partialEnding)
            }
        }
        return names
    }
}

extension String {
    /// Without its last bytes: a combining mark before an ending does not belong to it.
    fileprivate func withoutEnding(_ ending: String) -> String { String(Substring(utf8.dropLast(ending.utf8.count))) }
}
