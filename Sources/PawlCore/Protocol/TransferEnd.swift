/// How a transfer ended.
package enum TransferEnd: Hashable, Sendable {
    /// The answer's body was complete by its own framing.
    case complete
    /// The receiver said stop.
    case stopped
    case failed(TransferFault)
}

/// What the transport could not do.
package struct TransferFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case nameResolution
        /// No route, no network: the local side.
        case unreachable
        case connectionRefused
        case connectTimeout
        /// The peer reset or closed the connection in the middle of the exchange.
        case connectionLost
        /// Fewer bytes than the framing promised, or broken chunk framing.
        case truncated
        case tls
        case proxy
        /// FTP or SFTP: the file is not there.
        case notFound
        /// FTP or SFTP: login or permission denied.
        case denied
        /// FTP or SFTP server cannot resume, or a 4xx/5xx reply of FTP.
        case serverRefused
        /// The answer's framing is not HTTP.
        case malformed
        /// The name leads to an address that must not be asked.
        case privateAddress
        case other
    }

    package var kind: Kind
    /// The library's own words.
    package var text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}
