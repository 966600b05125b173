import Glibc

/// The changes reported to a handler, in order, to be waited for.
final class Announcements: Sendable {
    private let ends: (read: CInt, write: CInt)

    init() {
        var pair: [CInt] = [-1, -1]
        unsafe socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &pair)
        ends = (pair[0], pair[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func add(_ isOnline: Bool) {
        var byte: UInt8 = isOnline ? 1 : 0
        unsafe write(ends.write, &byte, 1)
    }

    /// The next one; `nil` after a timeout long enough that none will come.
    func next() -> Bool? { next(within: 30_000) }

    /// The next one if it has arrived already.
    func pending() -> Bool? { next(within: 0) }

    private func next(within milliseconds: CInt) -> Bool? {
        var wait = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&wait, 1, milliseconds) == 1 else { return nil }
        var byte: UInt8 = 0
        guard unsafe read(ends.read, &byte, 1) == 1 else { return nil }
        return byte == 1
    }
}
