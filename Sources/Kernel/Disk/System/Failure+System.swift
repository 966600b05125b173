import Glibc
package import PawlBase
import PawlJournal
package import PawlSystem

/// The failures of this module. A full disk always has its own code, because it is worth waiting for.
extension Failure {
    package static func system(_ code: Code, _ what: String, at path: String, _ error: SystemError) -> Failure {
        if error.isDiskFull { return diskFull(what, at: path, error) }
        var failure = Failure(code, what, at: path, because: error.causeForFile, remedy: remedy(for: error))
        // It may have been mounted so after an error, and be repaired.
        if error.number == EROFS { failure.awaited = .writing }
        return failure
    }

    private static func diskFull(_ what: String, at path: String, _ error: SystemError) -> Failure {
        if error.number == EDQUOT { return diskFull(what, at: path, because: error.message, lacking: .quota) }
        guard DiskRoom(at: path)?.lacksFiles == true else { return diskFull(what, at: path, because: error.message) }
        let why = LocalizableMessage("no-inodes", "the file system can have no more files (no inodes are left)")
        return diskFull(what, at: path, because: why, lacking: .files)
    }

    /// Nothing of a sample is kept: it has no journal.
    package static func sample(_ code: Code, _ what: String, at path: String, _ error: SystemError) -> Failure {
        var failure = system(code, what, at: path, error)
        if error.isDiskFull, let awaited = failure.awaited { failure.remedy = "\(awaited.remedy), then run it again" }
        return failure
    }

    package static func diskFull(
        _ what: String, at path: String, because why: LocalizableMessage, lacking awaited: AwaitedResource = .space()
    ) -> Failure {
        var failure = Failure(
            .diskFull, what, at: path, because: why,
            remedy: "\(awaited.remedy), then \(.resume): received bytes are kept")
        failure.awaited = awaited
        return failure
    }

    package static func alreadyDownloading(_ path: String) -> Failure {
        Failure(
            .alreadyDownloading, "cannot download to", at: path,
            because: LocalizableMessage("file-already-downloading", "this file is already being downloaded"),
            remedy: "wait for that download, or choose another name")
    }

    package static func exists(_ path: String) -> Failure {
        Failure(
            .fileExists, "cannot download to", at: path,
            because: LocalizableMessage("file-name-exists", "a file of that name exists"),
            remedy: "choose another name, or set \(.option(.existingFile)) to overwrite or resume it")
    }

    /// Something that no download can be finished as, whatever happens to existing files.
    static func notAFile(_ path: String, because why: LocalizableMessage) -> Failure {
        Failure(.fileExists, "cannot download to", at: path, because: why, remedy: "remove it, or choose another name")
    }

    /// Known before the first byte: a part file could be written there and never renamed.
    static func protectedFolder(_ path: String) -> Failure {
        Failure(
            .cannotOpen, "cannot download to", at: "the folder \(path.isEmpty ? "." : path)",
            because: LocalizableMessage(
                "folder-protected", "its attributes forbid that files in it are renamed (lsattr shows 'a' or 'i')"),
            remedy: "remove them with 'chattr -ai', or choose another folder")
    }

    static func protectedFile(_ path: String) -> Failure {
        Failure(
            .cannotOpen, "cannot replace", at: path,
            because: LocalizableMessage(
                "file-protected", "its attributes (lsattr shows 'a' or 'i'), or those of its folder, forbid it"),
            remedy: "choose another name, or remove what forbids it")
    }

    static func noFolder(_ path: String, because why: LocalizableMessage) -> Failure {
        Failure(.cannotMakeFolder, "cannot make the folder", at: path, because: why, remedy: "choose another folder")
    }

    static func foreignFile(_ path: String) -> Failure {
        Failure(
            .fileExists, "cannot use", at: path,
            because: LocalizableMessage("file-not-by-pawl", "it was not written by Pawl"),
            remedy: "finish or remove it with the program that wrote it, or choose another name")
    }

    static func unfinishedElsewhere(_ path: String, _ control: String) -> Failure {
        Failure(
            .fileExists, "cannot continue", at: path,
            because: LocalizableMessage(
                "file-unfinished-elsewhere", "\(control) shows that another program has not finished it"),
            remedy: "finish it with that program, choose another name, or set \(.option(.existingFile)) to overwrite it"
        )
    }

    /// A part file to which its user gave the final name.
    static func renamedPart(_ path: String) -> Failure {
        Failure(
            .fileExists, "cannot keep", at: path,
            because: LocalizableMessage(
                "part-with-final-name", "it is the part file of an unfinished download, which was renamed"),
            remedy: "set \(.option(.existingFile)) to resume to finish it, or choose another name")
    }

    /// The part file of a download that was to replace the finished file, or that has other bytes than it.
    static func otherPart(of path: String, _ part: String) -> Failure {
        Failure(
            .fileExists, "cannot continue", at: path,
            because: LocalizableMessage(
                "part-not-continuing", "\(part) is an unfinished download of it that does not continue its bytes"),
            remedy: "set \(.option(.existingFile)) to overwrite to finish that, or remove \(part)")
    }

    static func distrusted(_ path: String, _ flaw: FileRights.Flaw) -> Failure {
        Failure(
            .fileExists, "cannot use", at: path, because: flaw.words,
            remedy: "remove it, or choose another name or folder")
    }

    static func noFile(_ path: String) -> Failure {
        Failure(
            .cannotCreate, "cannot download to", at: path,
            because: LocalizableMessage("file-is-device", "it is a device, a pipe or a socket, not a file"),
            remedy: "choose a file name")
    }

    static func otherDownload(_ path: String) -> Failure {
        Failure(
            .fileExists, "cannot use", at: path,
            because: LocalizableMessage("part-of-other-url", "it is the unfinished download of another URL"),
            remedy: "finish or remove that download, or choose another name")
    }

    package static func newerJournal(_ path: String, version: UInt32) -> Failure {
        Failure(
            .newerJournal, "cannot resume from", at: path,
            because: LocalizableMessage(
                "journal-newer", "it was written by a newer version of Pawl (format \(version))"),
            remedy: "resume with that version, or remove the file to restart")
    }

    private static func remedy(for error: SystemError) -> Remedy {
        switch error.number {
        case EACCES, EPERM: "choose another folder, or make this one writable"
        case ENAMETOOLONG: "choose a shorter name or folder"
        case EROFS: "choose another folder: this file system is read-only"
        case EMFILE, ENFILE: "raise the limit of open files, or run fewer downloads at once"
        case EFBIG where error.isOfSizeLimit: .raiseSizeLimit
        case EFBIG: "choose a folder on a file system that supports files of this size"
        case EIO: "check the disk: it reported an error"
        default: ""
        }
    }
}

extension LocalizableMessage {
    /// The file system has files and folders of its own only, as those of the kernel's interfaces do.
    static let noPlaceForOwn = LocalizableMessage(
        "file-system-of-own", "the file system takes no new files or folders there")

    /// The first part of the path that is no folder.
    package static func file(inPlaceOf path: String) -> LocalizableMessage {
        var prefix = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for component in path.pathParts() {
            prefix += prefix.isEmpty || prefix == "/" ? component : "/\(component)"
            var found = stat()
            if unsafe stat(prefix, &found) == 0, found.st_mode & S_IFMT != S_IFDIR { break }
        }
        return LocalizableMessage("path-is-file", "\(prefix) is not a folder")
    }
}
