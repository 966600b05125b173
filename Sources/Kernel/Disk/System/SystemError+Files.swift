import Glibc
import PawlBase
package import PawlSystem

extension SystemError {
    var isDiskFull: Bool { number == ENOSPC || number == EDQUOT }
    package var isMissing: Bool { number == ENOENT || number == ENOTDIR }
    package var isTooLong: Bool { number == ENAMETOOLONG }
    /// Whether the file cannot be opened as an own one could: a link, a folder, a pipe, a socket, or unreadable.
    package var isOthers: Bool { [ELOOP, EISDIR, ENXIO, EACCES, EPERM, ENODEV, EMLINK, ETXTBSY].contains(number) }
    /// Whether the file system does not support this kind of request.
    var isUnsupported: Bool {
        number == EOPNOTSUPP || number == ENOTSUP || number == ENOSYS || number == EINVAL || number == ENOLCK
    }
}

/// The limit of the size of files that this process may write (`ulimit -f`, RLIMIT_FSIZE).
enum FileSizeLimit {
    /// In bytes; `nil` for none.
    static var current: Int64? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max
        else { return nil }
        return Int64(clamping: limit.rlim_cur)
    }
}

extension Remedy { static let raiseSizeLimit: Remedy = "raise that limit, or start Pawl without it" }

extension SystemError {
    /// Whether a limit of this process is the cause.
    var isOfSizeLimit: Bool { number == EFBIG && FileSizeLimit.current != nil }

    /// The message, or the limit of this process that is the cause.
    var causeForFile: LocalizableMessage {
        guard number == EFBIG, let limit = FileSizeLimit.current else { return message }
        return LocalizableMessage(
            "file-size-limit",
            "this process may write no files of more than \(ByteQuantity.text(limit)) (ulimit -f, RLIMIT_FSIZE)")
    }
}
