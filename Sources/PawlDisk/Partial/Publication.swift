import PawlCore
import PawlEngine

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

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
    let journal: JournalFile?
    /// The length to cut the file to, unless it has it.
    let cutTo: Int64?
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

    /// On a disk: data, name and folder are synced before the journal goes.
    func run(_ completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        switch rename(syncing: true) {
        case .failure(let failure):
            completion(.failure(failure))
        case .success(let name):
            folder.sync(on: disk.syncers) { error in
                if let error {
                    completion(
                        .failure(.system(.inputOutput, "cannot sync the folder of", at: finalPath, error))
                    )
                    return
                }
                tidy(name)
                completion(.success(folder.path(of: name)))
            }
        }
    }

    /// Gives the file its length, time and final name, and answers the name.
    func rename(syncing: Bool = false) -> Result<String, Failure> {
        do throws(Failure) {
            try settle(syncing: syncing)
            return .success(try move())
        } catch {
            return .failure(error)
        }
    }

    private func settle(syncing: Bool) throws(Failure) {
        do throws(SystemError) {
            if let cutTo { try file.truncate(to: cutTo) }
            if let modified {
                try file.setModified(timespec(tv_sec: Int(modified.seconds), tv_nsec: 0))
            }
        } catch {
            throw Failure.system(.inputOutput, "cannot finish", at: partPath, error)
        }
        guard syncing else { return }
        do throws(SystemError) {
            try file.syncAll()
        } catch {
            journal?.distrustCache()
            throw Failure.system(.inputOutput, "cannot sync", at: partPath, error)
        }
    }

    private func move() throws(Failure) -> String {
        try checkOwnership()
        var name = names.final
        var next = number
        while true {
            do throws(SystemError) {
                try folder.rename(names.part, to: name, replacing: mayReplace(name))
                return name
            } catch  where error.number == EEXIST && claim.ifExists == .rename && next < NumberHints.last {
                (name, next) = nextFree(after: next)
            } catch  where error.number == EEXIST {
                throw taken()
            } catch  where error.isMissing {
                throw Failure(
                    .renameFailed,
                    "cannot rename",
                    at: partPath,
                    because: "the file or its folder was removed while it was downloaded",
                    remedy: "run again"
                )
            } catch {
                throw Failure.system(.renameFailed, "cannot rename", at: partPath, error)
            }
        }
    }

    /// Another program may have put its own file under our part file's name.
    private func checkOwnership() throws(Failure) {
        let isOurs: Bool
        do throws(SystemError) {
            let mine = try file.status().identity
            // One that is gone is the rename's to report.
            isOurs = try folder.status(of: names.part).map { $0.identity == mine } ?? true
        } catch {
            throw Failure.system(.renameFailed, "cannot look at", at: partPath, error)
        }
        guard isOurs else {
            throw Failure(
                .renameFailed,
                "cannot rename",
                at: partPath,
                because: "another program has put its own file there",
                remedy: "run again"
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
        try? folder.remove(names.part)
        tidy(names.final, unmarks: false)
        return Failure(
            .fileExists,
            "gave up downloading to",
            at: finalPath,
            because: "a file of that name has appeared meanwhile, and existing files are skipped"
        )
    }

    /// Removes what only an unfinished download needs, and unlocks.
    ///
    /// The mark goes after the final name is there: without it a kill between would leave a part file that
    /// nobody knows.
    func tidy(_ name: String, unmarks: Bool = true) {
        if unmarks && folder.bearsMarks { PartMark.remove(from: file) }
        if journal != nil || !folder.bearsMarks { try? folder.remove(names.journal) }
        if journal != nil {
            disk.unfinished.remove(claim.facts.sources.first ?? "", name: names.final, in: folder)
        }
        journal?.close()
        file.unlock()
        ticket.release()
    }
}
