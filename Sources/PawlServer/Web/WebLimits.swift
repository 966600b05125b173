/// What one client, and all of them, may take from the server.
package struct WebLimits: Hashable, Sendable {
    /// Connections at once; for further ones the oldest goes that has not shown the secret.
    package var connections = 4096
    /// Bytes of a request's head.
    package var head = 16 * 1024
    /// Bytes of a request's body or of one WebSocket message.
    package var body = 2 << 20
    /// Messages of one WebSocket that wait for their answers; further ones are read when one is answered.
    package var messages = 16
    /// Bytes of all requests that arrive or wait for an answer, and of all answers that wait to be read.
    ///
    /// Who would go beyond it is dropped.
    package var memory = 256 << 20
    /// Bytes of the same for callers at ports who have not shown the secret, without what each may have anyway.
    package var unauthenticatedMemory = 16 << 20
    /// Bytes that each of them may have anyway.
    package var unauthenticatedAllowance = 4 << 10
    /// Bytes of a request's body or of a message that does not begin with the secret.
    package var unauthenticatedBody = 64 << 10
    /// Seconds that a WebSocket may stand without having shown that it may be here.
    package var authenticationTimeout = 60
    /// Connections of those that the socket file alone may have, beyond what the ports' clients take.
    package var reserve = 64
    /// Bytes that may wait for a client that does not read; beyond that it is dropped.
    package var backlog = 8 << 20
    /// Seconds for a request to arrive, its body with it.
    package var requestTime = 30
    /// Seconds that a connection may be idle between requests, or a client may read nothing of a response.
    package var idleTime = 60
    /// Seconds that a client has to close a connection after the last response.
    package var closingTime = 2

    package init() {}
}

/// Where a server listens.
package enum WebAddressToListen: Hashable, Sendable {
    /// A socket file; its folder must belong to the owner alone.
    case local(path: String)
    /// A numeric address and a port, 0 for any free one.
    case port(address: String, port: Int, certificate: String?, key: String?)
}
