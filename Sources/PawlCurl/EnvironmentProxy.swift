import Glibc
import PawlCore

/// The proxy that the environment names, for requests that may use it but not its login.
enum EnvironmentProxy {
    /// The proxy that libcurl would use for the scheme, without user name and password; `nil` when it has no login, and
    /// libcurl may read the environment.
    static func plain(for scheme: WebAddress.Scheme) -> String? {
        for name in names(scheme) {
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { continue }
            return unsafe withoutLogin(String(cString: value))
        }
        return nil
    }

    /// Whether a proxy is set for web addresses.
    static var isNamed: Bool { isNamed(for: .http) || isNamed(for: .https) }

    /// Whether libcurl uses a proxy for the scheme.
    static func isNamed(for scheme: WebAddress.Scheme) -> Bool {
        names(scheme).contains { name in
            guard let value = unsafe getenv(name) else { return false }
            return unsafe value.pointee != 0
        }
    }

    /// Whether a proxy that libcurl may use for TLS is itself reached over TLS.
    static var mayBeSecure: Bool {
        names(.https).contains { name in
            guard let value = unsafe getenv(name) else { return false }
            return unsafe isSecure(String(cString: value))
        }
    }

    static func isSecure(_ proxy: String) -> Bool { proxy.lowercased().hasPrefix("https:") }

    /// HTTP_PROXY is left out: CGI sets it from a request's Proxy field.
    private static func names(_ scheme: WebAddress.Scheme) -> [String] {
        let own = scheme.rawValue + "_proxy"
        return (scheme == .http ? [own] : [own, own.uppercased()]) + ["all_proxy", "ALL_PROXY"]
    }

    /// Returns `nil` when the URL has no login.
    static func withoutLogin(_ proxy: String) -> String? {
        let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
        let end = proxy[start...].firstIndex(of: "/") ?? proxy.endIndex
        guard let mark = proxy[start..<end].lastIndex(of: "@") else { return nil }
        return String(proxy[..<start]) + String(proxy[proxy.index(after: mark)...])
    }
}
