import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// The steps from a part file to a finished file.
///
/// Each leaves a state that the next claim recognizes.
struct Publication: Sendable {
    let disk: FileDisk
    let folder: Folder
    let names: PartNames
    let claim: ClaimTerms
    package let number: Int
    let ticket: ClaimTicket
    let file: OpenFile
    /// Whether it has the part file's name, or none yet.
    let isNamed: Bool
    /// Whether it was created for this download.
    let isNew: Bool
    let journal: JournalFile?
    /// The length of the finished file.
    let length: Int64
    /// The highest end of the writes.
    let written: Int64
    /// The file's status when its digest was computed, if one was.
    let verified: FileStatus?
    let content: ContentFingerprint?
    let modified: UnixTime?
    let replaces: Replaced

    /// The file of the final name that may be replaced.
    enum Replaced: Hashable, Sendable {
        case none
        case any
        case only(FileIdentity)
    }

    private var partPath: String { folder.path(of: names.part) }
    private var finalPath: String { folder.path(of: names.final) }

    /// Whether another program can have changed the file, or its own time is needed: no other program sees a file
    /// without a name.
    private var isInspected: Bool { isNamed || verified != nil || modified == nil || written != length }

    /// Sets the file's length and time.
    func settle() throws(Failure) {
        let isAsVerified: Bool
        do throws(SystemError) {
            let status = isInspected ? try file.status() : nil
            isAsVerified = status.flatMap { status in verified.map { $0.hasContent(of: status) } } ?? true
            // More was written than needed, or another program has appended something.
            if isAsVerified, status.map({ $0.length > length }) ?? false { try file.truncate(to: length) }
            if isAsVerified {
                if let modified { try file.setModified(timespec(tv_sec: Int(modified.seconds), tv_nsec: 0)) }
                try noteComplete(status)
            }
            if isAsVerified, isNew, isNamed, let status { try givePermissions(status) }
        } catch { throw Failure.system(.inputOutput, "cannot finish", at: partPath, error) }
        guard isAsVerified else {
            throw Failure(
                .inputOutput, "cannot finish", at: partPath,
                because: LocalizableMessage(
                    "part-changed", "another program has changed it since its digest was computed"),
                remedy: "\(.resume)")
        }
    }

    /// The file's time as the file system stores it, in nanoseconds since 1970: not every file system has room for
    /// every time.
    private func storedTime(_ status: FileStatus?) throws(SystemError) -> Int64 {
        if let modified, 0...Int64(Int32.max) ~= modified.seconds { return modified.seconds * 1_000_000_000 }
        if modified == nil, let status { return status.modifiedTime }
        return try file.status().modifiedTime
    }

    /// Sets the permissions of the file that is replaced, else those of any file that this user creates; those of a part
    /// file are for its owner only.
    private func givePermissions(_ status: FileStatus) throws(SystemError) {
        if replaces == .any, let former = try folder.status(of: names.final), former.isRegular {
            // Only root can give it to another owner.
            file.setOwner(as: former)
            return try file.setPermissions(former.permissions & 0o777)
        }
        let usual = 0o666 & ~Umask.own
        guard status.permissions == PartNames.mode & ~Umask.own, usual != status.permissions else { return }
        try file.setPermissions(usual)
    }

    /// Only a file with this note counts as published by a process that was killed before it could report it.
    private func noteComplete(_ status: FileStatus?) throws(SystemError) {
        if !isPart, remembers { return remember(modified: try storedTime(status), isTold: !isNamed) }
        guard isNamed, folder.bearsMarks else { return }
        let value = OwnerAttribute.value(of: claim.source)
        OwnerAttribute.complete(value, part: claim.selection?.mark, length: length, on: file)
    }

    private var remembers: Bool { content != nil || claim.recognizesBytes }

    /// Until the completion was reported this is the part file's mark too; a file without a name needs none.
    private func remember(modified: Int64, isTold: Bool) {
        guard folder.bearsMarks, remembers else { return }
        let mark = CompletionMark(
            content ?? .unproven(source: claim.source), isProven: content != nil, length: length, modified: modified,
            isTold: isTold)
        OwnerAttribute.set(mark, on: file)
    }

    /// Whether only a part of the resource was requested: the part file's mark tells which, and stays until the end.
    private var isPart: Bool { isNamed && claim.selection != .whole }

    /// Makes the data durable, before the name declares it finished.
    ///
    /// `isCovered`: a sync of the whole file system has just done so, unless the write of the file's own data failed.
    func sync(isCovered: Bool) throws(Failure) {
        do throws(SystemError) {
            if isCovered { try file.checkWriteback() } else { try file.syncAll() }
            // A checkpoint may have received the report of a failed write.
            if let error = journal?.syncError ?? file.syncError { throw error }
        } catch {
            // A file without a journal gets one when it is closed.
            file.noteFailedSync(error)
            journal?.distrustCache(because: error)
            throw Failure.system(.inputOutput, "cannot sync", at: partPath, error)
        }
    }

    /// Gives the file its final name, and returns it.
    func move() throws(Failure) -> String {
        if isNamed { try checkFile() }
        if let earlier = sameFile() {
            if isNamed { try? folder.remove(names.part) }
            return earlier
        }
        try checkReplaced()
        var name = names.final
        var next = number
        while true {
            do throws(SystemError) {
                if isNamed {
                    try folder.rename(names.part, to: name, replacing: mayReplace(name))
                } else {
                    try folder.name(file, name)
                }
                return name
            } catch  where error.number == EEXIST && claim.ifExists == .rename && next < SuffixCache.last {
                (name, next) = nextFree(after: next)
            } catch  where error.number == EEXIST { throw taken() } catch  where error.isMissing {
                throw Failure(
                    .renameFailed, "cannot rename", at: partPath,
                    because: LocalizableMessage(
                        "part-removed", "the file or its folder was removed while it was downloaded"),
                    remedy: "\(.resume)")
            } catch { throw Failure.system(.renameFailed, "cannot rename", at: partPath, error) }
        }
    }

    /// Checks whether another program has truncated the file, or replaced it under the part file's name.
    private func checkFile() throws(Failure) {
        let isWhole: Bool
        let isOurs: Bool
        do throws(SystemError) {
            let mine = try file.status()
            isWhole = mine.length == length
            // A missing file is reported by the rename.
            isOurs = try folder.status(of: names.part).map { $0.identity == mine.identity } ?? true
        } catch { throw Failure.system(.renameFailed, "cannot inspect", at: partPath, error) }
        guard isWhole else { throw FilePartial.cutShort(partPath) }
        guard isOurs else {
            throw Failure(
                .renameFailed, "cannot rename", at: partPath,
                because: LocalizableMessage("part-replaced", "another program has replaced it"), remedy: "\(.resume)")
        }
    }

    /// Checks whether another program has changed the file that is replaced since it was read.
    private func checkReplaced() throws(Failure) {
        guard let expected = claim.replaces else { return }
        let found: FileStamp?
        do throws(SystemError) { found = try folder.status(of: names.final)?.stamp } catch {
            throw Failure.system(.renameFailed, "cannot inspect", at: finalPath, error)
        }
        guard let found, found != expected else { return }
        throw Failure(
            .fileExists, "cannot replace", at: finalPath,
            because: LocalizableMessage(
                "replaced-changed",
                "another program has changed it since it was read; the new content is in \(names.part)"),
            remedy: "\(.resume) to replace it")
    }

    private func mayReplace(_ name: String) -> Bool {
        switch replaces {
        case .none: false
        case .any: true
        case .only(let identity): (try? folder.status(of: name))??.identity == identity
        }
    }

    private func nextFree(after number: Int) -> (String, Int) {
        var next = number
        while true {
            next += 1
            let name = FileName.numbered(claim.name, next, as: disk.numbering)
            // A name that a running download of this process has claimed is not used.
            let key = ClaimRegistry.Key(folder: folder.identity, name: name)
            if !disk.claims.holds(key) { return (name, next) }
        }
    }

    /// Handles a file of the final name that appeared after the claim.
    private func taken() -> Failure {
        guard claim.ifExists == .skip else { return .exists(finalPath) }
        if isNamed { try? folder.remove(names.part) }
        tidy(unmarks: false)
        release()
        return Failure(
            .fileExists, "cannot download to", at: finalPath,
            because: LocalizableMessage(
                "file-created-meanwhile",
                "a file of that name was created in the meantime, and existing files are skipped"))
    }

    /// Removes what only an unfinished download needs.
    ///
    /// The mark is removed last: a finished file that has it was published, and its completion was not reported yet.
    func tidy(unmarks: Bool = true) {
        guard isNamed else { return }
        if journal != nil || !folder.bearsMarks { try? JournalFile.remove(names.journal, in: folder, written: journal) }
        if unmarks && folder.bearsMarks { OwnerAttribute.end(on: file) }
        if unmarks, isPart, let status = try? file.status() { remember(modified: status.modifiedTime, isTold: true) }
        if journal != nil { disk.unfinished.remove(claim.source, name: names.final, in: folder) }
    }

    func release() {
        journal?.close()
        if isNamed { file.unlock() }
        ticket.release()
    }
}

/// The part of a claim that publishing needs.
struct ClaimTerms: Hashable, Sendable {
    /// The requested name.
    @Bytewise var name: String
    /// Whether the name was chosen, not suggested.
    let isChosen: Bool
    let ifExists: IfExists
    /// The only file that is replaced, if not any.
    let replaces: FileStamp?
    /// See ``Claim/recognizesBytes``.
    let recognizesBytes: Bool
    /// The URL that distinguishes this download from another of the same name.
    @Bytewise var source: String
    /// The requested part of the resource.
    let selection: RequestedRange?

    init(_ claim: Claim) {
        name = claim.name
        isChosen = claim.isChosen
        ifExists = claim.ifExists
        replaces = claim.replaces?.stamp
        recognizesBytes = claim.recognizesBytes
        source = claim.facts.sources.first ?? ""
        selection = claim.facts.representation.selection
    }
}
