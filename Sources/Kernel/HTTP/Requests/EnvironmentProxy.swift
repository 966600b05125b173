package import PawlBase
import PawlSystem

/// The proxy that the environment names, for requests that may use it but not its login.
package enum EnvironmentProxy {
    /// The proxy for the scheme, without user name and password; `nil` when it has no login, and
    /// libcurl may read the environment.
    package static func plain(for scheme: WebAddress.Scheme) -> String? {
        text(for: scheme).flatMap(ProxyURL.withoutLogin)
    }

    /// The proxy for the scheme, as the environment has it.
    package static func text(for scheme: WebAddress.Scheme) -> String? { variable(for: scheme)?.value }

    /// The variable that names the proxy, and its value.
    package static func variable(for scheme: WebAddress.Scheme) -> (name: String, value: String)? {
        ProxyRoute.variables(for: scheme).lazy.compactMap { name in Environment.value(name).map { (name, $0) } }.first
    }

    /// Whether the environment names hosts that bypass the proxy.
    package static var hasExceptions: Bool { exceptions != nil }

    /// The hosts that bypass the proxy; `nil` for none.
    package static var exceptions: String? { Environment.value("no_proxy") ?? Environment.value("NO_PROXY") }

    /// Whether a proxy is set for web addresses.
    package static var isNamed: Bool { isNamed(for: .http) || isNamed(for: .https) }

    /// Whether a proxy is used for the scheme.
    package static func isNamed(for scheme: WebAddress.Scheme) -> Bool { text(for: scheme) != nil }
}
