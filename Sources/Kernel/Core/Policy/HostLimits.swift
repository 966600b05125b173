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

/// How many requests one host gets at once where the program itself decides how many downloads run.
package struct HostBounds: Hashable, Sendable {
    /// Over connections that carry one request at a time.
    package var connections: Int
    /// In all, from the first response over HTTP/2 on; a server allows 100 on a connection at least (RFC 9113 §6.5.2), and
    /// so many files of 4 KiB fill 200 Mbit/s over 40 ms.
    package var streams: Int

    package static let web = HostBounds(connections: 16, streams: 256)
    /// FTP and SFTP servers allow few logins at once.
    package static let files = HostBounds(connections: 4, streams: 4)
}
