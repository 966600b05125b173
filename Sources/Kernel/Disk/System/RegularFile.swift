import Glibc
package import PawlBase
import PawlSystem

/// A regular file that is read from its beginning to its end.
package struct RegularFile: Sendable {
    package let file: OpenFile
    package let path: String
    package let length: Int64
    /// The file when it was opened; `nil` for a part file.
    package let stamp: FileStamp?

    /// Opens a file; links are followed.
    ///
    /// `what`: the first words of the failure where it is not a regular file.
    package init(_ bytes: [UInt8], to what: String) throws(Failure) {
        path = String(decoding: bytes, as: UTF8.self)
        do throws(SystemError) {
            file = try OpenFile(at: bytes)
            let status = try file.status()
            guard status.isRegular else { throw SystemError(number: EINVAL) }
            if status.length == 0, try Self.hasByte(file) { throw SystemError(number: EINVAL) }
            length = status.length
            stamp = status.stamp
        } catch  where error.number == EINVAL {
            let cause = LocalizableMessage("not-a-file", "it is not a file")
            throw Failure(.cannotOpen, what, at: path, because: cause)
        } catch { throw Failure.system(.cannotOpen, "cannot open", at: path, error) }
        _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    /// Files of procfs have bytes, but a length of 0.
    private static func hasByte(_ file: OpenFile) throws(SystemError) -> Bool {
        let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { unsafe byte.deallocate() }
        return try unsafe file.read(into: byte, at: 0) > 0
    }

    /// A part file, of which ranges are read.
    package init(_ file: OpenFile, path: String) {
        self.file = file
        self.path = path
        length = 0
        stamp = nil
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
        do throws(SystemError) { return try unsafe file.read(into: buffer, at: offset) } catch {
            throw Failure.system(.inputOutput, "cannot read", at: path, error)
        }
    }

    /// Hands the bytes of `range` over in large parts, with their offsets; `false` when `take` stopped it.
    package func read(
        _ range: ByteRange, _ take: (UnsafeRawBufferPointer, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        let size = Int(min(max(range.count, 1), RegularFile.part))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        var position = range.start
        while position < range.end {
            let part = unsafe UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(Int64(size), range.end - position))])
            guard try unsafe read(into: part, at: position) == part.count else {
                throw .becameShorter(path)
            }
            guard try unsafe take(UnsafeRawBufferPointer(part), position) else { return false }
            position += Int64(part.count)
        }
        return true
    }

    private static let part: Int64 = 256 << 10
}

extension Failure {
    package static func becameShorter(_ path: String) -> Failure {
        Failure(
            .inputOutput, "cannot read", at: path,
            because: LocalizableMessage("file-became-shorter", "it became shorter meanwhile"))
    }
}
