import PawlCore
import PawlEngine

/// The properties that have to match for a request to reuse a connection.
struct ConnectionKey: Equatable {
    private let origin: Origin
    private let interface: String?
    /// Proxy, authorities and client certificate, for TLS; retained, so that their identity stays unique.
    private let settings: TransferSettings?
    /// Whether the client certificate was sent.
    private let carriesSecrets: Bool

    init(_ request: TransferRequest) {
        origin = request.address.origin
        interface = request.settings.values.interface
        let isSecure = request.address.scheme == .https
        settings = isSecure ? request.settings : nil
        carriesSecrets = isSecure && request.carriesSecrets
    }

    static func == (one: ConnectionKey, other: ConnectionKey) -> Bool {
        one.origin == other.origin && one.interface == other.interface
            && one.settings === other.settings && one.carriesSecrets == other.carriesSecrets
    }
}
