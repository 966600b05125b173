import Glibc

/// A listening TCP socket over IPv4.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    init(address: String, port selection: UInt16) throws(SetupFailure) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SetupFailure("socket") }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = selection.bigEndian
        guard unsafe inet_pton(AF_INET, address, &name.sin_addr) == 1 else {
            close(descriptor)
            throw SetupFailure("inet_pton", EINVAL)
        }
        var one: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw SetupFailure("bind", code)
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        self.descriptor = descriptor
        port = UInt16(bigEndian: name.sin_port)
    }

    /// The next connection, `nil` when the socket was shut down.
    func accept() -> Int32? {
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&entry, 1, -1)
            let connection = Glibc.accept(descriptor, nil, nil)
            let code = errno
            if connection >= 0 {
                var one: Int32 = 1
                unsafe setsockopt(
                    connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
                return connection
            }
            guard [EINTR, EAGAIN, ECONNABORTED].contains(code) else { return nil }
        }
    }
}
