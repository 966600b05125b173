/// A question about a connection's certificates, before a request is sent over it.
package struct CertificateQuestion: Sendable {
    package enum Kind: Sendable {
        /// The server's certificates in DER form, its own first, and why they are not trusted; `nil` if they are.
        case server(chain: [[UInt8]], problem: String?)
        /// The server requests a certificate of the client.
        case client
    }

    package var host: String
    package var port: UInt16
    package var kind: Kind

    package init(host: String, port: UInt16, kind: Kind) {
        self.host = host
        self.port = port
        self.kind = kind
    }
}

/// The decision to a question about certificates.
package enum CertificateDecision: Sendable {
    /// What the trust store says, and no certificate of the client.
    case usual
    /// The server is trusted.
    case accept
    /// PEM files of the client.
    case certificate(file: String, key: String?)
    /// No connection.
    case refuse
}
