/// The identity of one set of transfer settings; never used twice in a process.
package struct SettingsID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The properties that have to match for a request to reuse a connection.
package struct ConnectionKey: Hashable, Sendable {
    package let origin: Origin
    package let route: ProxyRoute?
    /// The interface, or the local address; `nil` for the system's choice.
    package let interface: String?
    package let ipVersion: IPVersion
    /// What decides where the connection leads: authorities and client certificate for TLS, and addresses given for
    /// hosts.
    package let settings: SettingsID?
    /// Whether the client certificate was sent.
    package let carriesSecrets: Bool

    package init(
        _ origin: Origin, route: ProxyRoute? = nil, interface: String?, ipVersion: IPVersion = .any,
        settings: SettingsID,
        overridesAddresses: Bool = false, carriesSecrets: Bool
    ) {
        self.origin = origin
        self.route = route
        self.interface = interface
        self.ipVersion = ipVersion
        let isSecure = origin.scheme == .https
        self.settings = isSecure || overridesAddresses ? settings : nil
        self.carriesSecrets = isSecure && carriesSecrets
    }

    package var isSecure: Bool { origin.scheme == .https }
}
