/// Where a server listens.
package enum ListenAddress: Hashable, Sendable {
    /// A Unix socket; its folder must belong to the owner alone.
    case local(path: String)
    /// A numeric address and a port, 0 for any free one.
    case port(address: String, port: Int, certificate: String?, key: String?)
}

/// The kind of listener that a request arrived at.
package enum ListenerKind: Hashable, Sendable {
    /// The Unix socket, which only its owner can open.
    case local
    /// A TCP port.
    case port(isSecure: Bool)
}
