import CPawlSystem
import PawlEngine

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
            if credit == 0 {
                credit = min(256, max(0, Int(pawl_free_descriptors()) - Self.reserve) / Self.each)
            }
            guard credit > 0 else { return false }
            credit -= 1
            return true
        }
    }

    /// Whether hardly any is left, so that what has just failed may have failed for that.
    package static var areUsedUp: Bool { pawl_free_descriptors() < each }

    /// Raises the soft limit to the hard one; programs that are started get the former one.
    ///
    /// For a program's main thread, before there is another one: the limit is the process's, not the library's.
    package static func raiseLimit() { pawl_raise_descriptors() }

    /// Restores the limit, for a program that is to replace this one.
    package static func restoreLimit() { pawl_restore_descriptors() }
}
