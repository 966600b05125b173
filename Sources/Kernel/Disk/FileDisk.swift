import Glibc
package import PawlBase
package import PawlJournal
import PawlSystem
import Synchronization

/// The local disk: part files and journals beside their final names.
///
/// Shared by all loops. It keeps a bounded number of folders open and has a few threads for syncing and hashing.
package final class FileDisk: Disk {
    let environment: Environment
    let folders: FolderCache
    let claims = ClaimRegistry()
    let unfinished = UnfinishedIndex()
    let numbers = SuffixCache()
    /// The form of the name that is used when one is taken.
    let numbering: FileName.Numbering
    /// Whether a finished file of the same URL and content is the result of a download that would get another name.
    let recognizesFinished: Bool
    // Their jobs need little stack.
    let syncers = WorkQueue("pawl-disk", .onDemand, threads: 2, stackSize: 256 << 10)
    let hashers = WorkQueue("pawl-disk", .onDemand, threads: 2, stackSize: 256 << 10)
    let publisher: Publisher
    /// The paths of files to come that look like part files or journals.
    private let reserved = Mutex<Set<Bytewise<String>>>([])
    private let warned = Mutex<Set<FileIdentity>>([])

    /// The system's properties, which tests may replace.
    struct Environment: Sendable {
        var boot = SystemBoot.identity
        /// `nil`: as the file system of each folder reports.
        package var traits: FileSystemTraits?
        var marks = true
        /// The user whose files are trusted.
        package var user = FileUser(user: geteuid(), group: getegid())
        /// The time in milliseconds for which a folder's path is assumed to be unchanged.
        var folderTrust: Int64 = 10
        /// Distinguishes a journal's headers and slots from those of an earlier one in the same blocks.
        var nonce: @Sendable () -> UInt64 = { .random(in: .min ... .max) }
        var notice: @Sendable (String) -> Void
    }

    /// Creates a disk that reports through `notice` what the user should know but what stops no download: a damaged
    /// journal that was renamed, for instance.
    package convenience init(
        numbering: FileName.Numbering = .parenthesized, recognizesFinished: Bool = true,
        notice: @escaping @Sendable (String) -> Void
    ) { self.init(Environment(notice: notice), numbering: numbering, recognizesFinished: recognizesFinished) }

    init(_ environment: Environment, numbering: FileName.Numbering = .parenthesized, recognizesFinished: Bool = true) {
        self.environment = environment
        self.numbering = numbering
        self.recognizesFinished = recognizesFinished
        folders = FolderCache(
            traits: environment.traits, marks: environment.marks, trust: environment.folderTrust, user: environment.user
        )
        publisher = Publisher(workers: syncers)
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        var folder = try folders.open(claim.folder)
        warn(of: folder)
        var number = 0
        var retries = 0
        while true {
            let outcome = try attempt(claim, number, in: folder, adopts: adopts)
            switch outcome {
            case .result(let result): return result
            case .taken(let failure), .distrusted(let failure):
                guard claim.ifExists == .rename, number < SuffixCache.last else { throw failure }
                if case .distrusted = outcome { notice(of: failure, "using another name") }
                number = numbers.next(after: number, of: claim.name, in: folder)
            case .again:
                retries += 1
                guard retries < 100 else {
                    throw Failure(
                        .cannotCreate, "cannot claim", at: folder.path(of: claim.name),
                        because: LocalizableMessage(
                            "files-keep-changing", "other programs keep changing the files of that name"))
                }
                folder = try folders.open(claim.folder, trusting: false)
            }
        }
    }

    /// Claims one final name, with spare names of part file and journal where the usual ones are another program's.
    ///
    /// Those of an earlier run come first: the file that was in the way may have been removed since.
    private func attempt(
        _ claim: Claim, _ number: Int, in folder: Folder, adopts: (LoadedJournal) -> Bool
    ) throws(Failure) -> ClaimAttempt.Outcome {
        let usual = ClaimAttempt(disk: self, folder: folder, claim: claim, number: number)
        var spare: ClaimAttempt { ClaimAttempt(disk: self, folder: folder, claim: claim, number: number, form: .spare) }
        if unfinished.maySpare(usual.names.final, in: folder), spare.hasOwnFiles {
            let outcome = try spare.run(adopts: adopts)
            guard case .distrusted = outcome else { return outcome }
        }
        if isReserved(usual.names, in: claim.folder) {
            let outcome = try spare.run(adopts: adopts)
            if case .result = outcome { unfinished.addSpare(usual.names.final, in: folder) }
            return outcome
        }
        let outcome = try usual.run(adopts: adopts)
        guard case .distrusted(let failure) = outcome else { return outcome }
        usual.clearStrayJournal()
        let other = try spare.run(adopts: adopts)
        if case .result(let result) = other {
            if case .skipped = result { return other }
            unfinished.addSpare(usual.names.final, in: folder)
            notice(of: failure, "using another name for the part file")
        }
        return other
    }

    package func reserve(_ name: String, in folder: String) {
        guard FileName.looksLikePart(name) else { return }
        reserved.withLock { _ = $0.insert(Bytewise("\(folder)/\(name)")) }
    }

    /// Whether the part file or the journal of a file of that name would have the name of another one to come.
    func isReserved(_ name: String, in folder: String) -> Bool {
        reserved.withLock(\.isEmpty) ? false : isReserved(PartNames(name), in: folder)
    }

    private func isReserved(_ names: PartNames, in folder: String) -> Bool {
        reserved.withLock { reserved in
            !reserved.isEmpty
                && (reserved.contains(Bytewise("\(folder)/\(names.part)"))
                    || reserved.contains(Bytewise("\(folder)/\(names.journal)")))
        }
    }

    func notice(of failure: Failure, _ consequence: String) {
        environment.notice("\(failure.what) \(failure.place): \(failure.why); \(consequence)")
    }

    /// Warns once about a folder that is not safe.
    func warn(of folder: Folder) {
        guard folder.isOpenToOthers, warned.withLock({ $0.insert(folder.identity).inserted }) else { return }
        environment.notice(
            "other users can write to the folder \(folder.path), and replace the files that are downloaded there: "
                + "choose another folder, or remove that permission with 'chmod o-w'")
    }

    package func unfinished(of source: String, in folder: String) -> String? {
        // Nearly always there is none; only for a match is it worth checking that the folder is still the same.
        if let kept = folders.kept(folder), unfinished.name(of: source, in: kept) == nil { return nil }
        guard let folder = folders.existing(folder) else { return nil }
        return unfinished.name(of: source, in: folder)
    }

    package func leftover(of source: String, in folder: String) -> String? {
        folders.existing(folder).flatMap { unfinished.leftover(of: source, in: $0) }
    }

    package func length(of name: String, in folder: String) -> Int64? {
        guard let folder = folders.existing(folder, trusting: true) else { return nil }
        guard let found = folder.target(of: name), found.isRegular else { return nil }
        return found.length
    }

    package func holds(_ name: String, in folder: String) -> Bool {
        guard let folder = folders.existing(folder, trusting: true) else { return false }
        // What cannot be inspected is left for the claim to report.
        do throws(SystemError) { return try folder.status(of: name) != nil } catch { return false }
    }

    package func sync(_ name: String, in folder: String) throws(Failure) {
        let folder = try folders.open(folder)
        do throws(SystemError) {
            try folder.open(name, flags: O_RDONLY | O_NONBLOCK).syncAll()
            try folder.sync()
        } catch { throw Failure.system(.inputOutput, "cannot sync", at: folder.path(of: name), error) }
    }
}
