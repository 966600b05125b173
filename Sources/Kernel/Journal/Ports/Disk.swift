package import PawlBase

/// What a download may have under its name.
package enum ClaimedFile: Hashable, Sendable {
    case part
    case finished
}

/// A request for a place on disk.
package struct Claim: Sendable {
    /// The folder, created when missing.
    package var folder: String
    /// The requested file name, already safe.
    package var name: String
    package var ifExists: IfExists
    /// With `IfExists.overwrite`: the only file that is replaced, as it was then; `nil` for any.
    package var replaces: ReplacedFile?
    /// The journal's facts: `facts.sources[0]` distinguishes this download from another of the same name.
    package var facts: JournalFacts
    /// Whether what has this final name, or the part file of it, belongs to another download, even one of the same address:
    /// then the name is taken.
    ///
    /// Called only when there is such a file.
    package var belongsToAnother: @Sendable (_ name: String, ClaimedFile) -> Bool = { _, _ in false }

    /// The name was chosen, not suggested: where it is a device, a pipe or a socket, no other name is used.
    package var isChosen = false
    /// The content of the current response: a finished file made from it is not fetched again.
    ///
    /// Called only when there is a finished file.
    package var content: @Sendable () -> ContentFingerprint? = { nil }
    /// With `IfExists.rename`: where no response proves that an earlier download's finished file of the same URL has this
    /// content, but its bytes do once they have arrived, it is the result, and no second one is made.
    package var recognizesBytes = false
    /// The expected length of the file, if known.
    package var length: Int64?

    /// Files of up to this many bytes need neither a journal nor a name before they are complete.
    package static let smallFile: Int64 = 1 << 20

    package init(folder: String, name: String, ifExists: IfExists, facts: JournalFacts) {
        self.folder = folder
        self.name = name
        self.ifExists = ifExists
        self.facts = facts
    }
}

/// A file that is replaced by another.
package struct ReplacedFile: Sendable {
    /// As it was when it was read.
    package var stamp: FileStamp
    /// Its bytes were found to be wrong: what is recorded of them, and its time, prove nothing.
    package var isWrong: Bool

    package init(_ stamp: FileStamp, isWrong: Bool = false) {
        self.stamp = stamp
        self.isWrong = isWrong
    }
}

/// The result of a claim.
package enum ClaimResult {
    /// A new, empty part file, locked; its `name` is the name that was free.
    case fresh(any JournalledFile)
    /// An earlier run's part file with its journal, locked.
    case found(any JournalledFile, LoadedJournal)
    /// `IfExists.resume`: a finished file of this length exists and is now the part file (renamed, no byte
    /// changed); `JournalledFile.restoreOriginal()` restores it.
    case existing(any JournalledFile, length: Int64)
    /// The file exists and was not touched: `IfExists.skip`, or it was made from the same content of the same
    /// address.
    case skipped(path: String)
}

/// A whole file in memory, which only needs its name.
package struct WholeFile: Sendable {
    package var folder: String
    /// The final file name, already safe.
    package var name: String
    package var bytes: [UInt8]
    /// The address of its content.
    package var source: String
    /// Proves what content it is, where something does.
    package var content: ContentFingerprint?
    package var modified: UnixTime?

    package init(
        folder: String, name: String, bytes: [UInt8], source: String, content: ContentFingerprint?, modified: UnixTime?
    ) {
        self.folder = folder
        self.name = name
        self.bytes = bytes
        self.source = source
        self.content = content
        self.modified = modified
    }
}

/// A whole file that got its name.
package struct PublishedFile: Hashable, Sendable {
    package var path: String
    package var stamp: FileStamp?

    package init(path: String, stamp: FileStamp?) {
        self.path = path
        self.stamp = stamp
    }
}

/// Folders, part files, journals.
///
/// Shared by all loops.
package protocol Disk: AnyObject, Sendable {
    /// Opens or creates the part file for `claim`. With `IfExists.rename` a taken name becomes `name
    /// (1).ext`. A part file of another URL under the same name is offered to `adopts`; if declined, it
    /// counts as a taken name. Throws code 11 when the same download is running elsewhere, 13, 15, 16, 17, 18
    /// and 9 as their names say.
    func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult
    /// Whether whole files get their names in this folder without a wait for the disk.
    func publishesWhole(in folder: String) -> Bool
    /// Whether nothing in the folder has that name, and no download, part file or journal is known to be beside it.
    func isFree(_ name: String, in folder: String) -> Bool
    /// Writes a whole file and gives it its name, as a claim, a write and ``JournalledFile/publish(length:modified:completion:)``
    /// would; the mark of its completion is that of ``Claim/recognizesBytes``.
    ///
    /// `nil` where only these can decide, because of what is in the folder, or fail: then nothing was changed. Before it has its
    /// name no other program sees it, and a kill leaves nothing of it.
    func publish(_ file: WholeFile) -> PublishedFile?
    /// The digests of bytes in memory, at once.
    func digests(_ algorithms: [HashAlgorithm], of bytes: [UInt8]) -> [Checksum]
    /// The name of a part file in `folder` whose journal has `source` first, if there is one.
    func unfinished(of source: String, in folder: String) -> String?
    /// The name of a part file of `source` in `folder` that an earlier process left without a readable
    /// journal.
    func leftover(of source: String, in folder: String) -> String?
    /// Whether a finished file of that name, or of one of its numbered variants, was made from `source` and
    /// not changed since: the server's content may still be the same.
    func wasFinished(_ name: String, from source: String, in folder: String) -> Bool
    /// The path of the finished file of the claim's name, if it was made from the claim's content and not changed since: a
    /// response at hand has proved it. Nothing is created.
    func finished(_ claim: Claim) -> String?
    /// The digests of a finished file, on a worker thread.
    func digests(
        _ algorithms: [HashAlgorithm], of path: String,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void)
    /// The digest of a range of a finished file, which `padding` zeros follow, on a worker thread.
    func hash(
        _ range: ByteRange, _ algorithm: HashAlgorithm, padding: Int64, of path: String,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void)
    /// The length of the file of that name in the folder, links followed; `nil` when there is none.
    func length(of name: String, in folder: String) -> Int64?
    /// Whether anything in the folder has that name: a file, a folder, a link that leads to nothing.
    func holds(_ name: String, in folder: String) -> Bool
    /// Makes a finished file and its name durable: an earlier process may have ended before that.
    func sync(_ name: String, in folder: String) throws(Failure)
    /// The regular file of that name in the folder, links followed; `nil` when there is none.
    func stamp(of name: String, in folder: String) -> FileStamp?
    /// The folder, links followed; `nil` when it is not there.
    func stamp(ofFolder folder: String) -> FolderStamp?
    /// Whether what has that name in the folder is the finished file.
    func presence(of file: FinishedFile, as name: String, in folder: String) -> FinishedFile.Presence
    /// Renames a finished file; a taken name is a failure, unless a file of that name is to be replaced.
    ///
    /// Throws code 13 when what has the name is not that file.
    func rename(
        _ name: String, to newName: String, in folder: String, if file: FinishedFile, replacing: Bool
    ) throws(Failure)
    /// Gives a finished file a name in another folder, which is created when missing; the old name stays until `remove`,
    /// unless the file system cannot give a file two names.
    ///
    /// A taken name is a failure. Throws code 13 when what has the name is not that file.
    func link(
        _ name: String, from folder: String, as newName: String, to newFolder: String, if file: FinishedFile
    ) throws(Failure)
    /// Begins the part file of `facts` with the first `length` bytes of another file, and returns it.
    ///
    /// They are on disk and in the journal when this returns. The other file stays, unless `isGiven`: then it becomes the
    /// part file where it is on the same file system, under one of the two names at any moment. An existing part file of
    /// the same address has more bytes than the other program knows, and is left as it is. Unless `isNamed`,
    /// the facts' name is for the part file alone, and the journal has none: the server's is not known yet.
    func adopt(
        _ name: String, in source: String, length: Int64, as facts: JournalFacts, isNamed: Bool, isGiven: Bool,
        to folder: String
    ) throws(Failure) -> AdoptedPart?
    /// Notes that a download gets this name: part files and journals of others do not use it.
    func reserve(_ name: String, in folder: String)
    /// Removes the finished file of that name; a missing one is no failure.
    ///
    /// Throws code 13 when what has the name is not that file. The removal is durable after `syncNames`.
    func remove(_ name: String, in folder: String, if file: FinishedFile) throws(Failure)
    /// Makes earlier removals and renames in the folder durable, as far as the file system can.
    func syncNames(in folder: String)
    /// The room of the folder's file system, or of that in which it would be made; `nil` if it cannot be found out.
    func room(in folder: String) -> DiskRoom?
}

extension Disk {
    /// Renames a finished file; a taken name is a failure.
    package func rename(
        _ name: String, to newName: String, in folder: String, if file: FinishedFile
    ) throws(Failure) { try rename(name, to: newName, in: folder, if: file, replacing: false) }
    /// Whether there is a part file of `name`, which may be another program's.
    package func holdsPart(of name: String, in folder: String) -> Bool {
        FileName.PartForm.allCases.contains { holds(FileName.partial(of: name, as: $0), in: folder) }
    }
    /// Whether there is a journal of `name`, which may be another program's.
    package func holdsJournal(of name: String, in folder: String) -> Bool {
        FileName.PartForm.allCases.contains { holds(FileName.journal(of: name, as: $0), in: folder) }
    }
    /// Whether a file, and nothing else, has that name.
    package func hasFile(_ name: String, in folder: String) -> Bool { length(of: name, in: folder) != nil }
}
