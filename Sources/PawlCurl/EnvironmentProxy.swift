import Glibc
import PawlCore

/// The proxy that the environment names, for those who may use it but not its login.
enum EnvironmentProxy {
    /// What libcurl would take for the scheme, without user name and password; `nil` when it has none in it, and
    /// libcurl may look for itself.
    static func plain(for scheme: WebAddress.Scheme) -> String? {
        for name in names(scheme) {
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { continue }
            return unsafe withoutLogin(String(cString: value))
        }
        return nil
    }

    /// Whether there is one for web addresses.
    static var isNamed: Bool {
        Set(names(.http) + names(.https)).contains { name in
            guard let value = unsafe getenv(name) else { return false }
            return unsafe value.pointee != 0
        }
    }

    /// Not HTTP_PROXY: a web server sets that for what it runs from a request's Proxy header.
    private static func names(_ scheme: WebAddress.Scheme) -> [String] {
        let own = scheme.rawValue + "_proxy"
        return (scheme == .http ? [own] : [own, own.uppercased()]) + ["all_proxy", "ALL_PROXY"]
    }

    /// `nil` when there is no login in it.
    static func withoutLogin(_ proxy: String) -> String? {
        let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
        let end = proxy[start...].firstIndex(of: "/") ?? proxy.endIndex
        guard let mark = proxy[start..<end].lastIndex(of: "@") else { return nil }
        return String(proxy[..<start]) + String(proxy[proxy.index(after: mark)...])
    }
}
