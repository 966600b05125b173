/// When the parts of one request happened, and over which connection.
///
/// A time is `nil` where that part did not happen (a reused connection is not opened again) or is not known.
package struct TransferTiming: Hashable, Sendable {
    /// A socket's address and port.
    package struct Endpoint: Hashable, Sendable {
        package var address: String
        package var port: Int

        package init(address: String, port: Int) {
            self.address = address
            self.port = port
        }
    }

    package var lookupStart: Instant?
    package var lookupEnd: Instant?
    /// The end includes the TLS handshake, as in `URLSessionTaskTransactionMetrics`.
    package var connectStart: Instant?
    package var connectEnd: Instant?
    package var secureStart: Instant?
    package var secureEnd: Instant?
    package var requestStart: Instant?
    package var requestEnd: Instant?
    package var responseStart: Instant?
    /// The protocol's ALPN name, such as `http/1.1` or `h2`; the scheme for FTP and SFTP.
    package var networkProtocol: String?
    package var isReused = false
    package var isProxied = false
    package var local: Endpoint?
    package var remote: Endpoint?
    /// `TLSv1.3`.
    package var secureVersion: String?
    package var cipher: String?
    /// Bytes of the request's head.
    package var sentHead = 0
    /// Bytes of the response's head.
    package var receivedHead = 0

    package init() {}
}

/// What a transport sent or received, for a user who looks at the protocol.
///
/// Every line is free of secrets and control characters.
package enum TransferTrace: Hashable, Sendable {
    /// The request line and the header section; the address itself may hold secrets.
    case request([String], to: WebAddress)
    /// The status line and the header section.
    case response([String])
    /// Whether the response's body is used.
    case verdict(isAccepted: Bool, status: Int)
    /// A host was seen to allow no more connections than these, in this run or an earlier one.
    case hostLimit(HostNote, of: String)
    /// The end of a transfer that failed.
    case failed(String)
}
