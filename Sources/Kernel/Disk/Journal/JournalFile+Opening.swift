import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// The file found under a journal's name.
enum JournalFinding {
    case none
    /// Another open description holds its lock.
    case held
    /// Created and never filled; `part`: the inode of the part file that it belongs to, if that one has no attribute.
    case unborn(OpenFile, part: UInt64?)
    case whole(JournalImage, OpenFile)
    case newer(version: UInt32)
    case damaged(String)
    /// Not written by Pawl: it must not be touched.
    case foreign
}

extension JournalFile {
    /// Journals hold URLs, and URLs may hold secrets.
    private static let mode: UInt32 = 0o600
    private static let limit = JournalLayout.end(ofArea: JournalLayout.lastArea)
    /// The offset of the part file's inode in an unfilled journal: after what identifies a filled one.
    private static let vouching = JournalLayout.preambleLength

    /// Opens, locks and reads the journal `name`.
    static func find(_ name: String, in folder: Folder) throws(Failure) -> JournalFinding {
        do throws(SystemError) {
            while true {
                guard let seen = try folder.status(of: name) else { return .none }
                // Opening a pipe or a device may have effects; writing to a file with other names changes those too.
                guard folder.flaw(of: seen) == nil else { return .foreign }
                guard let file = try open(name, in: folder, flags: O_RDWR) else { continue }
                guard try lockIfPossible(file) else { return .held }
                let mine = try file.status()
                // Between inspecting and locking another process may have published or renamed it.
                guard folder.flaw(of: mine) == nil else { return .foreign }
                guard try folder.status(of: name)?.identity == mine.identity else { continue }
                return try judge(file, mine, in: folder)
            }
        } catch  where error.isOthers { return .foreign } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: folder.path(of: name), error)
        }
    }

    /// The facts of the journal `name`, read without its lock: for identifying the download.
    static func peek(_ name: String, in folder: Folder) -> JournalFacts? {
        guard let file = try? open(name, in: folder, flags: O_RDONLY), let status = try? file.status(),
            folder.flaw(of: status) == nil, case .whole(let image, _) = try? judge(file, status, in: folder)
        else { return nil }
        return image.header.facts
    }

    private static func open(_ name: String, in folder: Folder, flags: Int32) throws(SystemError) -> OpenFile? {
        do throws(SystemError) { return try folder.open(name, flags: flags | O_NONBLOCK) } catch  where error.isMissing
        { return nil }
    }

    private static func judge(
        _ file: OpenFile, _ status: FileStatus, in folder: Folder
    ) throws(SystemError) -> JournalFinding {
        let mark = folder.bearsMarks ? OwnerAttribute.read(file) : .unsupported
        let front = try file.contents(limit: JournalLayout.preambleLength)
        guard front.contains(where: { $0 != 0 }) else { return try judgeUnborn(file, status, mark) }
        guard mark.isOurs || front.starts(with: JournalLayout.magic) else { return .foreign }
        let bytes = try file.contents(limit: limit)
        do throws(JournalImage.Fault) {
            let image = try JournalImage(bytes)
            guard mark.isOurs || belongs(image, to: status, mark, in: folder) else { return .foreign }
            return image.isMadeUp ? .damaged("its counters are implausible") : .whole(image, file)
        } catch {
            switch error {
            case .unborn: return .foreign
            case .newer(let version): return .newer(version: version)
            case .damaged(let why): return .damaged(why)
            }
        }
    }

    /// Whether a journal without an attribute is where it was created: a copy is the user's, and so is a file that was
    /// downloaded under such a name.
    private static func belongs(
        _ image: JournalImage, to status: FileStatus, _ mark: OwnerAttribute.Lookup, in folder: Folder
    ) -> Bool {
        guard folder.traits.contains(.keepsInodes) else { return mark == .unsupported }
        return image.header.inodes.journal == status.identity.inode
    }

    /// Judges a journal whose content does not identify its owner, except perhaps by the inode of its part file.
    private static func judgeUnborn(
        _ file: OpenFile, _ status: FileStatus, _ mark: OwnerAttribute.Lookup
    ) throws(SystemError) -> JournalFinding {
        let part = try PartVoucher.read(file, at: vouching)
        return mark.isOurs || status.isBeginning || part != nil ? .unborn(file, part: part) : .foreign
    }

    /// Creates the journal `name` and fills it.
    ///
    /// The caller holds the part file's lock, so an existing journal of Pawl's own is an orphan or the mark in a folder
    /// without extended attributes.
    static func make(
        _ name: String, in folder: Folder, begin: (UInt64) -> (JournalKeeper, [JournalWrite])
    ) throws(Failure) -> JournalFile {
        let path = folder.path(of: name)
        guard let file = try makeOrTake(name, in: folder) else { throw Failure.foreignFile(path) }
        do throws(SystemError) {
            guard try lockIfPossible(file) else { throw SystemError(number: EAGAIN) }
            let status = try file.status()
            // The mark of the part file, in an unfilled one, stays until the journal is complete.
            if try !file.isUnfilled { try file.truncate(to: 0) }
            let (keeper, writes) = begin(status.identity.inode)
            try perform(writes, on: file)
            try? file.endBeginning()
            return JournalFile(file: file, path: path, keeper: keeper)
        } catch  where error.number == EAGAIN { throw Failure.alreadyDownloading(path) } catch {
            // A part of a journal takes room that the next attempt needs.
            if folder.bearsMarks { try? folder.remove(name) }
            throw Failure.system(.cannotCreate, "cannot create", at: path, error)
        }
    }

    /// Returns `nil` when the existing file is not Pawl's own.
    private static func makeOrTake(_ name: String, in folder: Folder) throws(Failure) -> OpenFile? {
        do throws(SystemError) {
            let file = try folder.make(name, mode: mode)
            if folder.bearsMarks, try !OwnerAttribute.set(OwnerAttribute.journal, on: file) { folder.noMarks() }
            return file
        } catch  where error.number == EEXIST {
            switch try find(name, in: folder) {
            case .unborn(let file, _), .whole(_, let file): return file
            case .held: throw Failure.alreadyDownloading(folder.path(of: name))
            case .none, .newer, .damaged, .foreign: return nil
            }
        } catch { throw Failure.system(.cannotCreate, "cannot create", at: folder.path(of: name), error) }
    }

    /// Creates an unfilled journal: the mark of the part file `part`, which can have no attribute.
    ///
    /// Returns `false` when a file that is not Pawl's own exists.
    static func markByName(_ name: String, part: UInt64, in folder: Folder) throws(Failure) -> Bool {
        guard let file = try makeOrTake(name, in: folder) else { return false }
        do throws(SystemError) { try PartVoucher.write(part, to: file, at: vouching) } catch {
            throw Failure.system(.cannotCreate, "cannot create", at: folder.path(of: name), error)
        }
        return true
    }

    /// Removes the journal `name` if it is the one that was written or, if none was, an unfilled one.
    static func remove(_ name: String, in folder: Folder, written: JournalFile?) throws(SystemError) {
        if let written {
            guard try folder.status(of: name)?.identity == written.file.status().identity else { return }
        } else {
            guard case .unborn = try? find(name, in: folder) else { return }
        }
        try folder.remove(name)
    }

    /// Renames a damaged journal to `NAME.pawl.bad`, or the next such name that is free, and returns it.
    static func setAside(_ names: PartNames, in folder: Folder) throws(Failure) -> String {
        let firstName = FileName.damagedJournal(of: names.final)
        var name = firstName
        var number = 0
        while true {
            do throws(SystemError) {
                try folder.rename(names.journal, to: name, replacing: false)
                return name
            } catch  where error.number == EEXIST && number < SuffixCache.last {
                number += 1
                name = FileName.numbered(firstName, number)
            } catch {
                let path = folder.path(of: names.journal)
                throw Failure.system(.renameFailed, "cannot rename the damaged journal", at: path, error)
            }
        }
    }

    /// On a file system without locks (some network ones) only this process's own registry of claims excludes others.
    static func lockIfPossible(_ file: OpenFile) throws(SystemError) -> Bool {
        do throws(SystemError) { return try file.lock() } catch  where error.isUnsupported { return true }
    }
}

extension OpenFile {
    /// Whether a journal was created and never filled.
    fileprivate var isUnfilled: Bool {
        get throws(SystemError) { try contents(limit: JournalLayout.preambleLength).allSatisfy { $0 == 0 } }
    }
}
