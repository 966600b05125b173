/// What one client, and all of them, may take from the server.
package struct WebLimits: Hashable, Sendable {
    /// Connections at once; further ones are closed at once.
    package var connections = 4096
    /// Bytes of a request's head.
    package var head = 16 * 1024
    /// Bytes of a request's body or of one WebSocket message.
    package var body = 2 << 20
    /// Bytes that may wait for a client that does not read; beyond that it is dropped.
    package var backlog = 8 << 20
    /// Seconds for a request to arrive.
    package var requestTime = 30
    /// Seconds that a connection may be idle between requests.
    package var idleTime = 60

    package init() {}
}

/// Where a server listens.
package enum WebAddressToListen: Hashable, Sendable {
    /// A socket file; its folder must belong to the owner alone.
    case local(path: String)
    /// A numeric address and a port, 0 for any free one.
    case port(address: String, port: Int, certificate: String?, key: String?)
}
