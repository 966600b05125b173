import Glibc
import PawlTestKit
import Testing

@testable import PawlSystem

@Suite struct BoundedReadTests {
    @Test func `a file is read up to the limit`() throws {
        let folder = try TemporaryFolder()
        let bytes = Payload(seed: 3, length: 200_000).bytes
        try FileSystem.write(bytes, to: folder.path("file"))
        #expect(try BoundedRead.file(folder.path("file"), atMost: 1 << 20) == bytes)
        #expect(try BoundedRead.file(folder.path("file"), atMost: 70_001) == Array(bytes[..<70_001]))
        #expect(try BoundedRead.file(folder.path("file"), atMost: 0).isEmpty)
        #expect(throws: SystemError(number: ENOENT)) { try BoundedRead.file(folder.path("none"), atMost: 9) }
    }

    @Test func `links and other kinds of files are read only where that is wanted`() throws {
        let folder = try TemporaryFolder()
        try FileSystem.write([1, 2, 3], to: folder.path("file"))
        try #require(unsafe symlink("file", folder.path("link")) == 0 && mkfifo(folder.path("fifo"), 0o600) == 0)
        #expect(throws: SystemError(number: ELOOP)) { try BoundedRead.file(folder.path("link"), atMost: 9) }
        #expect(try BoundedRead.file(folder.path("link"), atMost: 9, followsLinks: true, isRegular: true) == [1, 2, 3])
        #expect(throws: SystemError(number: EINVAL)) {
            try BoundedRead.file(folder.path("fifo"), atMost: 9, isRegular: true)
        }
        // Without a writer, which is not waited for.
        #expect(try BoundedRead.file(folder.path("fifo"), atMost: 9).isEmpty)
    }

    @Test func `a place of a file is filled up to its end`() throws {
        let folder = try TemporaryFolder()
        try FileSystem.write([1, 2, 3, 4], to: folder.path("file"))
        let file = unsafe open(folder.path("file"), O_RDWR | O_CLOEXEC)
        defer { close(file) }
        try unsafe [UInt8]([9, 8]).withUnsafeBytes { try unsafe WholeWrite.perform($0, to: file, at: 3) }
        var buffer = [UInt8](repeating: 0, count: 4)
        let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe BoundedRead.fill($0, from: file, at: 2) }
        #expect(count == 3 && buffer == [3, 9, 8, 0])
    }
}
