/// Resource limits of one client, and of all clients together.
package struct WebLimits: Hashable, Sendable {
    /// Simultaneous connections; above that the oldest unauthenticated connection is closed.
    package var connections = 4096
    /// Bytes of a request's header section.
    package var head = 16 * 1024
    /// Bytes of a request's body or of one WebSocket message.
    package var body = 2 << 20
    /// The same over the Unix socket: as long as the digests of the pieces of the largest Metalink that is read.
    package var localBody = 24 << 20
    /// Messages of one WebSocket that wait for their responses; further ones are read after a response.
    package var messages = 16
    /// Bytes of all requests being received or processed, and of all responses not yet read.
    ///
    /// A client that would exceed it is disconnected.
    package var memory = 256 << 20
    /// The same for all unauthenticated clients of ports, without the allowance of each.
    package var unauthenticatedMemory = 16 << 20
    /// Bytes that each of them is always allowed.
    package var unauthenticatedAllowance = 4 << 10
    /// Bytes of a request's body or of a message that does not begin with the secret.
    package var unauthenticatedBody = 64 << 10
    /// Seconds until a WebSocket must have authenticated.
    package var authenticationTimeout = 60
    /// Connections reserved for the Unix socket.
    package var reserve = 64
    /// Bytes that may wait for a client that does not read; above that it is disconnected.
    package var backlog = 8 << 20
    /// Seconds within which a request with its body must arrive.
    package var requestTime = 30
    /// Seconds that a connection may be idle between requests, or a client may read nothing of a response.
    package var idleTime = 60
    /// Seconds that a client has to close a connection after the last response.
    package var closingTime = 2

    package init() {}

    func body(over listener: ListenerKind) -> Int { listener == .local ? max(body, localBody) : body }
}
