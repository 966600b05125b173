import Glibc

/// Writes to a pipe, a terminal or a file, in order.
package enum WholeWrite {
    /// Writes all bytes: after signals and short writes it continues, and where another process has made the open file
    /// non-blocking it waits until it can be written to.
    package static func perform(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let count = unsafe write(descriptor, base + done, bytes.count - done)
            if count > 0 {
                done += count
            } else if count < 0, errno != EINTR {
                guard errno == EAGAIN else { throw .last }
                try wait(for: descriptor)
            }
        }
    }

    package static func perform(_ bytes: some Collection<UInt8>, to descriptor: Int32) throws(SystemError) {
        let copy = Array(bytes)
        try unsafe copy.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
            try unsafe perform(buffer, to: descriptor)
        }
    }

    private static func wait(for descriptor: Int32) throws(SystemError) {
        var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&writable, 1, -1) < 0, errno != EINTR else { return }
        throw .last
    }
}
