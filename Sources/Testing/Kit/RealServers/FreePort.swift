import Glibc
import Synchronization

/// Chooses ports for servers that need a fixed one.
package enum FreePort {
    /// Below the kernel's ephemeral ports, so that no outgoing connection takes one between choice and use.
    private static let lowest = 20_000
    private static let count = 12_000
    /// Concurrent test processes start at different ports.
    private static let next = Atomic(Int(getpid()) &* 97 % count)

    /// A port of 127.0.0.1 that nothing listens on; never the same twice in a process, as long as there are others.
    package static func choose() throws(SetupFailure) -> UInt16 {
        for _ in 0..<count {
            let step = next.wrappingAdd(1, ordering: .relaxed).oldValue
            let port = UInt16(lowest + step % count)
            guard let listener = try? ListeningSocket(address: "127.0.0.1", port: port) else { continue }
            close(listener.descriptor)
            return port
        }
        throw SetupFailure("choosing a port", EADDRINUSE)
    }

    /// Whether a server accepts connections on `port` of 127.0.0.1.
    static func isServed(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        guard unsafe inet_pton(AF_INET, "127.0.0.1", &name.sin_addr) == 1 else { return false }
        return unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Whether this machine has the IPv6 loopback address.
    package static let hasInternet6: Bool = {
        let descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = sockaddr_in6()
        name.sin6_family = sa_family_t(AF_INET6)
        guard unsafe inet_pton(AF_INET6, "::1", &name.sin6_addr) == 1 else { return false }
        return unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }()
}
