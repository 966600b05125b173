import Glibc

/// Writes all bytes, in order: after signals and short writes it continues.
package enum WholeWrite {
    /// Whether the reader of a pipe or socket has closed it, even if there is nothing to write; a socket of which only the
    /// other direction is closed is read.
    package static func isUnread(_ descriptor: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0 && Int32(state.revents) & POLLERR != 0
    }

    /// Writes to a pipe, a terminal or a file; where another process has made the open file non-blocking, it waits until
    /// that can be written to.
    package static func perform(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        try unsafe all(of: bytes, waitingFor: descriptor) { start, count, _ in
            unsafe write(descriptor, start, count)
        }
    }

    package static func perform(_ bytes: some Collection<UInt8>, to descriptor: Int32) throws(SystemError) {
        let copy = Array(bytes)
        try unsafe copy.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
            try unsafe perform(buffer, to: descriptor)
        }
    }

    /// Writes to a place of a file.
    package static func perform(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64
    ) throws(SystemError) {
        try unsafe all(of: bytes, waitingFor: nil) { start, count, done in
            unsafe pwrite(descriptor, start, count, off_t(offset) + off_t(done))
        }
    }

    /// Sends on a connected socket; one that its peer has closed is an error (EPIPE), no signal.
    package static func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32) throws(SystemError) {
        try unsafe all(of: bytes, waitingFor: socket) { start, count, _ in
            unsafe Glibc.send(socket, start, count, Int32(MSG_NOSIGNAL))
        }
    }

    @inline(__always) private static func all(
        of bytes: UnsafeRawBufferPointer, waitingFor descriptor: Int32?,
        _ call: (_ start: UnsafeRawPointer, _ count: Int, _ done: Int) -> Int
    ) throws(SystemError) {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let count = unsafe call(base + done, bytes.count - done, done)
            if count > 0 {
                done += count
            } else if count == 0 {
                throw SystemError(number: EIO)
            } else if errno != EINTR {
                guard errno == EAGAIN, let descriptor else { throw .last }
                try SystemError.wait(for: descriptor, POLLOUT)
            }
        }
    }
}

/// Repeats a system call that a signal has interrupted.
package func retrying(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension SystemError {
    /// Waits until a descriptor is ready, or a signal has come.
    static func wait(for descriptor: Int32, _ event: Int32) throws(SystemError) {
        var ready = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        guard unsafe poll(&ready, 1, -1) < 0, errno != EINTR else { return }
        throw .last
    }
}
