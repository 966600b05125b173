import Glibc

/// Reads no more than its caller has room for; after signals and short reads it continues.
package enum BoundedRead {
    /// The first `limit` bytes of a file, fewer if it is shorter.
    ///
    /// Nothing is waited for, such as the writer of a FIFO. Without `followsLinks` a symbolic link is an error (ELOOP), with
    /// `isRegular` all but a regular file is one (EINVAL).
    package static func file(
        _ path: String, atMost limit: Int, followsLinks: Bool = false, isRegular: Bool = false
    ) throws(SystemError) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard file >= 0 else { throw .last }
        defer { close(file) }
        if isRegular {
            var found = stat()
            guard unsafe fstat(file, &found) == 0 else { throw .last }
            guard found.st_mode & S_IFMT == S_IFREG else { throw SystemError(number: EINVAL) }
        }
        return try bytes(of: file, atMost: limit, waits: false)
    }

    /// The next `limit` bytes of a file, a pipe or a terminal, fewer if it ends before.
    package static func descriptor(_ descriptor: Int32, atMost limit: Int) throws(SystemError) -> [UInt8] {
        try bytes(of: descriptor, atMost: limit, waits: true)
    }

    /// What there is, at least one byte, into the beginning of `piece`; returns the number of bytes, 0 at the end.
    package static func some(_ descriptor: Int32, into piece: inout [UInt8]) throws(SystemError) -> Int {
        try some(descriptor, into: &piece, atMost: piece.count, waits: true)
    }

    /// What `read` puts into a buffer of `count` bytes; it returns their number.
    package static func bytes(
        _ count: Int, _ read: (UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
    ) throws(SystemError) -> [UInt8] {
        // Swift 6.2's initializer does not pass the type of an error on.
        var outcome: Result<Int, SystemError> = .success(0)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let target = UnsafeMutableRawBufferPointer(buffer)
            outcome = Result { () throws(SystemError) in try unsafe read(target) }
            filled = (try? outcome.get()) ?? 0
        }
        _ = try outcome.get()
        return bytes
    }

    /// Fills `buffer` from a place of a file; returns the number of bytes, fewer only at the file's end.
    package static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64
    ) throws(SystemError) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        var done = 0
        while done < buffer.count {
            let count = unsafe pread(descriptor, base + done, buffer.count - done, off_t(offset) + off_t(done))
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { throw .last }
        }
        return done
    }

    private static func bytes(of descriptor: Int32, atMost limit: Int, waits: Bool) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit, 1 << 16))
        while bytes.count < limit {
            let count = try some(descriptor, into: &piece, atMost: min(piece.count, limit - bytes.count), waits: waits)
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    private static func some(
        _ descriptor: Int32, into piece: inout [UInt8], atMost limit: Int, waits: Bool
    ) throws(SystemError) -> Int {
        while true {
            let count = unsafe read(descriptor, &piece, limit)
            if count >= 0 { return count }
            if errno == EINTR { continue }
            guard waits, errno == EAGAIN else { throw .last }
            try SystemError.wait(for: descriptor, POLLIN)
        }
    }
}
