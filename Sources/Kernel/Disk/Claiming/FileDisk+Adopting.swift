import CPawlSystem
import Glibc
package import PawlBase
package import PawlJournal
import PawlSystem

extension FileDisk {
    package func adopt(
        _ name: String, in source: String, length: Int64, as facts: JournalFacts, isNamed: Bool, isGiven: Bool,
        to folder: String
    ) throws(Failure) -> AdoptedPart? {
        let request = Claim(folder: folder, name: facts.name, ifExists: .rename, facts: facts)
        switch try claim(request, adopts: { _ in false }) {
        case .fresh(let partial):
            guard let partial = partial as? FilePartial else { preconditionFailure("a disk of files") }
            var facts = facts
            facts.name = isNamed ? partial.name : ""
            let whole = ByteRange(0, length)
            do throws(Failure) {
                let isMoved = isGiven && partial.become(name, in: source, facts, holding: whole)
                if !isMoved { try copy(name, in: source, length: length, to: partial.openFile.descriptor) }
            } catch {
                partial.discard()
                throw error
            }
            partial.wrote(whole)
            let adopted = partial.adopted
            try partial.close(keeping: facts, done: ByteRangeSet([whole]))
            return adopted
        case .found(let partial, let journal):
            let adopted = (partial as? FilePartial)?.adopted
            try partial.close(keeping: journal.facts, done: journal.done)
            return adopted
        case .existing(let partial, _):
            try partial.restoreOriginal()
            return nil
        case .skipped: return nil
        }
    }

    private func copy(_ name: String, in folder: String, length: Int64, to part: Int32) throws(Failure) {
        let path = "\(folder)/\(name)"
        do throws(SystemError) {
            guard let file = try folders.existing(folder)?.open(name, flags: O_RDONLY | O_NONBLOCK) else {
                throw SystemError(number: ENOENT)
            }
            guard try file.status().length >= length else { throw SystemError(number: EIO) }
            try SystemError.check(pawl_copy_data(file.descriptor, part, length))
        } catch { throw Failure.system(.cannotOpen, "cannot take over", at: path, error) }
    }
}

extension FilePartial {
    fileprivate var adopted: AdoptedPart { AdoptedPart(part: partPath, journal: folder.path(of: names.journal)) }

    /// Makes an existing file the part file in place of the new, empty one; `false` if it has to be copied.
    ///
    /// The journal is first: a kill before the rename leaves a journal of another file, which claims nothing, and the
    /// file under its old name; after it, the part file has its journal.
    fileprivate func become(_ name: String, in source: String, _ facts: JournalFacts, holding bytes: ByteRange) -> Bool
    {
        // A small file without a name is copied sooner than it is named.
        guard isNamed, journal == nil, let other = disk.folders.existing(source), let empty = file,
            let given = other.unshared(name, atLeast: bytes.end)
        else { return false }
        do {
            if folder.bearsMarks {
                let part = facts.representation.selection?.mark
                let mark = OwnerAttribute.value(of: facts.sources[0])
                guard try OwnerAttribute.set(mark, part: part, on: given.file) else { return false }
            }
            file = given.file
            try beginJournal(facts, done: ByteRangeSet([bytes]))
            try other.move(name, to: names.part, of: folder)
        } catch {
            file = empty
            journal = nil
            try? folder.remove(names.journal)
            return false
        }
        empty.unlock()
        length = given.length
        // Not every file system can: then a power cut leaves the old name, and the download begins anew.
        try? folder.sync()
        return true
    }
}

extension Folder {
    /// A locked regular file of this user's that has no other name, for writing; `nil` if it is not such a file.
    fileprivate func unshared(_ name: String, atLeast length: Int64) -> (file: OpenFile, length: Int64)? {
        do {
            let file = try open(name, flags: O_RDWR | O_NONBLOCK)
            guard try JournalFile.lockIfPossible(file) else { return nil }
            let status = try file.status()
            guard flaw(of: status) == nil, status.length >= length,
                try self.status(of: name)?.identity == status.identity
            else { return nil }
            return (file, status.length)
        } catch { return nil }
    }
}
