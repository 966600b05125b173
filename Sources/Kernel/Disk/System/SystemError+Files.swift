import Glibc
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
