import PawlBase

/// The settings of recent requests.
final class ConnectionSettingsCache {
    private static let limit = 64

    private var known: [ConnectionSettings.Key: ConnectionSettings] = [:]
    /// Nearly always the next one too.
    private var last: ConnectionSettings?

    /// Throws when one of the request's settings cannot be sent.
    func settings(for request: TransferRequest) throws(TransferFault) -> ConnectionSettings {
        let key = ConnectionSettings.Key(request)
        if let last, last.key == key { return last }
        if let found = known[key] {
            last = found
            return found
        }
        // Requests retain the settings they use, so removing them all is safe.
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        let settings = try ConnectionSettings(for: request)
        known[key] = settings
        last = settings
        return settings
    }
}
