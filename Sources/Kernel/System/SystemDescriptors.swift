import CPawlSystem
import Glibc
package import PawlBase

/// The descriptors of this process.
package final class SystemDescriptors: Descriptors {
    /// What stays free: for lookups, certificates, libraries, and files that are read at once.
    private static let reserve = 32
    /// What one download opens: a part file, a journal, a connection, and a pipe or a second connection.
    private static let each = 4

    /// How many downloads may begin before the open descriptors are counted again.
    private let credit = Monitor(0)

    package init() {}

    package var haveRoom: Bool {
        credit.with(waking: .none) { credit in
            if credit == 0 { credit = min(256, max(0, Int(pawl_free_descriptors()) - Self.reserve) / Self.each) }
            guard credit > 0 else { return false }
            credit -= 1
            return true
        }
    }

    /// Whether hardly any is left, so that what has just failed may have failed for that.
    package static var areUsedUp: Bool { pawl_free_descriptors() < each }

    /// How many descriptors this process may have open.
    package static var limit: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// Throws code 15 unless so many further descriptors can be opened: for a program's start, since what lacks one later only
    /// waits.
    package static func require(_ count: Int) throws(Failure) {
        let free = Int(pawl_free_descriptors())
        guard free < count else { return }
        let limit = limit
        throw Failure(
            .cannotOpen, "cannot start", at: "with \(limit) descriptors",
            because: "this needs at least \(limit - free + count)", remedy: "raise the limit of open files (ulimit -n)")
    }

    /// Raises the soft limit to the hard one; programs that are started get the former one.
    ///
    /// For a program's main thread, before there is another one: the limit is the process's, not the library's.
    package static func raiseLimit() { pawl_raise_descriptors() }

    /// Restores the limit, for a program that is to replace this one.
    package static func restoreLimit() { pawl_restore_descriptors() }
}
