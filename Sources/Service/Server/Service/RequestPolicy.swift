package import PawlWeb

/// Checks Host and Origin of a request before it is processed.
///
/// A page of another origin can make a browser send requests here, and a name that its owner points at this
/// machine (DNS rebinding) makes them look like same-origin requests. Both are visible in the Host and Origin
/// fields (RFC 9110 §7.2, RFC 6454 §7).
package struct RequestPolicy: Hashable, Sendable {
    /// Accepted names in Host, without a port; numeric addresses are always accepted.
    package var names: Set<String>
    /// Whether pages of every origin may call.
    package var allowsEveryOrigin: Bool
    /// Whether browser extensions may call; they are not pages, and must present the secret.
    package var allowsExtensions: Bool
    /// Whether a request that no page can have caused may use any host name if it presents the secret.
    package var allowsNamesWithSecret: Bool

    package init(
        names: Set<String> = [], allowsEveryOrigin: Bool = false, allowsExtensions: Bool = false,
        allowsNamesWithSecret: Bool = false
    ) {
        self.allowsNamesWithSecret = allowsNamesWithSecret
        self.names = names.union(["localhost"])
        self.allowsEveryOrigin = allowsEveryOrigin
        self.allowsExtensions = allowsExtensions
    }

    private static let extensions = ["chrome-extension://", "moz-extension://", "safari-web-extension://"]

    /// `nil` if the request is accepted, else the reason why not.
    ///
    /// `showsSecret` is called only if the result depends on it. Browsers send Origin with POST and with WebSockets, and
    /// Sec-Fetch-Site with the rest; a client that knows the secret needs no other name.
    package func refusal(of request: WebRequest, showsSecret: (() -> Bool)? = nil) -> String? {
        if request.listener == .local { return nil }
        guard let host = request.fields[.host], RequestPolicy.name(of: host) != nil else {
            return "this host name is not allowed"
        }
        if !isOurs(host) {
            let isFromPage = request.fields[.origin] != nil || request.fields[.fetchSite] != nil
            guard allowsNamesWithSecret, !isFromPage, showsSecret?() == true else {
                return "this host name is not allowed"
            }
        }
        if allowsEveryOrigin { return nil }
        guard let origin = request.fields[.origin] else {
            // Requests for scripts, images and links have no Origin, but current browsers send Sec-Fetch-Site (Fetch
            // Metadata, §2.2).
            return request.fields[.fetchSite] == "cross-site" ? "pages of other sites may not call this server" : nil
        }
        for scheme in ["http://", "https://"] where origin == scheme + host { return nil }
        if allowsExtensions, RequestPolicy.extensions.contains(where: origin.hasPrefix) { return nil }
        return "pages of \(RequestPolicy.plain(origin)) may not call this server"
    }

    /// Configured names are accepted; a numeric address cannot have been rebound.
    private func isOurs(_ host: String) -> Bool {
        guard let name = RequestPolicy.name(of: host) else { return false }
        return names.contains(name.lowercased()) || RequestPolicy.isNumeric(name)
    }

    /// Without the port, an IPv6 literal without its brackets.
    static func name(of host: String) -> String? {
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
            return String(host[host.index(after: host.startIndex)..<end])
        }
        guard let colon = host.firstIndex(of: ":") else { return host }
        return isPort(host[colon...]) ? String(host[..<colon]) : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    static func isNumeric(_ name: String) -> Bool {
        if name.contains(":") { return name.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." } }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { part in UInt8(part) != nil && part.allSatisfy(\.isNumber) }
    }

    /// Replaces everything in untrusted input that is not plain text.
    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.isASCII && $0.value > 32 && $0 != "<" }.prefix(100)))
    }

    /// The CORS fields that let a page of another origin read the response, as aria2 sends them.
    package func crossOriginFields(for request: WebRequest) -> [(name: String, value: String)] {
        guard allowsEveryOrigin else { return [] }
        var fields = [("access-control-allow-origin", "*")]
        if request.method == .options {
            fields.append(("access-control-allow-methods", "POST, GET, OPTIONS"))
            fields.append(("access-control-max-age", "1728000"))
            if let requested = request.fields[.requestedHeaders] {
                fields.append(("access-control-allow-headers", requested))
            }
        }
        return fields.map { (name: $0.0, value: $0.1) }
    }
}
