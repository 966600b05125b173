import Glibc
package import PawlBase
import PawlSystem

/// Checks whether a port can be bound: libwebsockets does not report why it cannot, and keeps waiting for an
/// address that no interface has.
package enum AddressProbe {
    /// What the user of `pawl serve` can do.
    package static let otherPort: Remedy = "choose another with --port or --listen"

    /// Throws code 28 with the system's reason.
    package static func check(_ host: String, port: Int, remedy: Remedy = otherPort) throws(Failure) {
        var number: Int32 = 0
        if host.contains(":") {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(port).bigEndian
            guard unsafe inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else {
                throw failure(host, port, "not a numeric address", remedy)
            }
            number = unsafe bind(AF_INET6, &address, MemoryLayout<sockaddr_in6>.size)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
                throw failure(host, port, "not a numeric address", remedy)
            }
            number = unsafe bind(AF_INET, &address, MemoryLayout<sockaddr_in>.size)
        }
        guard number == 0 else { throw failure(host, port, SystemError(number: number).text, remedy) }
    }

    private static func failure(_ host: String, _ port: Int, _ why: String, _ remedy: Remedy) -> Failure {
        Failure(
            .badOption, "cannot listen at", at: host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)",
            because: why, remedy: remedy)
    }

    /// Binds a temporary socket; returns 0 or an errno value.
    private static func bind(_ family: Int32, _ address: UnsafeMutableRawPointer, _ size: Int) -> Int32 {
        let file = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return errno }
        defer { close(file) }
        // As the server does: connections in TIME_WAIT do not prevent it.
        var yes: Int32 = 1
        unsafe setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        if family == AF_INET6 { unsafe setsockopt(file, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, 4) }
        let start = unsafe address.assumingMemoryBound(to: sockaddr.self)
        guard unsafe Glibc.bind(file, start, socklen_t(size)) == 0 else { return errno }
        return listen(file, 1) == 0 ? 0 : errno
    }
}
