import Glibc

/// The error of a system call.
struct SystemError: Error, Hashable, Sendable {
    let number: Int32

    static var last: SystemError { SystemError(number: errno) }

    /// For C functions that return 0 or an errno value.
    static func check(_ code: Int32) throws(SystemError) {
        guard code == 0 else { throw SystemError(number: code) }
    }

    var text: String { unsafe String(cString: strerror(number)) }

    var isDiskFull: Bool { number == ENOSPC || number == EDQUOT }
    var isMissing: Bool { number == ENOENT || number == ENOTDIR }
    /// Whether the file cannot be opened as an own one could: a link, a folder, a pipe, a socket, or unreadable.
    var isOthers: Bool {
        [ELOOP, EISDIR, ENXIO, EACCES, EPERM, ENODEV, EMLINK, ETXTBSY].contains(number)
    }
    /// Whether the file system does not support this kind of request.
    var isUnsupported: Bool {
        number == EOPNOTSUPP || number == ENOTSUP || number == ENOSYS || number == EINVAL || number == ENOLCK
    }
}
