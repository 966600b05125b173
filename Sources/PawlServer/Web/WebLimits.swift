/// What one client, and all of them, may take from the server.
package struct WebLimits: Hashable, Sendable {
    /// Connections at once; further ones are closed at once.
    package var connections = 4096
    /// Bytes of a request's head.
    package var head = 16 * 1024
    /// Bytes of a request's body or of one WebSocket message.
    package var body = 2 << 20
    /// Messages of one WebSocket that wait for their answers; further ones are read when one is answered.
    package var letters = 16
    /// Bytes of all requests that arrive or wait for an answer, and of all answers that wait to be read.
    ///
    /// Who would go beyond it is dropped.
    package var memory = 256 << 20
    /// Seconds that a WebSocket may stand without having shown that it may be here.
    package var strangerTime = 60
    /// Connections of those that the socket file alone may have, beyond what the ports' clients take.
    package var reserve = 64
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
