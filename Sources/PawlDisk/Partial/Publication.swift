import Glibc
import PawlCore
import PawlEngine

/// The steps from a part file to a finished file.
///
/// Each leaves a state that the next claim recognises.
struct Publication: Sendable {
    let disk: FileDisk
    let folder: Folder
    let names: PartNames
    let claim: Claim
    let number: Int
    let ticket: ClaimTicket
    let file: OpenFile
    /// Whether it has the part file's name, or none yet.
    let isNamed: Bool
    /// Whether it was made for this download, and was no file before.
    let isNew: Bool
    let journal: JournalFile?
    /// How long the finished file is.
    let length: Int64
    /// How the file was when its digest was computed, if one was.
    let verified: FileStatus?
    let content: ContentFingerprint?
    let modified: UnixTime?
    let replaces: Replaced

    /// Which file of the final name may be replaced.
    enum Replaced: Hashable, Sendable {
        case none
        case any
        case only(FileIdentity)
    }

    private var partPath: String { folder.path(of: names.part) }
    private var finalPath: String { folder.path(of: names.final) }

    /// Gives the file its length and time.
    func settle() throws(Failure) {
        let isAsVerified: Bool
        do throws(SystemError) {
            let status = try file.status()
            isAsVerified = verified.map { $0.hasContent(of: status) } ?? true
            // More was written than was wanted, or somebody else has appended something.
            if isAsVerified, status.length > length { try file.truncate(to: length) }
            if isAsVerified, let modified {
                try file.setModified(timespec(tv_sec: Int(modified.seconds), tv_nsec: 0))
            }
            if isAsVerified { remember(modified: modified.map { $0.seconds * 1_000_000_000 } ?? status.modifiedTime) }
            if isAsVerified, isNew, isNamed { try giveUsualPermissions(status) }
        } catch {
            throw Failure.system(.inputOutput, "cannot finish", at: partPath, error)
        }
        guard isAsVerified else {
            throw Failure(
                .inputOutput,
                "cannot finish",
                at: partPath,
                because: "another program has changed it since its digest was computed",
                remedy: "\(.resume)"
            )
        }
    }

    /// A part file is for its owner to write; a finished file is as any that this user makes.
    private func giveUsualPermissions(_ status: FileStatus) throws(SystemError) {
        let usual = 0o666 & ~Umask.own
        guard status.permissions == PartNames.mode & ~Umask.own, usual != status.permissions else { return }
        try file.setPermissions(usual)
    }

    /// Until somebody has heard that it is finished this is the part file's mark too; one without a name needs none.
    private func remember(modified: Int64) {
        guard let content, folder.bearsMarks else { return }
        OwnerAttribute.set(CompletionMark(content, length: length, modified: modified, isTold: !isNamed), on: file)
    }

    /// Makes the data durable, before the name says that it is finished.
    ///
    /// `isCovered`: a sync of the whole file system has just done so, if the file's own data could be written.
    func sync(isCovered: Bool) throws(Failure) {
        do throws(SystemError) {
            if isCovered { try file.checkWriteback() } else { try file.syncAll() }
        } catch {
            journal?.distrustCache()
            throw Failure.system(.inputOutput, "cannot sync", at: partPath, error)
        }
    }

    /// Gives the file its final name, and answers it.
    func move() throws(Failure) -> String {
        if isNamed { try checkFile() }
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
            } catch  where error.number == EEXIST {
                throw taken()
            } catch  where error.isMissing {
                throw Failure(
                    .renameFailed,
                    "cannot rename",
                    at: partPath,
                    because: "the file or its folder was removed while it was downloaded",
                    remedy: "\(.resume)"
                )
            } catch {
                throw Failure.system(.renameFailed, "cannot rename", at: partPath, error)
            }
        }
    }

    /// Another program may have cut the file, or put its own under our part file's name.
    private func checkFile() throws(Failure) {
        let isWhole: Bool
        let isOurs: Bool
        do throws(SystemError) {
            let mine = try file.status()
            isWhole = mine.length == length
            // One that is gone is the rename's to report.
            isOurs = try folder.status(of: names.part).map { $0.identity == mine.identity } ?? true
        } catch {
            throw Failure.system(.renameFailed, "cannot look at", at: partPath, error)
        }
        guard isWhole else { throw FilePartial.cutShort(partPath) }
        guard isOurs else {
            throw Failure(
                .renameFailed,
                "cannot rename",
                at: partPath,
                because: "another program has put its own file there",
                remedy: "\(.resume)"
            )
        }
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
            let name = FileName.numbered(claim.name, next)
            // A name that a running download of this process has claimed is left to it.
            let key = ClaimRegistry.Key(folder: folder.identity, name: name)
            if !disk.claims.holds(key) { return (name, next) }
        }
    }

    /// A file of the name has appeared since the claim.
    private func taken() -> Failure {
        guard claim.ifExists == .skip else { return .exists(finalPath) }
        if isNamed { try? folder.remove(names.part) }
        tidy(unmarks: false)
        release()
        return Failure(
            .fileExists,
            "gave up downloading to",
            at: finalPath,
            because: "a file of that name has appeared meanwhile, and existing files are skipped"
        )
    }

    /// Removes what only an unfinished download needs.
    ///
    /// The mark goes last: a finished file that bears it was published, and nobody has heard of it yet.
    func tidy(unmarks: Bool = true) {
        guard isNamed else { return }
        if journal != nil || !folder.bearsMarks {
            try? JournalFile.remove(names.journal, in: folder, written: journal)
        }
        if unmarks && folder.bearsMarks { OwnerAttribute.end(on: file) }
        if journal != nil {
            disk.unfinished.remove(claim.facts.sources.first ?? "", name: names.final, in: folder)
        }
    }

    func release() {
        journal?.close()
        if isNamed { file.unlock() }
        ticket.release()
    }
}
