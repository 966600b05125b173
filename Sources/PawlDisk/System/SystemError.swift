import Glibc

/// What a system call said when it failed.
struct SystemError: Error, Hashable, Sendable {
    let number: Int32

    static var last: SystemError { SystemError(number: errno) }

    /// For the doors that answer 0 or an errno value.
    static func check(_ answer: Int32) throws(SystemError) {
        guard answer == 0 else { throw SystemError(number: answer) }
    }

    var text: String { unsafe String(cString: strerror(number)) }

    var isDiskFull: Bool { number == ENOSPC || number == EDQUOT }
    var isMissing: Bool { number == ENOENT || number == ENOTDIR }
    /// What is there cannot be opened as a file of ours could be: a link, a folder, a pipe, a socket, or not ours to read.
    var isOthers: Bool {
        [ELOOP, EISDIR, ENXIO, EACCES, EPERM, ENODEV, EMLINK, ETXTBSY].contains(number)
    }
    /// The file system does not know this kind of request.
    var isUnsupported: Bool {
        number == EOPNOTSUPP || number == ENOTSUP || number == ENOSYS || number == EINVAL || number == ENOLCK
    }
}
