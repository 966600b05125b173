import Glibc

/// A one-time signal that a thread can wait for together with its sockets.
final class StopSignal: Sendable {
    /// Readable once the signal is given.
    let descriptor: CInt
    private let other: CInt

    init?() {
        var pair: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0 else { return nil }
        descriptor = pair[0]
        other = pair[1]
    }

    deinit {
        close(descriptor)
        close(other)
    }

    func give() { shutdown(other, CInt(SHUT_RDWR)) }

    var isGiven: Bool { wait(milliseconds: 0) }

    /// Waits that long; returns whether the signal was given.
    func wait(milliseconds: CInt) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&wait, 1, milliseconds) > 0
    }
}
