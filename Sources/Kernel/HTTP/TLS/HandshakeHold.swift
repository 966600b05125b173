package import PawlBase

/// The decisions of a judge within one handshake, which is held until each is made: nothing of a request was sent before.
package struct HandshakeHold: Sendable {
    private enum Stage {
        case going
        case server
        case client
    }

    private var stage = Stage.going
    private var server: CertificateDecision?
    private var client: CertificateDecision?

    /// Whether a decision is awaited.
    var isHeld: Bool { stage != .going }
    var isForClient: Bool { stage == .client }

    /// The files of the client that were decided.
    var identity: (certificate: String, key: String?)? {
        guard case .certificate(let file, let key)? = client else { return nil }
        return (file, key)
    }

    /// Whether the program does not want the connection.
    var isRefused: Bool {
        for decision in [server, client] { if case .refuse? = decision { return true } }
        return false
    }

    /// Whether the server counts although its certificate may not be trusted.
    var isAccepted: Bool {
        guard case .accept? = server else { return false }
        return true
    }

    mutating func hold(forClient: Bool) { stage = forClient ? .client : .server }

    mutating func decide(_ decision: CertificateDecision) {
        switch stage {
        case .going: return
        case .server: server = decision
        case .client: client = decision
        }
        stage = .going
    }

    /// The settings under which the connection's further requests need no judge: only `key` is accepted.
    package func settings(_ values: TransferSettings.Values, key: [UInt8]) -> TransferSettings.Values {
        var values = values
        values.acceptedKey = "sha256//" + Base64.encode(key)
        if isAccepted { values.verifiesPeer = false }
        if let identity { (values.certificate, values.key) = (identity.certificate, identity.key) }
        return values
    }
}
