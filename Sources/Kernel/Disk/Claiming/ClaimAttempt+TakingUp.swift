import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// An existing part file: its owner, and which of its bytes may be trusted.
extension ClaimAttempt {
    /// Returns `nil` when there is no part file after all.
    func takeUp(_ ticket: ClaimTicket, adopts: (LoadedJournal) -> Bool) throws(Failure) -> Outcome? {
        guard let seen = try status(of: names.part) else { return nil }
        // Opening a pipe or a device may have effects; writing to a file with other names changes those too.
        if let flaw = folder.flaw(of: seen) { return .distrusted(.distrusted(partPath, flaw)) }
        let file: OpenFile
        let isLocked: Bool
        let status: FileStatus
        let named: FileStatus?
        do throws(SystemError) {
            file = try folder.open(names.part, flags: O_RDWR | O_NONBLOCK)
            isLocked = try JournalFile.lockIfPossible(file)
            status = try file.status()
            named = try folder.status(of: names.part)
        } catch {
            switch error.number {
            case ENOENT: return nil
            case ELOOP, EISDIR, ENXIO: return .distrusted(.foreignFile(partPath))
            default: return .taken(.system(.cannotOpen, "cannot open", at: partPath, error))
            }
        }
        if let flaw = folder.flaw(of: status) { return .distrusted(.distrusted(partPath, flaw)) }
        if claim.belongsToAnother(names.final, .part) { return .taken(.otherDownload(partPath)) }
        guard isLocked else {
            return isHeldByOthers(file, status) ? .distrusted(.foreignFile(partPath)) : try heldElsewhere(file)
        }
        // It may have been published or discarded between opening and locking.
        guard named?.identity == status.identity else { return .again }
        return try judge(file, status, ticket, adopts: adopts)
    }

    private func judge(
        _ file: OpenFile, _ status: FileStatus, _ ticket: ClaimTicket, adopts: (LoadedJournal) -> Bool
    ) throws(Failure) -> Outcome {
        switch try JournalFile.find(names.journal, in: folder) {
        case .foreign: return .distrusted(.foreignFile(journalPath))
        case .none: guard isOurs(file, status, vouched: nil) else { return .distrusted(.foreignFile(partPath)) }
        case .held: return try heldElsewhere(file)
        case .unborn(let marker, let part):
            guard isOurs(file, status, vouched: part) else { return .distrusted(.foreignFile(partPath)) }
            marker.unlock()
        case .newer(let version): throw newer(version)
        case .damaged(let why):
            // Without attributes only the journal identified the owner, and it is damaged.
            guard isOurs(file, status, vouched: nil) else { return .distrusted(.foreignFile(partPath)) }
            try setAside(because: why)
        case .whole(let image, let journal): return try found(file, status, image, journal, ticket, adopts: adopts)
        }
        return try fresh(file, status, ticket)
    }

    /// Whether another program than Pawl holds the lock: Pawl writes to marked files, or to those of a journal.
    private func isHeldByOthers(_ file: OpenFile, _ status: FileStatus) -> Bool {
        status.length > 0 && folder.bearsMarks && OwnerAttribute.read(file) == .missing
            && JournalFile.peek(names.journal, in: folder) == nil
    }

    /// Handles a lock held by another process or by another claim of this one: reports whether it downloads the same.
    private func heldElsewhere(_ file: OpenFile) throws(Failure) -> Outcome {
        if let facts = JournalFile.peek(names.journal, in: folder) { return try held(by: facts.sources.first) }
        let isSame = OwnerAttribute.read(file) == .of(OwnerAttribute.value(of: source))
        return try held(by: isSame ? source : nil)
    }

    /// Whether a part file without a journal is Pawl's own: a leftover of a small file, or of a kill between two steps.
    ///
    /// `vouched`: the inode in a journal that was never filled.
    private func isOurs(_ file: OpenFile, _ status: FileStatus, vouched: UInt64?) -> Bool {
        // A kill came between creating the file and setting its attribute.
        if status.isBeginning, status.length == 0 { return true }
        switch folder.bearsMarks ? OwnerAttribute.read(file) : .unsupported {
        case .of: return true
        case .missing: return false
        case .unsupported:
            guard let vouched else { return false }
            return vouched == status.identity.inode || !folder.traits.contains(.keepsInodes)
        }
    }

    /// Uses an own part file whose bytes are worthless.
    private func fresh(_ file: OpenFile, _ status: FileStatus, _ ticket: ClaimTicket) throws(Failure) -> Outcome {
        // The journal is removed first: it must not describe the next download's bytes in the part file.
        try clearOrphan()
        do throws(SystemError) { if status.length > 0 { try file.truncate(to: 0) } } catch {
            throw Failure.system(.inputOutput, "cannot truncate", at: partPath, error)
        }
        try mark(file)
        return .result(.fresh(partial(file, ticket: ticket)))
    }

    private func found(
        _ file: OpenFile, _ status: FileStatus, _ image: JournalImage, _ journal: OpenFile, _ ticket: ClaimTicket,
        adopts: (LoadedJournal) -> Bool
    ) throws(Failure) -> Outcome {
        let inodes = try inodes(status, journal)
        switch belonging(of: file, to: image, inodes: inodes, length: status.length) {
        case .together: break
        // The process was killed while it restored the name, after it had removed the attribute.
        case .unmarkedOriginal: try mark(file)
        case .oursWithoutIts:
            journal.unlock()
            return try fresh(file, status, ticket)
        case .foreign: return .distrusted(.foreignFile(partPath))
        }
        let boot = folder.traits.contains(.local) ? disk.environment.boot : nil
        let isSame = folder.traits.contains(.keepsInodes) && inodes == image.header.inodes
        let done = image.trusted(boot: boot, length: status.length, changed: isSame ? status.changed : nil)
        let original = image.original(trusting: done)
        if let original, claim.ifExists != .resume { return try putBack(file, length: original) }
        let began = image.began(trusting: done)
        let loaded = LoadedJournal(facts: image.facts, done: done, original: began)
        guard original != nil || loaded.facts.sources.first.hasSameBytes(as: source) || adopts(loaded) else {
            return .taken(.otherDownload(partPath))
        }
        let length = original == nil ? try cut(file, of: status.length, to: done) : status.length
        let (keeper, writes) = JournalKeeper.resumed(image, done: done, length: length, inodes: inodes, boot: boot)
        if image.header.facts.representation.selection != selection, folder.bearsMarks { try mark(file) }
        let kept = try resume(journal, keeper, writes)
        guard let original else {
            let origin = began.map { FilePartial.Provenance.renamed(length: $0, status: status) }
            let partial = partial(file, length: length, journal: kept, origin: origin, ticket: ticket)
            return .result(.found(partial, loaded))
        }
        let origin = FilePartial.Provenance.renamed(length: original, status: status)
        let partial = partial(file, length: status.length, journal: kept, origin: origin, ticket: ticket)
        partial.holes = file.holes(limit: Self.mostHoles)
        return .result(.existing(partial, length: min(original, status.length)))
    }

    /// Removes what follows the trusted bytes, so that the bytes before the next kill are known by the file's length.
    ///
    /// Returns the new length of the file.
    private func cut(_ file: OpenFile, of length: Int64, to done: ByteRangeSet) throws(Failure) -> Int64 {
        guard length > done.upperBound else { return length }
        do throws(SystemError) { try file.truncate(to: done.upperBound) } catch {
            throw Failure.system(.inputOutput, "cannot truncate", at: partPath, error)
        }
        return done.upperBound
    }

    /// Takes over the journal: from here on the old run's slots are void.
    private func resume(
        _ journal: OpenFile, _ keeper: JournalKeeper, _ writes: [JournalWrite]
    ) throws(Failure) -> JournalFile {
        let path = folder.path(of: names.journal)
        do throws(SystemError) { try JournalFile.perform(writes, on: journal) } catch {
            throw Failure.system(.inputOutput, "cannot write", at: path, error)
        }
        return JournalFile(file: journal, path: path, keeper: keeper)
    }

    private enum Belonging {
        case together
        /// Pawl's own, but not the file that the journal describes.
        case oursWithoutIts
        /// A finished file that was prepared for resuming, and whose attribute is already removed.
        case unmarkedOriginal
        case foreign
    }

    /// Whether the part file is the one that the journal describes.
    ///
    /// A file without the owner attribute is never Pawl's own; without attributes the inode numbers decide. A marked
    /// file may have been copied or moved together with its journal, but not put beside a journal that has stayed.
    private func belonging(of file: OpenFile, to image: JournalImage, inodes: JournalInodes, length: Int64) -> Belonging
    {
        let keepsInodes = folder.traits.contains(.keepsInodes)
        let isSamePart = inodes.part == image.header.inodes.part
        let isSameJournal = inodes.journal == image.header.inodes.journal
        switch folder.bearsMarks ? OwnerAttribute.read(file) : .unsupported {
        case .missing:
            let isOriginal = image.original(trusting: image.written) == length
            return keepsInodes && isSamePart && isSameJournal && isOriginal ? .unmarkedOriginal : .foreign
        case .of: return keepsInodes && isSameJournal && !isSamePart ? .oursWithoutIts : .together
        case .unsupported: return !keepsInodes || isSamePart && isSameJournal ? .together : .foreign
        }
    }

    private func inodes(_ status: FileStatus, _ journal: OpenFile) throws(Failure) -> JournalInodes {
        do throws(SystemError) {
            return JournalInodes(part: status.identity.inode, journal: try journal.status().identity.inode)
        } catch { throw Failure.system(.cannotOpen, "cannot inspect", at: folder.path(of: names.journal), error) }
    }

    private func newer(_ version: UInt32) -> Failure { .newerJournal(journalPath, version: version) }

    private func setAside(because why: String) throws(Failure) {
        let kept = try JournalFile.setAside(names, in: folder)
        disk.environment.notice(
            "the journal \(journalPath) is damaged (\(why)): renamed to \(kept), " + "the download restarts from 0")
    }

    /// Removes a journal without a part file.
    ///
    /// The caller holds the part file's lock.
    func clearOrphan() throws(Failure) {
        guard try status(of: names.journal) != nil else { return }
        switch try JournalFile.find(names.journal, in: folder) {
        case .none: return
        case .held: throw Failure.alreadyDownloading(finalPath)
        case .newer(let version): throw newer(version)
        case .damaged(let why): try setAside(because: why)
        case .unborn, .whole: try removeJournal()
        case .foreign: throw Failure.foreignFile(journalPath)
        }
    }

    /// Removes an own journal beside a part file that is another program's: the one that it describes was replaced, and no run
    /// would find it.
    func clearStrayJournal() {
        guard folder.traits.contains(.keepsInodes), let part = (try? folder.status(of: names.part)) ?? nil else {
            return
        }
        switch try? JournalFile.find(names.journal, in: folder) {
        case .whole(let image, let journal):
            // A copy of a journal belongs to the copy of its part file.
            let inode = (try? journal.status())?.identity.inode
            guard inode == image.header.inodes.journal, part.identity.inode != image.header.inodes.part else { return }
            withExtendedLifetime(journal) { try? folder.remove(names.journal) }
        case .unborn(let journal, let vouched):
            guard vouched != part.identity.inode else { return }
            withExtendedLifetime(journal) { try? folder.remove(names.journal) }
        case .none?, .held, .newer, .damaged, .foreign, nil: return
        }
    }

    /// Whether the part file or the journal is Pawl's own, as far as can be seen without its lock.
    var hasOwnFiles: Bool {
        switch try? JournalFile.find(names.journal, in: folder) {
        case .held, .unborn, .whole, .newer, .damaged: return true
        case .none?, .foreign, nil: break
        }
        return folder.bearsMarks && OwnerAttribute.ofPart(names.part, in: folder).isOurs
    }

    /// Whether the journal's name is taken by something that Pawl did not write.
    func isJournalOthers() throws(Failure) -> Bool {
        guard try status(of: names.journal) != nil else { return false }
        if case .foreign = try JournalFile.find(names.journal, in: folder) { return true }
        return false
    }

    /// Finishes after a crash that followed the final rename: a journal is left without its part file.
    func tidy() throws(Failure) {
        guard try status(of: names.journal) != nil, try status(of: names.part) == nil else { return }
        let held: OpenFile
        switch try JournalFile.find(names.journal, in: folder) {
        case .unborn(let file, _), .whole(_, let file): held = file
        case .none, .held, .newer, .damaged, .foreign: return
        }
        // With the journal's lock held: no part file was created since.
        guard try status(of: names.part) == nil else { return }
        try withExtendedLifetime(held) { () throws(Failure) in try removeJournal() }
    }

    private func removeJournal() throws(Failure) {
        do throws(SystemError) { try folder.remove(names.journal) } catch {
            throw Failure.system(.inputOutput, "cannot remove", at: journalPath, error)
        }
    }
}
