import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// One attempt to claim one name.
///
/// The holder of the part file's lock owns the three names; nothing is changed before it is held. Every state that a
/// crash between two steps leaves is recognized here, from the files alone.
struct ClaimAttempt {
    let disk: FileDisk
    let folder: Folder
    let claim: Claim
    /// 0: the requested name; n: `name (n).ext`.
    package let number: Int
    let names: PartNames

    enum Outcome {
        case result(ClaimResult)
        /// The name is another's; a claim that may rename tries the next one.
        case taken(Failure)
        /// The name of the part file or journal is another program's: other names are used for these, with a notice.
        case distrusted(Failure)
        /// Something changed concurrently, or a leftover was repaired: try again.
        case again
    }

    init(disk: FileDisk, folder: Folder, claim: Claim, number: Int, form: FileName.PartForm = .usual) {
        self.disk = disk
        self.folder = folder
        self.claim = claim
        self.number = number
        let name = number == 0 ? claim.name : FileName.numbered(claim.name, number, as: disk.numbering)
        names = PartNames(name, as: form)
    }

    var source: String { claim.facts.sources.first ?? "" }
    /// The requested part of the resource.
    var selection: RequestedRange? { claim.facts.representation.selection }
    var partPath: String { folder.path(of: names.part) }
    var finalPath: String { folder.path(of: names.final) }
    var journalPath: String { folder.path(of: names.journal) }
    var facts: JournalFacts {
        var facts = claim.facts
        facts.name = names.final
        return facts
    }

    func run(adopts: (LoadedJournal) -> Bool) throws(Failure) -> Outcome {
        let key = ClaimRegistry.Key(folder: folder.identity, name: names.final)
        switch disk.claims.enter(key, source: source) {
        case .held(let holder): return try held(by: holder)
        case .entered(let ticket): return try decide(ticket, adopts: adopts)
        }
    }

    /// Throws when the same download holds the name; another download only makes it unavailable.
    func held(by holder: String?) throws(Failure) -> Outcome {
        let failure = Failure.alreadyDownloading(finalPath)
        guard !holder.hasSameBytes(as: source) || claim.belongsToAnother(names.final, .part) else { throw failure }
        return .taken(failure)
    }

    private func decide(_ ticket: ClaimTicket, adopts: (LoadedJournal) -> Bool) throws(Failure) -> Outcome {
        let finished = try status(of: names.final)
        let isSkipped = finished != nil && claim.ifExists == .skip
        let part = isSkipped ? nil : try status(of: names.part)
        if finished == nil || part != nil { try checkFolder() }
        // The journal's name matters only once the file has a name: one look less for each small file.
        if finished == nil, part == nil, let file = try makeUnnamed() {
            return .result(.fresh(partial(file, isNamed: false, ticket: ticket)))
        }
        let leftovers = (part: part, journal: isSkipped ? nil : try status(of: names.journal))
        if let failure = distrust(leftovers) { return .distrusted(failure) }
        guard let finished else { return try createOrTakeUp(leftovers, ticket, adopts: adopts) }
        if claim.isChosen, number == 0, isSpecial(finished) { throw Failure.noFile(finalPath) }
        switch claim.ifExists {
        case .skip:
            guard isFile(finished) else { return .taken(occupied(by: finished)) }
            if isUnfinished(finished) { return .taken(.renamedPart(finalPath)) }
            try tidy()
            return .result(.skipped(path: finalPath))
        case .fail:
            if try endPublishing(finished) { return .result(.skipped(path: finalPath)) }
            try tidy()
            return .taken(occupied(by: finished))
        case .rename:
            let isOthers = claim.belongsToAnother(names.final, .finished)
            if !isOthers, isComplete(finished) {
                // A power cut may have brought the journal back.
                if leftovers.journal != nil { try tidy() }
                return .result(.skipped(path: finalPath))
            }
            if let outcome = try takeUp(ticket, adopts: adopts) { return outcome }
            if !isOthers, try endPublishing(finished) { return .result(.skipped(path: finalPath)) }
            try tidy()
            return .taken(occupied(by: finished))
        case .overwrite:
            // The file that may be replaced has the server's content already.
            if claim.replaces != nil, isComplete(finished) {
                renewMark(on: finished)
                return .result(.skipped(path: finalPath))
            }
            // A link is itself replaced: what it leads to may be anywhere.
            guard isFile(finished) else { return .taken(occupied(by: finished)) }
            try checkFolder()
            guard !folder.isProtected(names.final, finished) else { throw .protectedFile(finalPath) }
            return try createOrTakeUp(leftovers, ticket, adopts: adopts)
        case .resume:
            guard finished.isRegular else { return .taken(occupied(by: finished)) }
            if let outcome = try takeUp(ticket, adopts: adopts) { return try continuing(outcome, of: finished) }
            return try convert(ticket)
        }
    }

    /// Why the existing part file or journal cannot be Pawl's own.
    private func distrust(_ leftovers: Leftovers) -> Failure? {
        if let flaw = leftovers.part.flatMap(folder.flaw) { return .distrusted(partPath, flaw) }
        if let flaw = leftovers.journal.flatMap(folder.flaw) { return .distrusted(journalPath, flaw) }
        return nil
    }

    /// Throws where a part file could be written but not get its final name.
    private func checkFolder() throws(Failure) {
        guard !folder.isProtected else { throw .protectedFolder(claim.folder) }
    }

    /// Whether it, or the target of a link of that name, is a device, a pipe or a socket.
    private func isSpecial(_ found: FileStatus) -> Bool {
        found.isSpecial || folder.target(of: names.final)?.isSpecial == true
    }

    /// Whether it, or the target of a link of that name, is a file that can be finished.
    private func isFile(_ found: FileStatus) -> Bool {
        found.isRegular || folder.target(of: names.final)?.isRegular == true
    }

    /// Why what has the final name is neither replaced nor taken for the download.
    private func occupied(by found: FileStatus) -> Failure {
        found.isRegular ? .exists(finalPath) : folder.obstacle(names.final, found)
    }

    package func status(of name: String) throws(Failure) -> FileStatus? {
        do throws(SystemError) { return try folder.status(of: name) } catch {
            throw Failure.system(.cannotOpen, "cannot inspect", at: folder.path(of: name), error)
        }
    }

    /// What has the names of the part file and the journal.
    private typealias Leftovers = (part: FileStatus?, journal: FileStatus?)

    private func createOrTakeUp(
        _ leftovers: Leftovers, _ ticket: ClaimTicket, adopts: (LoadedJournal) -> Bool
    ) throws(Failure) -> Outcome {
        if leftovers.journal != nil, try isJournalOthers() { return .distrusted(.foreignFile(journalPath)) }
        if let file = try makePart() { return .result(.fresh(partial(file, ticket: ticket))) }
        if let outcome = try takeUp(ticket, adopts: adopts) { return outcome }
        return .again
    }

    /// A file that is named only when it is finished, or when it turns out to take long: `nil` where that is not
    /// supported.
    ///
    /// No other process can see such a file, so it needs no lock and no attribute, and a kill leaves nothing of it.
    private func makeUnnamed() throws(Failure) -> OpenFile? {
        // On a disk it would have to be synced again after it is named.
        guard folder.traits.contains(.volatile), claim.ifExists != .overwrite,
            let length = claim.facts.representation.total, length <= Claim.smallFile
        else { return nil }
        do throws(SystemError) { return try folder.openUnnamed() } catch  where error.number == ENOENT {
            // The folder was removed in the meantime.
            return nil
        } catch { throw Failure.system(.cannotCreate, "cannot create", at: partPath, error) }
    }

    /// Creates, locks and marks the part file; `nil` when there is one already.
    func makePart() throws(Failure) -> OpenFile? {
        let file: OpenFile
        do throws(SystemError) { file = try folder.make(names.part, mode: PartNames.mode) } catch
            where error.number == ENOENT && folder.isInPlace
        {
            throw Failure(
                .cannotCreate, "cannot create", at: partPath, because: .noPlaceForOwn, remedy: "choose another folder")
        } catch  where error.number == EEXIST || error.number == ENOENT {
            // It exists, or the folder was removed in the meantime.
            return nil
        } catch { throw Failure.system(.cannotCreate, "cannot create", at: partPath, error) }
        do throws(Failure) {
            guard try lock(file) else { throw Failure.alreadyDownloading(partPath) }
            try clearOrphan()
            try mark(file)
        } catch {
            try? folder.remove(names.part)
            throw error
        }
        return file
    }

    func lock(_ file: OpenFile) throws(Failure) -> Bool {
        do throws(SystemError) { return try JournalFile.lockIfPossible(file) } catch {
            throw Failure.system(.cannotOpen, "cannot lock", at: partPath, error)
        }
    }

    /// Marks the part file as Pawl's own: by an attribute, or without attributes by an unfilled journal.
    func mark(_ file: OpenFile) throws(Failure) {
        do throws(SystemError) {
            try setMark(on: file)
            if !folder.bearsMarks {
                let part = try file.status().identity.inode
                guard try markByName(part) else { throw SystemError(number: EEXIST) }
            }
            try? file.endBeginning()
        } catch  where error.number == EEXIST { throw Failure.foreignFile(journalPath) } catch {
            throw Failure.system(.cannotCreate, "cannot mark", at: partPath, error)
        }
    }

    func setMark(on file: OpenFile) throws(SystemError) {
        guard folder.bearsMarks else { return }
        let value = OwnerAttribute.value(of: source)
        if try !OwnerAttribute.set(value, part: selection?.mark, on: file) { folder.noMarks() }
    }

    private func markByName(_ part: UInt64) throws(SystemError) -> Bool {
        do throws(Failure) { return try JournalFile.markByName(names.journal, part: part, in: folder) } catch {
            return false
        }
    }

    func partial(
        _ file: OpenFile, length: Int64 = 0, isNamed: Bool = true, journal: JournalFile? = nil,
        origin: FilePartial.Provenance? = nil, ticket: ClaimTicket
    ) -> FilePartial {
        ticket.keep()
        return FilePartial(
            disk: disk, folder: folder, names: names, claim: claim, number: number, ticket: ticket, file: file,
            isNamed: isNamed, length: length, journal: journal, origin: origin)
    }
}
