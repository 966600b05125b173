/// How a transfer ended.
package enum TransferEnd: Hashable, Sendable {
    /// The response's body was complete according to its framing.
    case complete
    /// The receiver returned `stop`.
    case stopped
    case failed(TransferFault)
}

/// A failure of the transport.
package struct TransferFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The resolver did not respond, or not yet.
        case nameResolution
        /// The resolver responded that there is no such name.
        case nameMissing
        /// No route, no network: the local side.
        case unreachable
        case connectionRefused
        case connectTimeout
        /// The peer reset or closed the connection during the exchange.
        case connectionLost
        /// Fewer bytes than the framing announced, or broken chunk framing.
        case truncated
        case tls
        /// The server's public key is none of the pinned ones.
        case publicKey
        case proxy
        /// FTP or SFTP: the file does not exist.
        case notFound
        /// FTP or SFTP: login or permission denied.
        case denied
        /// FTP or SFTP server cannot resume, or a 4xx reply of FTP.
        case serverRefused
        /// A 5xx reply of FTP: the same command is refused again (RFC 959 §4.2.1).
        case commandRefused
        /// FTP: the server cannot begin at an offset, or the file ends before it.
        case offsetRefused
        /// FTP: the file is another one than the server described before its first byte.
        case contentChanged
        /// The response's framing is not HTTP.
        case malformed
        /// The name resolves to an address that must not be contacted.
        case privateAddress
        case other
    }

    package var kind: Kind
    package var cause: LocalizableMessage
    /// The cause in English.
    package var text: String { cause.description }

    package init(_ kind: Kind, _ cause: LocalizableMessage) {
        self.kind = kind
        self.cause = cause
    }

    /// The text is a server's or another library's.
    package init(_ kind: Kind, foreign text: String) { self.init(kind, LocalizableMessage(untranslated: text)) }
}
