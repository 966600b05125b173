package import PawlBase

/// Where the hub is, and who asks it.
package struct HubAccess: Hashable, Sendable, ObjectLocating {
    package var endpoint: WebAddress
    /// `nil` for requests without one.
    package var token: String?
    /// Whether the user named the endpoint.
    package var hasChosenHost = false

    package init(endpoint: WebAddress = Self.usualEndpoint, token: String? = nil) {
        self.endpoint = endpoint
        self.token = token
        hasChosenHost = endpoint != Self.usualEndpoint
    }

    package static let usualEndpoint = WebAddress(
        scheme: .https, host: "huggingface.co", port: 443, path: "/", query: nil)

    package var authorityFile: String? { nil }

    /// The URL of the file; that of the endpoint for an address that is none of a file.
    package func location(of address: WebAddress) -> WebAddress {
        guard let file = try? HubAddress(address.text) else { return endpoint }
        return url(file.filePath)
    }

    package func url(_ path: String, query: String? = nil) -> WebAddress {
        var url = endpoint
        if url.path.utf8.last == .slash { url.path.removeLast() }
        url.path += path
        url.query = query
        return url
    }

    /// The header lines of a request to `url`: the token is for the endpoint alone.
    package func lines(to url: WebAddress) -> [String] {
        guard let token, url.origin == endpoint.origin else { return [] }
        return ["Authorization: Bearer \(token)"]
    }
}

/// What the environment says of the hub, as its own tools read it.
///
/// <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>
package struct HubEnvironment: Sendable {
    package let endpoint: String?
    /// The token itself.
    package let token: String?
    /// The files that may have it, the first that exists.
    package let tokenFile: String?
    /// The folder of the cache; `nil` without a home.
    package let cache: String?
    package let isOffline: Bool

    package init(_ value: (String) -> String?, home: String?) {
        func isOn(_ name: String) -> Bool { ["1", "on", "yes", "true"].contains(value(name)?.lowercased() ?? "") }
        func expanded(_ path: String) -> String {
            guard path == "~" || path.hasPrefix("~/"), let home else { return path }
            return home + path.dropFirst()
        }
        endpoint = value("HF_ENDPOINT")
        let caches = value("XDG_CACHE_HOME").map(expanded) ?? home.map { "\($0)/.cache" }
        let folder = value("HF_HOME").map(expanded) ?? caches.map { "\($0)/huggingface" }
        cache =
            (value("HF_HUB_CACHE") ?? value("HUGGINGFACE_HUB_CACHE")).map(expanded) ?? folder.map { "\($0)/hub" }
        isOffline = isOn("HF_HUB_OFFLINE") || isOn("TRANSFORMERS_OFFLINE")
        let given = (value("HF_TOKEN") ?? value("HUGGING_FACE_HUB_TOKEN")).map(Self.trimmed)
        token = given.flatMap { $0.isEmpty ? nil : $0 }
        let isImplicit = !isOn("HF_HUB_DISABLE_IMPLICIT_TOKEN")
        tokenFile = isImplicit ? value("HF_TOKEN_PATH").map(expanded) ?? folder.map { "\($0)/token" } : nil
    }

    /// Without the line end of a file.
    package static func trimmed(_ text: String) -> String {
        String(decoding: Array(text.utf8).trimmed { $0.isWhiteSpace || $0 == 0x0A || $0 == 0x0D }, as: UTF8.self)
    }

    /// Whether it can stand in a header line.
    package static func isToken(_ text: String) -> Bool {
        1...4096 ~= text.utf8.count && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
