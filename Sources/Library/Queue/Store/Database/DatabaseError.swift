import CSQLite
import Glibc
import PawlBase
import PawlSystem

/// An error of SQLite.
struct DatabaseError: Error, Hashable, Sendable {
    /// SQLite's extended result code.
    package let code: Int32
    let words: String
    /// The `errno` of the system call that failed, 0 when there was none.
    var system: Int32 = 0

    /// The last error of this connection.
    static func last(of database: OpaquePointer?) -> DatabaseError {
        let words = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) }
        var error = DatabaseError(
            code: unsafe sqlite3_extended_errcode(database), words: words ?? "out of memory",
            system: unsafe sqlite3_system_errno(database))
        if error.isOfSystem, error.system == 0 { error.system = unsafe pawl_last_errno(database) }
        return error
    }

    /// A fault in a file that SQLite accepts.
    static func damage(_ words: String) -> DatabaseError { DatabaseError(code: SQLITE_CORRUPT, words: words) }

    /// A newer version of Pawl wrote the file. (SQLite itself never returns this code.)
    static func newer(_ words: String) -> DatabaseError {
        DatabaseError(code: SQLITE_FORMAT, words: "it was written by a newer version of Pawl (\(words))")
    }

    /// An older version wrote the file, and it must not be migrated.
    static func older(_ words: String) -> DatabaseError {
        DatabaseError(code: SQLITE_FORMAT, words: "it was written by an older version of Pawl (\(words))")
    }

    private var kind: Int32 { code & 0xFF }

    /// Whether a system call failed.
    private var isOfSystem: Bool { kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN || kind == SQLITE_FULL }

    var isDamage: Bool { kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB }
    /// Whether a statement did not fit the tables.
    var isSchemaMismatch: Bool { kind == SQLITE_ERROR || kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH }
}

extension DatabaseError {
    /// The message for the user.
    ///
    /// A full disk has its own code, because it is worth waiting for.
    func failure(_ what: String, at path: String) -> Failure {
        let cause = system == 0 || kind == SQLITE_FULL ? words : "\(words) (\(SystemError(number: system).text))"
        if kind == SQLITE_FULL || system == ENOSPC || system == EDQUOT {
            let awaited = system == EDQUOT ? AwaitedResource.quota : .space()
            let remedy: Remedy = "\(awaited.remedy): saved data is kept"
            var failure = Failure(.diskFull, what, at: path, because: cause, remedy: remedy)
            failure.awaited = awaited
            return failure
        }
        if kind == SQLITE_FORMAT { return .otherForm(path, words) }
        if kind == SQLITE_BUSY || kind == SQLITE_LOCKED { return .queueInUse(path) }
        let isReadOnly = system == EROFS || kind == SQLITE_READONLY
        let isAccess = kind == SQLITE_CANTOPEN || kind == SQLITE_PERM || isReadOnly
        var failure = Failure(
            isAccess ? .cannotOpen : .inputOutput, what, at: path, because: cause,
            remedy: isAccess
                ? "choose another folder, or make this one writable"
                : kind == SQLITE_IOERR ? "check the disk: it reported an error" : "")
        // It may have been mounted so after an error, and be repaired.
        if isReadOnly { failure.awaited = .writing }
        return failure
    }
}

/// The failures of this module.
extension Failure {
    static func system(_ code: Code, _ what: String, at path: String, _ number: Int32) -> Failure {
        if number == ENOSPC || number == EDQUOT {
            let words = SystemError(number: number).text
            return DatabaseError(code: SQLITE_FULL, words: words, system: number).failure(what, at: path)
        }
        return Failure(
            code, what, at: path, because: SystemError(number: number).text,
            remedy: number == EACCES || number == EPERM || number == EROFS
                ? "choose another folder, or make this one writable" : "")
    }

    /// `holder`: the state of the lock, with the number of the process that took it last.
    static func queueInUse(_ path: String, by holder: FileLock.Sight? = nil) -> Failure {
        let process = holder.flatMap { pid_t(exactly: $0.number) }.flatMap { number in
            number > 0 && number != getpid() && (kill(number, 0) == 0 || errno == EPERM) ? number : nil
        }
        return Failure(
            .alreadyDownloading, "cannot use the queue", at: path,
            because: process.map { "process \($0) has it open" }
                ?? "another process, or another part of this one, has it open",
            remedy: "stop that process, or choose another folder")
    }

    static func otherForm(_ path: String, _ words: String) -> Failure {
        Failure(
            .newerJournal, "cannot use the queue", at: path, because: words,
            remedy: "use that version, or move the file away to start a new queue")
    }

    static func queueClosed(_ path: String) -> Failure {
        Failure(.cannotOpen, "cannot use the queue", at: path, because: "it was closed")
    }
}
