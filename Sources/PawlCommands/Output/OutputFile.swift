import Glibc

/// Standard output or standard error: collects text and writes it in one go.
///
/// A reader that went away is no reason to lose a download: what cannot be written is dropped from then on.
package struct OutputFile: ~Copyable {
    private let descriptor: Int32
    private var pending: [UInt8] = []
    private var isBroken = false

    /// What stands on the descriptor stays open: it belongs to the process.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    package mutating func append(_ text: String) { pending.append(contentsOf: text.utf8) }

    package mutating func appendLine(_ line: String) { append(line + "\n") }

    /// Writes everything collected so far.
    package mutating func flush() {
        var start = 0
        while start < pending.count, !isBroken {
            let count = unsafe pending.withUnsafeBytes { bytes in
                unsafe write(descriptor, bytes.baseAddress?.advanced(by: start), bytes.count - start)
            }
            if count > 0 { start += count } else { recover() }
        }
        pending.removeAll(keepingCapacity: pending.capacity <= 1 << 16)
    }

    private mutating func recover() {
        switch errno {
        case EINTR: break
        // Someone else made the terminal or pipe non-blocking: wait until it takes more.
        case EAGAIN:
            var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            unsafe poll(&writable, 1, -1)
        default: isBroken = true
        }
    }
}
