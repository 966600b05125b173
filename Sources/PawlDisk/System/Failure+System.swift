import Glibc
import PawlCore

/// The failures of this room. A full disk is told apart everywhere, because it is worth waiting for.
extension Failure {
    static func system(_ code: Code, _ what: String, at path: String, _ error: SystemError) -> Failure {
        if error.isDiskFull { return diskFull(what, at: path, because: error.text) }
        return Failure(code, what, at: path, because: error.text, remedy: remedy(for: error))
    }

    static func diskFull(_ what: String, at path: String, because why: String) -> Failure {
        Failure(
            .diskFull,
            what,
            at: path,
            because: why,
            remedy: "free some space, then \(.resume): received bytes are kept"
        )
    }

    static func alreadyDownloading(_ path: String) -> Failure {
        Failure(
            .alreadyDownloading,
            "cannot download to",
            at: path,
            because: "this file is being downloaded already",
            remedy: "wait for that download, or choose another name"
        )
    }

    static func exists(_ path: String) -> Failure {
        Failure(
            .fileExists,
            "cannot download to",
            at: path,
            because: "a file of that name exists",
            remedy: "choose another name, or say that it may be overwritten or resumed"
        )
    }

    static func stranger(_ path: String) -> Failure {
        Failure(
            .fileExists,
            "cannot use",
            at: path,
            because: "it was not written by this program",
            remedy: "finish or remove it with the program it belongs to, or choose another name"
        )
    }

    static func distrusted(_ path: String, _ flaw: FileRights.Flaw) -> Failure {
        Failure(
            .fileExists,
            "cannot use",
            at: path,
            because: flaw.words,
            remedy: "remove it, or choose another name or folder"
        )
    }

    static func noFile(_ path: String) -> Failure {
        Failure(
            .cannotCreate,
            "cannot download to",
            at: path,
            because: "it is a device, a pipe or a socket, and a download is written to a file",
            remedy: "choose the name of a file"
        )
    }

    static func otherDownload(_ path: String) -> Failure {
        Failure(
            .fileExists,
            "cannot use",
            at: path,
            because: "it is the unfinished download of another address",
            remedy: "finish or remove that download, or choose another name"
        )
    }

    static func newerJournal(_ path: String, version: UInt32) -> Failure {
        Failure(
            .newerJournal,
            "cannot continue from",
            at: path,
            because: "a newer version of this program wrote it (format \(version))",
            remedy: "continue with that version, or remove the file to start over"
        )
    }

    private static func remedy(for error: SystemError) -> Remedy {
        switch error.number {
        case EACCES, EPERM: "choose another folder, or make this one writable for you"
        case EROFS: "choose another folder: this file system is read-only"
        case EMFILE, ENFILE: "raise the limit of open files, or run fewer downloads at once"
        case EFBIG: "choose a folder on a file system that takes files of this size"
        case EIO: "check the disk: it reported an error"
        default: ""
        }
    }
}
