extension TransferFault {
    /// The cause; a foreign text is translated by the kind of the fault.
    package var message: LocalizableMessage {
        guard cause.isForeign else { return cause }
        return switch kind {
        case .nameResolution: LocalizableMessage("fault-name-resolution", "\(text)")
        case .nameMissing: LocalizableMessage("fault-name-missing", "\(text)")
        case .unreachable: LocalizableMessage("fault-unreachable", "\(text)")
        case .connectionRefused: LocalizableMessage("fault-connection-refused", "\(text)")
        case .connectTimeout: LocalizableMessage("fault-connect-timeout", "\(text)")
        case .connectionLost: LocalizableMessage("fault-connection-lost", "\(text)")
        case .truncated: LocalizableMessage("fault-truncated", "\(text)")
        case .tls: LocalizableMessage("fault-tls", "\(text)")
        case .publicKey: LocalizableMessage("fault-public-key", "\(text)")
        case .proxy: LocalizableMessage("fault-proxy", "\(text)")
        case .notFound: LocalizableMessage("fault-not-found", "\(text)")
        case .denied: LocalizableMessage("fault-denied", "\(text)")
        case .serverRefused: LocalizableMessage("fault-server-refused", "\(text)")
        case .malformed: LocalizableMessage("fault-malformed", "\(text)")
        case .privateAddress: LocalizableMessage("fault-private-address", "\(text)")
        case .offsetRefused: LocalizableMessage("fault-offset-refused", "\(text)")
        case .contentChanged: LocalizableMessage("fault-content-changed", "\(text)")
        case .other: cause
        }
    }
}

extension LocalizableMessage {
    /// A response without data for so many seconds.
    package static func noData(for seconds: String) -> LocalizableMessage {
        LocalizableMessage("silent-no-data", "no data for \(seconds) s")
    }
}
