import CPawlSystem
import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// The extended attribute that marks a `.part` file as Pawl's own, with a hash of its URL and, unless the whole was
/// requested, one of the requested part: other programs use the same extension.
enum OwnerAttribute {
    enum Lookup: Hashable {
        case unsupported
        case missing
        case of(UInt64)

        var isOurs: Bool { if case .of = self { true } else { false } }
    }

    /// The value on journals.
    static let journal = value(of: "journal")

    static func value(of source: String) -> UInt64 { CRC64.value(of: source.utf8) }

    /// Returns `false` when the file system does not support the attribute.
    static func set(_ value: UInt64, part: UInt64? = nil, on file: OpenFile) throws(SystemError) -> Bool {
        try set(bytes(of: [value] + (part.map { [$0] } ?? [])), on: file)
    }

    /// Notes on a part file that its bytes are complete: with this length it may have its final name.
    ///
    /// A part file that its user has renamed does not have this note.
    package static func complete(_ value: UInt64, part: UInt64?, length: Int64, on file: OpenFile) {
        _ = try? set(bytes(of: [value, part ?? 0, UInt64(length)]), on: file)
    }

    /// The length in the note that the file is complete.
    static func completeLength(of file: OpenFile) -> Int64? {
        guard case .success(let bytes) = value(on: file), bytes.count == 24 else { return nil }
        return Int64(exactly: number(bytes.suffix(8)))
    }

    /// The requested part of a marked file (``RequestedRange/mark``).
    static func part(of file: OpenFile) -> UInt64? {
        guard case .success(let bytes) = value(on: file), bytes.count == 16 || bytes.count == 24 else { return nil }
        let part = number(bytes.dropFirst(8).prefix(8))
        return part == 0 ? nil : part
    }

    private static func bytes(of words: [UInt64]) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } }
    }

    private static func number(_ bytes: some BidirectionalCollection<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func set(_ bytes: [UInt8], on file: OpenFile) throws(SystemError) -> Bool {
        let code = unsafe bytes.span.bytes.withUnsafeBytes { value in
            unsafe pawl_set_mark(file.descriptor, value.baseAddress, value.count)
        }
        let error = SystemError(number: code)
        if error.number == 0 { return true }
        if error.isUnsupported || error.number == EPERM || error.number == EACCES { return false }
        throw error
    }

    /// The completion mark of a finished file counts as a part file's until the completion was reported.
    static func read(_ file: OpenFile) -> Lookup {
        switch value(on: file) {
        case .success(let bytes):
            if [8, 16, 24].contains(bytes.count) { return .of(number(bytes.prefix(8))) }
            if let mark = CompletionMark(bytes), !mark.isTold { return .of(mark.fingerprint.source) }
            return .missing
        // Without a mark: ENODATA. A value of another length (ERANGE) is not Pawl's.
        case .failure(let error): return error.isUnsupported ? .unsupported : .missing
        }
    }

    /// The attribute of the part file `name`, if that can be trusted.
    static func ofPart(_ name: String, in folder: Folder) -> Lookup {
        guard let seen = try? folder.status(of: name), folder.flaw(of: seen) == nil,
            let file = try? folder.open(name, flags: O_RDONLY | O_NONBLOCK), let status = try? file.status(),
            folder.flaw(of: status) == nil
        else { return .missing }
        return read(file)
    }

    private static func value(on file: OpenFile) -> Result<[UInt8], SystemError> {
        var bytes = [UInt8](repeating: 0, count: CompletionMark.size)
        let length = unsafe bytes.withUnsafeMutableBytes { place in
            unsafe pawl_mark(file.descriptor, place.baseAddress, place.count)
        }
        return length < 0 ? .failure(SystemError(number: -length)) : .success(Array(bytes.prefix(Int(length))))
    }

    static func remove(from file: OpenFile) { _ = pawl_remove_mark(file.descriptor) }
}

// A finished file's completion mark replaces the part file's value: one attribute, small enough for the inode.
extension OwnerAttribute {
    static func completion(of file: OpenFile) -> CompletionMark? {
        guard case .success(let bytes) = value(on: file) else { return nil }
        return CompletionMark(bytes)
    }

    /// On a file system without the attribute nothing is recorded: then the file is treated as any other.
    static func set(_ mark: CompletionMark, on file: OpenFile) { _ = try? set(mark.bytes, on: file) }

    /// Notes that the completion was reported.
    static func end(on file: OpenFile) {
        guard var mark = completion(of: file) else { return remove(from: file) }
        mark.isTold = true
        if (try? set(mark.bytes, on: file)) != true { remove(from: file) }
    }
}
