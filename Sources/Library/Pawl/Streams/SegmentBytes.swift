#if Features
import Glibc
import PawlBase
import PawlDisk
import PawlJournal
import PawlStreams
import PawlSystem

/// The bytes of a segment: in memory, or in a file without a name if they are many.
enum SegmentBytes: Sendable {
    case memory([UInt8])
    /// Those behind the first ones.
    case file(SpooledFile, from: Int)

    var count: Int {
        switch self {
        case .memory(let bytes): bytes.count
        case .file(let file, let start): file.count - start
        }
    }

    /// Calls `body` with all bytes.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch self {
        case .memory(let bytes):
            try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(Failure) in try unsafe body(buffer) }
        case .file(let file, let start):
            try unsafe file.withBytes { (buffer) throws(Failure) in
                try unsafe body(UnsafeRawBufferPointer(rebasing: buffer[start...]))
            }
        }
    }

    /// Length and sum, which are equal for equal bytes.
    func sum() throws(Failure) -> [UInt64] {
        try unsafe withBytes { bytes in
            let hash = RunningHash([.crc64nvme])
            unsafe hash.feed(bytes)
            return [UInt64(bytes.count)] + hash.crcValues
        }
    }

    /// What is decrypted with a key; `nil` if the padding is wrong.
    func decrypted(key: [UInt8], vector: [UInt8]) throws(Failure) -> SegmentBytes? {
        switch self {
        case .memory(let bytes): SegmentCipher.decrypt(bytes, key: key, vector: vector).map { .memory($0) }
        case .file(let file, _): try file.decrypt(key: key, vector: vector) ? self : nil
        }
    }
}

/// A file without a name, which is gone with its last reference.
///
/// Used by one thread at a time.
final class SpooledFile: SpoolFile {
    private let file: OpenFile
    private let folder: String

    private static let folders = FolderCache(
        traits: nil, marks: false, trust: 1000, user: FileUser(user: geteuid(), group: getegid()))
    private static let chunk = 1 << 20

    /// Creates one on the disk of that folder, which gets the segment later.
    init(in folder: String) throws(Failure) {
        self.folder = folder
        let opened = try Self.folders.open(folder)
        file = try Self.checked(folder) { () throws(SystemError) in
            if let file = try opened.openUnnamed() { return file }
            let name = AtomicFile.draftName()
            let file = try opened.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try opened.remove(name)
            return file
        }
    }

    private static func checked<Value>(
        _ folder: String, _ body: () throws(SystemError) -> Value
    ) throws(Failure) -> Value {
        do throws(SystemError) { return try body() } catch {
            throw Failure.system(.inputOutput, "cannot keep a large segment in", at: folder, error)
        }
    }

    var count: Int { Int(clamping: (try? file.end()) ?? 0) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        try Self.checked(folder) { () throws(SystemError) in try unsafe file.write(bytes, at: offset) }
    }

    /// Fills the buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        try Self.checked(folder) { () throws(SystemError) in
            guard try unsafe file.read(into: buffer, at: offset) == buffer.count else {
                throw SystemError(number: EIO)
            }
        }
    }

    func truncate(to length: Int64) throws(Failure) {
        try Self.checked(folder) { () throws(SystemError) in try file.truncate(to: length) }
    }

    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let count = count
        guard count > 0 else { return try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        // Nobody else can shorten a file without a name.
        let start = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, file.descriptor, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            throw Failure.system(.inputOutput, "cannot read a large segment in", at: folder, .last)
        }
        defer { unsafe munmap(start, count) }
        return try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Replaces the bytes by what they are decrypted; `false` if the padding is wrong.
    fileprivate func decrypt(key: [UInt8], vector: [UInt8]) throws(Failure) -> Bool {
        guard count > 0, let cipher = SegmentDecryptor(key: key, vector: vector) else { return false }
        var (read, written): (Int64, Int64) = (0, 0)
        let length = Int64(count)
        while read < length {
            var part = [UInt8](repeating: 0, count: Int(min(Int64(Self.chunk), length - read)))
            var failure: Failure?
            unsafe part.withUnsafeMutableBytes { buffer in
                do throws(Failure) { try unsafe self.read(into: buffer, at: read) } catch { failure = error }
            }
            if let failure { throw failure }
            read += Int64(part.count)
            // What is decrypted is never longer: nothing is overwritten that was not read.
            guard let plain = cipher.update(part), try append(plain, at: &written) else { return false }
        }
        guard let rest = cipher.finish(), try append(rest, at: &written) else { return false }
        try truncate(to: written)
        return true
    }

    private func append(_ bytes: [UInt8], at offset: inout Int64) throws(Failure) -> Bool {
        let start = offset
        try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(Failure) in try unsafe write(buffer, at: start) }
        offset += Int64(bytes.count)
        return true
    }
}
#endif
