/// The limits of one host's use by all downloads together; `nil` is no limit.
package struct HostLimits: Hashable, Sendable {
    /// Concurrent connections.
    package var connections: Int?
    /// Bytes per second.
    package var rate: Int64?

    package init(connections: Int? = nil, rate: Int64? = nil) {
        self.connections = connections
        self.rate = rate
    }
}
