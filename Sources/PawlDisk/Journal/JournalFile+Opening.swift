import Glibc
import PawlCore

/// What stands under a journal's name.
enum JournalFinding {
    case none
    /// Another open description holds its lock.
    case held
    /// Made and not filled; `part`: the inode of the part file that it speaks for, where that one bears no mark.
    case unborn(OpenFile, part: UInt64?)
    case whole(JournalImage, OpenFile)
    case newer(version: UInt32)
    case damaged(String)
    /// It is not a journal of ours: nobody may touch it.
    case stranger
}

extension JournalFile {
    /// Journals hold addresses, and addresses may hold secrets.
    private static let mode: UInt32 = 0o600
    private static let limit = JournalLayout.end(ofArea: JournalLayout.lastArea)
    /// Where a journal that is not filled names its part file: behind what tells a filled one.
    private static let vouching = JournalLayout.preambleLength

    /// Opens, locks and reads the journal `name`.
    static func find(_ name: String, in folder: Folder) throws(Failure) -> JournalFinding {
        do throws(SystemError) {
            while true {
                guard let seen = try folder.status(of: name) else { return .none }
                // Opening a pipe or a device may do something; writing to a file with another name changes that one too.
                guard folder.flaw(of: seen) == nil else { return .stranger }
                guard let file = try open(name, in: folder, flags: O_RDWR) else { continue }
                guard try lockIfPossible(file) else { return .held }
                let mine = try file.status()
                // Between looking and locking another process may have published or set it aside.
                guard folder.flaw(of: mine) == nil else { return .stranger }
                guard try folder.status(of: name)?.identity == mine.identity else { continue }
                return try judge(file, mine, in: folder)
            }
        } catch  where error.isOthers {
            return .stranger
        } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: folder.path(of: name), error)
        }
    }

    /// The facts of the journal `name` without its lock: for telling whose it is.
    static func peek(_ name: String, in folder: Folder) -> JournalFacts? {
        guard let file = try? open(name, in: folder, flags: O_RDONLY), let status = try? file.status(),
            folder.flaw(of: status) == nil, case .whole(let image, _) = try? judge(file, status, in: folder)
        else { return nil }
        return image.header.facts
    }

    private static func open(_ name: String, in folder: Folder, flags: Int32) throws(SystemError) -> OpenFile?
    {
        do throws(SystemError) {
            return try folder.open(name, flags: flags | O_NONBLOCK)
        } catch  where error.isMissing {
            return nil
        }
    }

    private static func judge(
        _ file: OpenFile,
        _ status: FileStatus,
        in folder: Folder
    ) throws(SystemError) -> JournalFinding {
        let mark = folder.bearsMarks ? OwnerAttribute.read(file) : .unsupported
        let front = try file.contents(limit: JournalLayout.preambleLength)
        guard front.contains(where: { $0 != 0 }) else { return try judgeUnborn(file, status, mark) }
        guard mark.isOurs || front.starts(with: JournalLayout.magic) else { return .stranger }
        let bytes = try file.contents(limit: limit)
        do throws(JournalImage.Fault) {
            let image = try JournalImage(bytes)
            guard mark.isOurs || belongs(image, to: status, mark, in: folder) else { return .stranger }
            return image.isMadeUp ? .damaged("nobody has counted as far as it says") : .whole(image, file)
        } catch {
            switch error {
            case .unborn: return .stranger
            case .newer(let version): return .newer(version: version)
            case .damaged(let why): return .damaged(why)
            }
        }
    }

    /// Whether a journal without a mark is where it was made: a copy is somebody's, and so is what was downloaded under
    /// such a name.
    private static func belongs(
        _ image: JournalImage,
        to status: FileStatus,
        _ mark: OwnerAttribute.Reading,
        in folder: Folder
    ) -> Bool {
        guard folder.traits.contains(.keepsInodes) else { return mark == .unsupported }
        return image.header.inodes.journal == status.identity.inode
    }

    /// Nothing is in it that could tell whose it is, but perhaps which part file it was made for.
    private static func judgeUnborn(
        _ file: OpenFile,
        _ status: FileStatus,
        _ mark: OwnerAttribute.Reading
    ) throws(SystemError) -> JournalFinding {
        let part = try PartVoucher.read(file, at: vouching)
        return mark.isOurs || status.isBeginning || part != nil ? .unborn(file, part: part) : .stranger
    }

    /// Makes the journal `name` and fills it.
    ///
    /// The caller holds the part file's lock, so one of ours that is there is an orphan or the mark of a folder without
    /// extended attributes.
    static func make(
        _ name: String,
        in folder: Folder,
        begin: (UInt64) -> (JournalKeeper, [JournalWrite])
    ) throws(Failure) -> JournalFile {
        let path = folder.path(of: name)
        guard let file = try makeOrTake(name, in: folder) else { throw Failure.stranger(path) }
        do throws(SystemError) {
            guard try lockIfPossible(file) else { throw SystemError(number: EAGAIN) }
            let status = try file.status()
            if status.length > 0 { try file.truncate(to: 0) }
            let (keeper, writes) = begin(status.identity.inode)
            try perform(writes, on: file)
            try? file.endBeginning()
            return JournalFile(file: file, path: path, keeper: keeper)
        } catch  where error.number == EAGAIN {
            throw Failure.alreadyDownloading(path)
        } catch {
            throw Failure.system(.cannotCreate, "cannot create", at: path, error)
        }
    }

    /// `nil`: what is there is not ours.
    private static func makeOrTake(_ name: String, in folder: Folder) throws(Failure) -> OpenFile? {
        do throws(SystemError) {
            let file = try folder.make(name, mode: mode)
            if folder.bearsMarks, try !OwnerAttribute.set(OwnerAttribute.journal, on: file) { folder.noMarks() }
            return file
        } catch  where error.number == EEXIST {
            switch try find(name, in: folder) {
            case .unborn(let file, _), .whole(_, let file): return file
            case .held: throw Failure.alreadyDownloading(folder.path(of: name))
            case .none, .newer, .damaged, .stranger: return nil
            }
        } catch {
            throw Failure.system(.cannotCreate, "cannot create", at: folder.path(of: name), error)
        }
    }

    /// Makes a journal that is not filled: the mark of the part file `part`, which can bear no other.
    ///
    /// `false`: there is something that is not ours.
    static func markByName(_ name: String, part: UInt64, in folder: Folder) throws(Failure) -> Bool {
        guard let file = try makeOrTake(name, in: folder) else { return false }
        do throws(SystemError) {
            try PartVoucher.write(part, to: file, at: vouching)
        } catch {
            throw Failure.system(.cannotCreate, "cannot create", at: folder.path(of: name), error)
        }
        return true
    }

    /// Removes the journal `name` if it is the one that was written, or, where none was, one that was only to be.
    static func remove(_ name: String, in folder: Folder, written: JournalFile?) throws(SystemError) {
        if let written {
            guard try folder.status(of: name)?.identity == written.file.status().identity else { return }
        } else {
            guard case .unborn = try? find(name, in: folder) else { return }
        }
        try folder.remove(name)
    }

    /// Renames a damaged journal to `NAME.pawl.bad`, or the next such name that is free, and answers it.
    static func setAside(_ names: PartNames, in folder: Folder) throws(Failure) -> String {
        let wish = FileName.damagedJournal(of: names.final)
        var name = wish
        var number = 0
        while true {
            do throws(SystemError) {
                try folder.rename(names.journal, to: name, replacing: false)
                return name
            } catch  where error.number == EEXIST && number < SuffixCache.last {
                number += 1
                name = FileName.numbered(wish, number)
            } catch {
                let path = folder.path(of: names.journal)
                throw Failure.system(.renameFailed, "cannot set aside the damaged journal", at: path, error)
            }
        }
    }

    /// A file system without locks (some network ones) leaves only this process's own registry of claims.
    static func lockIfPossible(_ file: OpenFile) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try file.lock()
        } catch  where error.isUnsupported {
            return true
        }
    }
}
