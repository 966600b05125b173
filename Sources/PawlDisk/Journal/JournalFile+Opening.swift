import PawlCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What stands under a journal's name.
enum JournalFinding {
    case none
    /// Another open description holds its lock.
    case held
    case unborn(OpenFile)
    case whole(JournalImage, OpenFile)
    case newer(version: UInt32)
    case damaged(String)
}

extension JournalFile {
    /// Journals hold addresses, and addresses may hold secrets.
    private static let mode: UInt32 = 0o600

    /// Opens, locks and reads the journal `name`.
    static func find(_ name: String, in folder: Folder) throws(Failure) -> JournalFinding {
        do throws(SystemError) {
            while true {
                guard let file = try open(name, in: folder, flags: O_RDWR) else { return .none }
                guard try lockIfPossible(file) else { return .held }
                let mine = try file.status()
                guard mine.isRegular else { return .damaged("it is not a file") }
                // Between opening and locking another process may have published or set it aside.
                guard try folder.status(of: name)?.identity == mine.identity else { continue }
                return try judge(file)
            }
        } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: folder.path(of: name), error)
        }
    }

    /// The facts of the journal `name` without its lock: for telling whose it is.
    static func peek(_ name: String, in folder: Folder) -> JournalFacts? {
        guard let file = try? open(name, in: folder, flags: O_RDONLY),
            let bytes = try? file.contents(limit: JournalLayout.end(ofArea: JournalLayout.lastArea))
        else { return nil }
        return (try? JournalImage(bytes))?.header.facts
    }

    private static func open(_ name: String, in folder: Folder, flags: Int32) throws(SystemError) -> OpenFile?
    {
        do throws(SystemError) {
            return try folder.open(name, flags: flags | O_NONBLOCK)
        } catch  where error.isMissing {
            return nil
        }
    }

    private static func judge(_ file: OpenFile) throws(SystemError) -> JournalFinding {
        let bytes = try file.contents(limit: JournalLayout.end(ofArea: JournalLayout.lastArea))
        do throws(JournalImage.Fault) {
            let image = try JournalImage(bytes)
            return image.isMadeUp ? .damaged("nobody has counted as far as it says") : .whole(image, file)
        } catch {
            switch error {
            case .unborn: return .unborn(file)
            case .newer(let version): return .newer(version: version)
            case .damaged(let why): return .damaged(why)
            }
        }
    }

    /// Makes the journal `name` and fills it.
    ///
    /// The caller holds the part file's lock, so one that is there is an orphan or the empty mark of a folder
    /// without extended attributes.
    static func make(
        _ name: String,
        in folder: Folder,
        begin: (UInt64) -> (JournalKeeper, [JournalWrite])
    ) throws(Failure) -> JournalFile {
        let path = folder.path(of: name)
        do throws(SystemError) {
            let file = try folder.open(name, flags: O_RDWR | O_CREAT, mode: mode)
            guard try lockIfPossible(file) else { throw SystemError(number: EAGAIN) }
            let status = try file.status()
            guard status.isRegular else { throw SystemError(number: EEXIST) }
            if status.length > 0 { try file.truncate(to: 0) }
            let (keeper, writes) = begin(status.identity.inode)
            try perform(writes, on: file)
            return JournalFile(file: file, path: path, keeper: keeper)
        } catch  where error.number == EAGAIN {
            throw Failure.alreadyDownloading(path)
        } catch {
            throw Failure.system(.cannotCreate, "cannot create", at: path, error)
        }
    }

    /// Makes an empty journal: the mark of a part file that can bear no other.
    static func markByName(_ name: String, in folder: Folder) throws(SystemError) {
        _ = try folder.open(name, flags: O_RDWR | O_CREAT, mode: mode)
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
            } catch  where error.number == EEXIST && number < NumberHints.last {
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
