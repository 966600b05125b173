import CPawlSystem
import Glibc
import PawlCore

/// The extended attribute that says a `.part` is ours, and by a hash of which address: other programs use the same
/// ending.
enum OwnerAttribute {
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
        try set((0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }, on: file)
    }

    private static func set(_ bytes: [UInt8], on file: OpenFile) throws(SystemError) -> Bool {
        let answer = unsafe bytes.span.bytes.withUnsafeBytes { value in
            unsafe pawl_set_mark(file.descriptor, value.baseAddress, value.count)
        }
        let error = SystemError(number: answer)
        if error.number == 0 { return true }
        if error.isUnsupported || error.number == EPERM || error.number == EACCES { return false }
        throw error
    }

    /// What says that a file is finished is the mark of a part file until somebody has heard of it.
    static func read(_ file: OpenFile) -> Reading {
        switch value(on: file) {
        case .success(let bytes):
            if bytes.count == 8 { return .of(bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }) }
            if let mark = CompletionMark(bytes), !mark.isTold { return .of(mark.fingerprint.source) }
            return .missing
        // ENODATA, which Darwin calls ENOATTR, has no mark; a value of another length (ERANGE) is not ours.
        case .failure(let error): return error.isUnsupported ? .unsupported : .missing
        }
    }

    private static func value(on file: OpenFile) -> Result<[UInt8], SystemError> {
        var bytes = [UInt8](repeating: 0, count: CompletionMark.size)
        let length = unsafe bytes.withUnsafeMutableBytes { place in
            unsafe pawl_mark(file.descriptor, place.baseAddress, place.count)
        }
        return length < 0
            ? .failure(SystemError(number: -length)) : .success(Array(bytes.prefix(Int(length))))
    }

    static func remove(from file: OpenFile) { _ = pawl_remove_mark(file.descriptor) }
}

// What a finished file remembers stands in the place of the part file's mark: one attribute, small enough for the inode.
extension OwnerAttribute {
    static func completion(of file: OpenFile) -> CompletionMark? {
        guard case .success(let bytes) = value(on: file) else { return nil }
        return CompletionMark(bytes)
    }

    /// A file system that does not take it forgets: then the file counts as any other does.
    static func set(_ mark: CompletionMark, on file: OpenFile) { _ = try? set(mark.bytes, on: file) }

    /// Somebody has heard that the file is finished.
    static func end(on file: OpenFile) {
        guard var mark = completion(of: file) else { return remove(from: file) }
        mark.isTold = true
        if (try? set(mark.bytes, on: file)) != true { remove(from: file) }
    }
}
