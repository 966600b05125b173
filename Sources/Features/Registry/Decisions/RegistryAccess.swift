package import PawlBase

/// Where registries are, and who asks them.
package struct RegistryAccess: Hashable, Sendable, ObjectLocating {
    /// Another server for every registry: a mirror, or one without TLS.
    package var endpoint: WebAddress?
    package var logins: RegistryLogins
    /// Whether the programs that keep logins are run.
    package var runsHelpers = false

    package init(endpoint: WebAddress? = nil, logins: RegistryLogins = RegistryLogins()) {
        self.endpoint = endpoint
        self.logins = logins
    }

    /// The program that keeps the login to a registry, if it may be run and no file has one.
    func helper(for reference: RegistryReference) -> CredentialHelper? {
        runsHelpers && logins.login(to: reference.registry, reference.name) == nil
            ? logins.helper(for: reference.registry) : nil
    }

    /// Whether logins are kept by programs that may not be run.
    var hasIdleHelpers: Bool { logins.hasHelpers && !runsHelpers }

    package var authorityFile: String? { nil }

    /// A registry that is only a part of the address may be a stranger's.
    package var hasChosenHost: Bool { endpoint != nil }

    /// The URL of the blob, or of the manifest where the address has a tag; that of the registry for neither.
    package func location(of address: WebAddress) -> WebAddress {
        guard let reference = try? RegistryReference(address.text) else { return base(of: address.host) }
        guard let digest = reference.digest else { return manifest(reference) }
        return url(reference, "blobs/\(digest.text)")
    }

    package func manifest(_ reference: RegistryReference) -> WebAddress {
        url(reference, "manifests/\(reference.identifier)")
    }

    private func url(_ reference: RegistryReference, _ rest: String) -> WebAddress {
        var url = base(of: reference.registry)
        if url.path.utf8.last == .slash { url.path.removeLast() }
        url.path += "/v2/\(reference.name)/\(rest)"
        return url
    }

    /// On this machine registries have no TLS.
    private func base(of registry: String) -> WebAddress {
        if let endpoint { return endpoint }
        let scheme = Self.isLoopback(registry) ? "http" : "https"
        let parsed = try? WebAddress.parse("\(scheme)://\(registry)/").address
        return parsed ?? WebAddress(scheme: .https, host: "invalid", port: 443, path: "/", query: nil)
    }

    static func isLoopback(_ registry: String) -> Bool {
        let parts = registry.utf8.split(separator: .colon, maxSplits: 1)
        guard let host = parts.first.map({ String(Substring($0)) }), parts.last?.elementsEqual("443".utf8) == false
        else {
            return false
        }
        let isDotted = host.utf8.split(separator: .dot).count == 4 && host.utf8.allSatisfy { $0.isDigit || $0 == .dot }
        return host == "localhost" || isDotted && host.hasPrefix("127.")
    }
}

/// A user's login to registries.
package struct RegistryLogin: Hashable, Sendable {
    package var user: String
    package var password: String
    /// A refresh token in place of both.
    package var identityToken: String?

    /// Of a token that belongs to no user.
    static let tokenUser = "<token>"

    /// `nil` for one that cannot stand in a header line.
    static func checked(_ user: String, _ password: String) -> RegistryLogin? {
        let isSafe = !(user + password).utf8.contains { $0 < 0x20 || $0 == 0x7F }
        return isSafe && !user.isEmpty ? RegistryLogin(user: user, password: password) : nil
    }
}

/// The logins of files as Docker's `config.json` and containers' `auth.json`.
///
/// <https://github.com/containers/image/blob/main/docs/containers-auth.json.5.md>
package struct RegistryLogins: Hashable, Sendable {
    /// By `HOST[:PORT][/NAMESPACE]`.
    private var logins: [String: RegistryLogin] = [:]
    /// Names of programs by registry, and those that keep the logins of all others.
    private var helpers: [String: String] = [:]
    private var stores: [String] = []

    /// Whether a file leaves logins to programs.
    package var hasHelpers: Bool { !helpers.isEmpty || !stores.isEmpty }

    package static let longest = 1 << 20

    package init() {}

    /// Adds those of a file that an earlier one does not have; what is malformed is left out.
    package mutating func add(_ bytes: [UInt8]) {
        guard let root = try? JSON.parse(bytes) else { return }
        if let store = root["credsStore"]?.string, CredentialHelper.isName(store) { stores.append(store) }
        for member in root["credHelpers"]?.members ?? [] {
            guard let name = member.value.string, CredentialHelper.isName(name) else { continue }
            let key = Self.key(member.name)
            if helpers[key] == nil { helpers[key] = name }
        }
        for member in root["auths"]?.members ?? [] {
            let key = Self.key(member.name)
            guard !key.isEmpty, logins[key] == nil, let login = Self.login(member.value) else { continue }
            logins[key] = login
        }
    }

    /// That of the longest key which names the registry, or a namespace of it that has the repository.
    package func login(to registry: String, _ name: String) -> RegistryLogin? {
        let host = registry == RegistryReference.dockerHub ? "docker.io" : registry
        var parts = name.pathParts().map(String.init)
        while true {
            if let login = logins[([host] + parts).joined(separator: "/")] { return login }
            guard parts.popLast() != nil else { return nil }
        }
    }

    /// The program for a registry: that which a file names for it, else that for all.
    func helper(for registry: String) -> CredentialHelper? {
        let isHub = registry == RegistryReference.dockerHub
        guard let name = helpers[isHub ? "docker.io" : registry] ?? stores.first else { return nil }
        return CredentialHelper(name: name, server: isHub ? "https://index.docker.io/v1/" : registry)
    }

    private static func login(_ entry: JSON) -> RegistryLogin? {
        if let token = entry["identitytoken"]?.string, !token.isEmpty {
            return RegistryLogin(user: RegistryLogin.tokenUser, password: "", identityToken: token)
        }
        guard let coded = entry["auth"]?.string, let bytes = Base64.decodePadded(Array(coded.utf8)[...]),
            let text = String(validating: bytes, as: UTF8.self), let colon = text.utf8.firstIndex(of: .colon)
        else { return nil }
        let user = String(text[..<colon])
        // Docker ends some with NUL bytes.
        let password = String(decoding: text[colon...].utf8.dropFirst().filter { $0 != 0 }, as: UTF8.self)
        return RegistryLogin.checked(user, password)
    }

    /// `https://index.docker.io/v1/` is how Docker calls its own.
    private static func key(_ name: String) -> String {
        var text = String(decoding: name.utf8.map(\.lowercased), as: UTF8.self)
        for scheme in ["https://", "http://"] where text.hasPrefix(scheme) { text.removeFirst(scheme.count) }
        while text.hasSuffix("/") { text.removeLast() }
        for version in ["/v1", "/v2"] where text.hasSuffix(version) { text.removeLast(version.count) }
        return text == "index.docker.io" || text == RegistryReference.dockerHub ? "docker.io" : text
    }
}
