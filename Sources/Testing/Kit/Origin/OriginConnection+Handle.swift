import Glibc

extension OriginConnection {
    /// The descriptors of a connection: its socket and a pipe that interrupts its waits.
    struct Handle: Sendable {
        let descriptor: Int32
        private let wakeRead: Int32
        private let wakeWrite: Int32

        init?(descriptor: Int32) {
            guard let ends = try? Pipe.make() else { return nil }
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            self.descriptor = descriptor
            wakeRead = ends[0]
            wakeWrite = ends[1]
        }

        /// Ends the wait of the connection's thread; with `closing` also every transfer.
        func interrupt(closing: Bool) {
            if closing { shutdown(descriptor, Int32(SHUT_RDWR)) }
            var byte: UInt8 = 1
            _ = unsafe write(wakeWrite, &byte, 1)
        }

        /// Waits for an interruption, for `span`, or for the client to close: `true` for the last.
        func isLeft(waiting span: Duration?) -> Bool {
            let hangUp: Int16 = 0x2000  // POLLRDHUP, which the C library hides from Swift
            var entries = [
                pollfd(fd: descriptor, events: hangUp, revents: 0),
                pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0),
            ]
            var milliseconds: Int32 = -1
            if let span {
                let (seconds, attoseconds) = span.components
                milliseconds = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
            }
            guard unsafe poll(&entries, 2, milliseconds) > 0 else { return false }
            if entries[1].revents != 0 {
                var bytes = [UInt8](repeating: 0, count: 64)
                _ = unsafe read(wakeRead, &bytes, bytes.count)
            }
            return entries[0].revents & (hangUp | Int16(POLLHUP) | Int16(POLLERR)) != 0
        }

        /// Whether the kernel holds bytes that the peer's kernel has not acknowledged.
        var hasUnsent: Bool {
            var count: Int32 = 0
            return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 && count > 0
        }

        /// Closes everything; with `reset` the peer sees RST.
        func close(reset: Bool) {
            if reset {
                var linger = linger(l_onoff: 1, l_linger: 0)
                unsafe setsockopt(
                    descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
            }
            for end in [descriptor, wakeRead, wakeWrite] { Glibc.close(end) }
        }
    }
}
