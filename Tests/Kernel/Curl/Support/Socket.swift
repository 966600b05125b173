import Glibc

/// The socket calls that the scripted server needs.
enum Socket {
    struct Failed: Error {
        var call: String
        var code: Int32
    }

    /// The IPv4 address of the peer.
    static func peer(of socket: Int32) -> String {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe getpeername(socket, pointer, &length) == 0
            }
        }
        let address = UInt32(bigEndian: name.sin_addr.s_addr)
        return isKnown ? [24, 16, 8, 0].map { String(address >> $0 & 0xFF) }.joined(separator: ".") : ""
    }

    /// A listening socket on a free port of 127.0.0.1.
    static func listener() throws -> (Int32, UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(call: "socket", code: errno) }
        let port = try bind(descriptor)
        guard listen(descriptor, 128) == 0 else { throw Failed(call: "listen", code: errno) }
        return (descriptor, port)
    }

    /// A port of 127.0.0.1 that refuses connections while `body` runs: bound, not listening.
    static func withRefusingPort(_ body: (UInt16) throws -> Void) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        try body(bind(descriptor))
    }

    private static func bind(_ descriptor: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let place = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return false }
            return unsafe Glibc.bind(descriptor, place, size) == 0 && getsockname(descriptor, place, &size) == 0
        }
        guard isBound else { throw Failed(call: "bind", code: errno) }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Reads up to and including the empty line; `nil` if the connection ends before it.
    static func readHead(_ socket: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = unsafe recv(socket, &byte, 1, 0)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            bytes.append(byte)
            if bytes.suffix(4) == [13, 10, 13, 10] { return String(decoding: bytes, as: UTF8.self) }
        }
    }

    static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Whether the peer closed the connection; gives up after half a minute.
    static func waitForEnd(_ socket: Int32) -> Bool {
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var byte: UInt8 = 0
        while true {
            let count = unsafe recv(socket, &byte, 1, 0)
            if count > 0 || (count < 0 && errno == EINTR) { continue }
            return count == 0 || errno == ECONNRESET
        }
    }

    /// Makes the following close send a reset.
    static func makeReset(_ socket: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
