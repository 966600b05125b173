import Glibc
package import PawlCore
import PawlSystem

/// Replaces a file; readers see either the old or the new content.
package enum AtomicFile {
    /// By default only its owner can read it.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        permissions: UInt32 = 0o600
    ) throws(Failure) {
        let draft = path + "__temp"
        _ = unsafe unlink(draft)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, permissions)
        guard file >= 0 else { throw failure("cannot create", draft) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress, $0.count)
            }
            guard count > 0 else {
                let failure = failure("cannot write", draft)
                close(file)
                // On a full disk it is incomplete.
                _ = unsafe unlink(draft)
                throw failure
            }
            written += count
        }
        let isSynced = fsync(file) == 0
        guard close(file) == 0, isSynced else { throw failure("cannot write", draft) }
        guard unsafe rename(draft, path) == 0 else { throw failure("cannot rename to", path) }
    }

    private static func failure(_ what: String, _ path: String) -> Failure {
        Failure(.inputOutput, what, at: path, because: SystemError.last.text)
    }
}
