import Glibc
import PawlBase
import PawlJournal
import PawlSystem
import Synchronization

// The end of a part file that is not published: it is kept, deleted, or an existing file again.
extension FilePartial {
    func remember(_ content: ContentFingerprint?) { self.content = content }

    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        guard isOpen else { return forget() }
        guard !done.isEmpty || hasJournal else { return discard() }
        defer {
            clearUnreachable()
            release()
        }
        // After a clean end there are no own bytes beyond the cursors.
        retractWrite()
        var done = done
        if let journal {
            try journal.record(facts, written: done, isEnd: true)
        } else {
            done = try beginLastJournal(facts, done: done)
        }
        // Nothing is written any more, so the content can be recorded as durable for the next boot too.
        try journal?.checkpoint(
            done, incarnation: journal?.incarnation ?? 0, data: openFile, dataPath: partPath, syncs: syncs)
    }

    /// Creates the journal of a download that stops: where the disk has no room for it, the end of the part file makes way, so
    /// that the rest is kept.
    ///
    /// Returns what the journal claims.
    private func beginLastJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) -> ByteRangeSet {
        // The first makes way by nothing, the second by what is reserved behind the last byte.
        for room in [nil, 0, Self.journalRoom] as [Int64?] {
            let kept = done.clipped(to: max(0, done.upperBound - (room ?? 0)))
            if kept.isEmpty { break }
            if room != nil { try shorten(to: kept) }
            do throws(Failure) {
                try beginJournal(facts, done: kept)
                return kept
            } catch  where error.code == .diskFull && room != Self.journalRoom {}
        }
        try beginJournal(facts, done: done)
        return done
    }

    private func shorten(to kept: ByteRangeSet) throws(Failure) {
        do throws(SystemError) { try openFile.truncate(to: kept.upperBound) } catch {
            throw Failure.system(.inputOutput, "cannot truncate", at: partPath, error)
        }
        length = min(length, kept.upperBound)
        if length < hashedTo { forgetHash() }
    }

    /// Removes the journal of a part file that was removed or replaced under its only name: its bytes are gone when it is closed.
    private func clearUnreachable() {
        guard journal != nil, let mine = try? openFile.status(), mine.links == 0,
            (try? folder.status(of: names.part))??.identity != mine.identity
        else { return }
        removeJournal()
        disk.unfinished.remove(source, name: names.final, in: folder)
    }

    func discard() {
        guard isOpen else { return forget() }
        if isNamed { removeOwnFiles() }
        release()
    }

    /// Removes the part file, if its name still leads to it, and then the journal: in this order a kill in between
    /// leaves a journal that is recognized as having no data.
    private func removeOwnFiles() {
        let mine = try? openFile.status().identity
        if let mine, (try? folder.status(of: names.part))??.identity == mine {
            try? folder.remove(names.part)
        } else if journal == nil {
            // An unfilled journal may be that of the file which has the name now.
            return
        }
        removeJournal()
        disk.unfinished.remove(source, name: names.final, in: folder)
    }

    private func removeJournal() {
        guard journal != nil || !folder.bearsMarks else { return }
        try? JournalFile.remove(names.journal, in: folder, written: journal)
    }

    func restoreOriginal() throws(Failure) {
        guard isOpen else { return forget() }
        guard case .renamed(let original, let status) = origin else { return discard() }
        let wasExtended = length != original
        try restore(length: original, wasExtended: wasExtended) { () throws(SystemError) in
            guard wasExtended else { return }
            try openFile.truncate(to: original)
            try openFile.setModified(status.modified)
        }
    }

    func restoreExtended(length: Int64) throws(Failure) {
        guard isOpen else { return forget() }
        if case .copied(let identity) = origin { return try replaceCopied(identity, length: length) }
        guard case .renamed(let original, _) = origin, original < length, length <= self.length else {
            return try restoreOriginal()
        }
        do throws(SystemError) {
            if length < self.length { try openFile.truncate(to: length) }
            self.length = length
            // The file's name promises bytes that a power cut must not take.
            if syncs { try openFile.syncData() }
            if let error = journal?.syncError { throw error }
        } catch { return try restoreOriginal() }
        try restore(length: length, wasExtended: true) { () throws(SystemError) in }
    }

    /// The copy replaces the finished file, whose other names keep the old bytes.
    private func replaceCopied(_ identity: FileIdentity, length: Int64) throws(Failure) {
        guard length <= self.length else { return try restoreOriginal() }
        do throws(SystemError) {
            guard try folder.status(of: names.final)?.identity == identity else { throw SystemError(number: EEXIST) }
            if length < self.length { try openFile.truncate(to: length) }
            self.length = length
            if syncs { try openFile.syncData() }
            if let error = journal?.syncError { throw error }
            OwnerAttribute.remove(from: openFile)
            try folder.rename(names.part, to: names.final, replacing: true)
            try JournalFile.remove(names.journal, in: folder, written: journal)
        } catch { throw Failure.system(.renameFailed, "cannot restore", at: path, error) }
        release()
    }

    /// Returns the finished file, whose length `settle` corrects, to its name.
    ///
    /// Where that fails, the next claim finds part file and journal, and does it.
    private func restore(length: Int64, wasExtended: Bool, _ settle: () throws(SystemError) -> Void) throws(Failure) {
        do throws(SystemError) {
            try settle()
            if wasExtended { try recordRestored(length: length) }
            try folder.restore(openFile, names)
            try JournalFile.remove(names.journal, in: folder, written: journal)
        } catch { throw Failure.system(.renameFailed, "cannot restore", at: path, error) }
        release()
    }

    /// Without the attribute, the journal beside the finished name would say that the file was published.
    private func recordRestored(length: Int64) throws(SystemError) {
        do throws(SystemError) { try journal?.restored(length: length) } catch { if !folder.bearsMarks { throw error } }
    }

    /// Closes and unlocks.
    ///
    /// A worker may retain the files a little longer, so they are unlocked before they are closed.
    func release() {
        journal?.close()
        if isNamed { file?.unlock() }
        ticket.release()
        forget()
    }

    /// Whether it is neither published nor being published.
    private var isOpen: Bool { !ticket.isReleased && !ticket.isPublishing.load(ordering: .acquiring) }

    private func forget() {
        map = nil
        slots = []
        hashing?.reset()
        hashing = nil
        journal = nil
        file = nil
    }
}
