package import PawlBase
import PawlHTTP

/// Where a server listens.
package enum ListenAddress: Hashable, Sendable {
    /// A Unix socket; its folder must belong to the owner alone.
    case local(path: String)
    /// A numeric address and a port, 0 for any free one.
    case port(address: String, port: Int, certificate: String?, key: String?)

    /// What the user of `pawl serve` can do about a port that is in use.
    package static let otherPort: Remedy = "choose another with --port or --listen"

    /// Throws code 28 with the system's reason when a port cannot be listened at.
    package static func check(_ host: String, port: Int, remedy: Remedy = otherPort) throws(Failure) {
        try Listener.port(host, port, remedy: remedy).close()
    }
}

/// The kind of listener that a request arrived at.
package enum ListenerKind: Hashable, Sendable {
    /// The Unix socket, which only its owner can open.
    case local
    /// A TCP port.
    case port(isSecure: Bool)
}

/// An address at which a server listens.
struct WebListener: Sendable {
    let address: ListenAddress
    let listener: Listener
    /// For TLS.
    private(set) var context: TLSContext?

    var kind: ListenerKind { listener.port == 0 ? .local : .port(isSecure: context != nil) }

    init(_ address: ListenAddress) throws(Failure) {
        self.address = address
        switch address {
        case .local(let path): listener = try Listener.local(path, remedy: "choose another path with --socket")
        case .port(let host, let port, let certificate, let key):
            if let certificate {
                do throws(TransferFault) {
                    context = try TLSContext.server(certificate: certificate, key: key, protocols: ["http/1.1"])
                } catch {
                    throw Failure(
                        .badOption, "cannot listen at", at: "\(host):\(port)",
                        because: "the certificate or its key cannot be used",
                        remedy: "use PEM files for the certificate and its key")
                }
            }
            listener = try Listener.port(host, port, remedy: ListenAddress.otherPort)
        }
    }
}
