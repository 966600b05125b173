/// The identifier of a client's connection, unique for as long as the server runs.
package struct ConnectionID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A request whose header section and body are complete.
package struct WebRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case options = "OPTIONS"
        case other = "other"
    }

    /// The header fields that the service uses.
    package enum Field: String, Hashable, Sendable, CaseIterable {
        case host, origin, authorization, cookie, range
        case ifNoneMatch = "if-none-match"
        case ifRange = "if-range"
        case contentType = "content-type"
        case acceptEncoding = "accept-encoding"
        case userAgent = "user-agent"
        case requestedHeaders = "access-control-request-headers"
        case fetchSite = "sec-fetch-site"
    }

    package var connection: ConnectionID
    package var listener: ListenerKind
    package var method: Method
    /// Percent-decoded, without the query; begins with `/`.
    package var path: String
    /// Percent-decoded, in their order.
    package var query: [(name: String, value: String)] = []
    package var fields: [Field: String] = [:]
    package var body: [UInt8] = []
    /// Whether the client is on this machine, as far as its address tells.
    package var isFromLoopback = false

    package init(connection: ConnectionID, listener: ListenerKind, method: Method, path: String) {
        self.connection = connection
        self.listener = listener
        self.method = method
        self.path = path
    }

    /// The first value of this name in the query.
    package func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
}
