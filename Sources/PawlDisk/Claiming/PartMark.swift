import CPawlSystem
import PawlCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The extended attribute that says a `.part` is ours, and by a hash of which address: other programs use the same
/// ending.
enum PartMark {
    enum Reading: Hashable {
        case unsupported
        case missing
        case of(UInt64)

        var isOurs: Bool { if case .of = self { true } else { false } }
    }

    /// The mark of journals.
    static let journal = value(of: "journal")

    static func value(of source: String) -> UInt64 { CyclicCheck.value(of: source.utf8) }

    /// `false`: the file system takes no such attribute.
    static func set(_ value: UInt64, on file: OpenFile) throws(SystemError) -> Bool {
        var bytes = value.littleEndian
        let error = SystemError(number: unsafe pawl_set_mark(file.descriptor, &bytes, 8))
        if error.number == 0 { return true }
        if error.isUnsupported || error.number == EPERM || error.number == EACCES { return false }
        throw error
    }

    static func read(_ file: OpenFile) -> Reading {
        var bytes: UInt64 = 0
        let length = unsafe pawl_mark(file.descriptor, &bytes, 8)
        if length == 8 { return .of(UInt64(littleEndian: bytes)) }
        // ENODATA, which Darwin calls ENOATTR, has no mark; a value of another length (ERANGE) is not ours.
        return SystemError(number: -length).isUnsupported ? .unsupported : .missing
    }

    static func remove(from file: OpenFile) { _ = pawl_remove_mark(file.descriptor) }
}
