import CSQLite
import Glibc
import PawlCore

/// What SQLite said when it failed.
struct DatabaseError: Error, Hashable, Sendable {
    /// SQLite's extended result code.
    let code: Int32
    let words: String
    /// The `errno` of the system call below, 0 when there was none.
    var system: Int32 = 0

    /// The last error of this connection.
    static func last(of database: OpaquePointer?) -> DatabaseError {
        let words = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) }
        return DatabaseError(
            code: unsafe sqlite3_extended_errcode(database),
            words: words ?? "out of memory",
            system: unsafe sqlite3_system_errno(database)
        )
    }

    /// What this room itself finds wrong with a file that SQLite takes.
    static func damage(_ words: String) -> DatabaseError {
        DatabaseError(code: SQLITE_CORRUPT, words: words)
    }

    /// A newer version of this program made the file. (SQLite itself never answers this code.)
    static func newer(_ words: String) -> DatabaseError {
        DatabaseError(code: SQLITE_FORMAT, words: "a newer version of this program wrote it (\(words))")
    }

    /// An older version made it, and it is not ours to change.
    static func older(_ words: String) -> DatabaseError {
        DatabaseError(code: SQLITE_FORMAT, words: "an older version of this program wrote it (\(words))")
    }

    private var kind: Int32 { code & 0xFF }

    var isDamage: Bool { kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB }
    /// A statement of this room did not fit the tables.
    var isMisfit: Bool { kind == SQLITE_ERROR || kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH }
}

extension DatabaseError {
    /// The sentence for a person.
    ///
    /// A full disk is told apart, because it is worth waiting for.
    func failure(_ what: String, at path: String) -> Failure {
        if kind == SQLITE_FULL || system == ENOSPC || system == EDQUOT {
            return Failure(
                .diskFull,
                what,
                at: path,
                because: words,
                remedy: "free some space: what was saved before is kept"
            )
        }
        if kind == SQLITE_FORMAT { return .otherForm(path, words) }
        if kind == SQLITE_BUSY || kind == SQLITE_LOCKED { return .queueInUse(path) }
        let isAccess = kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY || kind == SQLITE_PERM
        return Failure(
            isAccess ? .cannotOpen : .inputOutput,
            what,
            at: path,
            because: system == 0 ? words : "\(words) (\(Failure.words(of: system)))",
            remedy: isAccess
                ? "choose another folder, or make this one writable for you"
                : kind == SQLITE_IOERR ? "check the disk: it reported an error" : ""
        )
    }
}

/// The failures of this room.
extension Failure {
    static func words(of number: Int32) -> String { unsafe String(cString: strerror(number)) }

    static func system(_ code: Code, _ what: String, at path: String, _ number: Int32) -> Failure {
        if number == ENOSPC || number == EDQUOT {
            return DatabaseError(code: SQLITE_FULL, words: words(of: number)).failure(what, at: path)
        }
        return Failure(
            code,
            what,
            at: path,
            because: words(of: number),
            remedy: number == EACCES || number == EPERM || number == EROFS
                ? "choose another folder, or make this one writable for you" : ""
        )
    }

    static func queueInUse(_ path: String) -> Failure {
        Failure(
            .alreadyDownloading,
            "cannot use the queue",
            at: path,
            because: "another process or another part of this one has it open",
            remedy: "stop that one, or choose another folder"
        )
    }

    static func otherForm(_ path: String, _ words: String) -> Failure {
        Failure(
            .newerJournal,
            "cannot use the queue",
            at: path,
            because: words,
            remedy: "continue with that version, or move the file away to begin a new queue"
        )
    }

    static func queueClosed(_ path: String) -> Failure {
        Failure(.cannotOpen, "cannot use the queue", at: path, because: "it was closed")
    }
}
