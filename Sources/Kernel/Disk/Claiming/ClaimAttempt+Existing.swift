import CPawlSystem
import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// `IfExists.resume`: a finished file becomes the part file, and can be restored.
extension ClaimAttempt {
    /// More holes of a finished file are not looked for.
    static let mostHoles = 1 << 12

    func convert(_ ticket: ClaimTicket) throws(Failure) -> Outcome {
        if try isJournalOthers() { return .distrusted(.foreignFile(journalPath)) }
        if let control = try controlFile() { return .taken(.unfinishedElsewhere(finalPath, control)) }
        let file: OpenFile
        let status: FileStatus
        do throws(SystemError) {
            file = try folder.open(names.final, flags: O_RDWR | O_NONBLOCK)
            guard try JournalFile.lockIfPossible(file) else { return .taken(.alreadyDownloading(finalPath)) }
            status = try file.status()
            guard try folder.status(of: names.final)?.identity == status.identity else { return .again }
        } catch  where error.isMissing { return .again } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: finalPath, error)
        }
        switch folder.flaw(of: status) {
        case nil: return try move(file, status, ticket)
        case .otherOwner: return .taken(.distrusted(finalPath, .otherOwner))
        // Other names of this file must not see new bytes, and a file that others can write to is not taken over.
        case .severalNames, .writableByOthers: return try copy(file, status, ticket)
        case .notRegular: return .taken(.exists(finalPath))
        }
    }

    /// What an earlier run has left beside a finished file that has its name: the copy that continues it, or a part file
    /// that cannot get that name.
    ///
    /// Decided before anything is requested.
    func continuing(_ outcome: Outcome, of finished: FileStatus) throws(Failure) -> Outcome {
        guard case .result(let result) = outcome else { return outcome }
        switch result {
        case .fresh(let partial):
            // A kill interrupted the copying.
            partial.discard()
            return .again
        case .found(let found, let journal):
            guard let partial = found as? FilePartial else { return outcome }
            let done = journal.done.prefix
            var isCopy = journal.original == nil && (done == 0 || done >= finished.length)
            if isCopy, done > 0 { isCopy = try holdsFinished(partial, finished) }
            guard isCopy else {
                partial.release()
                return .taken(.otherPart(of: finalPath, names.part))
            }
            guard done > finished.length else {
                // Nothing was added, and the finished file may not have been compared yet.
                partial.discard()
                return .again
            }
            partial.origin = .copied(from: finished.identity)
            let loaded = LoadedJournal(facts: journal.facts, done: journal.done, original: finished.length)
            return .result(.found(partial, loaded))
        case .existing(let partial, _):
            (partial as? FilePartial)?.release()
            return .taken(.otherPart(of: finalPath, names.part))
        case .skipped: return outcome
        }
    }

    /// Whether the part file begins with all bytes of the finished file.
    private func holdsFinished(_ partial: FilePartial, _ finished: FileStatus) throws(Failure) -> Bool {
        do throws(SystemError) {
            let file = try folder.open(names.final, flags: O_RDONLY | O_NONBLOCK)
            guard try file.status().identity == finished.identity else { return false }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
            defer { unsafe buffer.deallocate() }
            var position: Int64 = 0
            while position < finished.length {
                let room = min(Int64(buffer.count), finished.length - position)
                let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(room)])
                let count = try unsafe file.read(into: part, at: position)
                guard count > 0 else { return false }
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: part[..<count])
                guard try unsafe partial.openFile.holds(bytes, at: position) else { return false }
                position += Int64(count)
            }
            return true
        } catch { throw Failure.system(.inputOutput, "cannot compare", at: finalPath, error) }
    }

    /// The file beside this one with which another program shows that it has not finished it: such a file may have its
    /// last byte and lack others.
    private func controlFile() throws(Failure) -> String? {
        do throws(SystemError) {
            for ending in ForeignMarks.controlFiles {
                let name = "\(names.final).\(ending)"
                // An empty one belongs to no unfinished file.
                if let found = try folder.status(of: name), found.isRegular, found.length > 0 { return name }
            }
            return nil
        } catch  where error.isTooLong { return nil } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: finalPath, error)
        }
    }

    /// The journal is written and synced first and records that this was a finished file: a kill or a power cut between the
    /// steps leaves either the file under its name, or a part file that the next claim restores or resumes.
    private func move(_ file: OpenFile, _ status: FileStatus, _ ticket: ClaimTicket) throws(Failure) -> Outcome {
        try clearOrphan()
        let facts = facts
        let boot = folder.traits.contains(.local) ? disk.environment.boot : nil
        let nonce = disk.environment.nonce()
        let journal = try JournalFile.make(names.journal, in: folder) { inode in
            JournalKeeper.begun(
                facts: facts, done: ByteRangeSet(), original: status.length,
                inodes: JournalInodes(part: status.identity.inode, journal: inode), boot: boot, nonce: nonce)
        }
        do throws(SystemError) {
            // A part file whose journal is empty would begin anew.
            if !folder.traits.contains(.volatile) { try journal.file.syncAll() }
            try setMark(on: file)
            try folder.rename(names.final, to: names.part, replacing: false)
        } catch {
            OwnerAttribute.remove(from: file)
            try? folder.remove(names.journal)
            if error.number == EEXIST || error.isMissing { return .again }
            throw Failure.system(.renameFailed, "cannot rename", at: finalPath, error)
        }
        let partial = partial(
            file, length: status.length, journal: journal, origin: .renamed(length: status.length, status: status),
            ticket: ticket)
        partial.holes = file.holes(limit: Self.mostHoles)
        return .result(.existing(partial, length: status.length))
    }

    private func copy(_ file: OpenFile, _ status: FileStatus, _ ticket: ClaimTicket) throws(Failure) -> Outcome {
        guard let part = try makePart() else { return .again }
        do throws(SystemError) {
            try SystemError.check(pawl_copy_data(file.descriptor, part.descriptor, status.length))
        } catch {
            try? folder.remove(names.part)
            throw Failure.system(.inputOutput, "cannot copy", at: finalPath, error)
        }
        let partial = partial(part, length: status.length, origin: .copied(from: status.identity), ticket: ticket)
        partial.holes = file.holes(limit: Self.mostHoles)
        return .result(.existing(partial, length: status.length))
    }

    /// Restores the name of a finished file that an earlier run had made its part file and not changed.
    func putBack(_ file: OpenFile, length: Int64) throws(Failure) -> Outcome {
        do throws(SystemError) {
            if try file.status().length > length { try file.truncate(to: length) }
            try folder.restore(file, names)
            try folder.remove(names.journal)
        } catch  where error.number == EEXIST { return .taken(.exists(finalPath)) } catch {
            throw Failure.system(.renameFailed, "cannot restore", at: finalPath, error)
        }
        return .again
    }
}
