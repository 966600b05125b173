package import PawlBase
import PawlSystem

/// What a user sets of the access to a hub.
package struct HubOptions: Hashable, Sendable {
    @Bytewise package var endpoint: String? = nil
    /// Whether no token is sent.
    package var isAnonymous = false
    /// Whether the environment and the files of this process's user may be used.
    package var usesOwnersSecrets = true

    package init() {}
}

extension HubEnvironment {
    /// That of this process; without secrets of its user if they may not be used.
    package static var ofProcess: HubEnvironment { HubEnvironment(Environment.value, home: Environment.home) }
}

extension HubAccess {
    /// Another hub, which gets no token: its files are shown by the digests of the first.
    init(mirror: String) throws(Failure) {
        let endpoint = try WebAddress.parse(mirror).address
        guard endpoint.scheme == .https || endpoint.scheme == .http, endpoint.query == nil else {
            throw Failure(
                refusing: .mirror, endpoint.redacted,
                because: "it is not the URL of a hub, such as https://hub.example.org/")
        }
        self.init(endpoint: endpoint)
    }

    /// The access of these options, with the environment and the token file of this process's user if they may be used.
    package init(_ options: HubOptions) throws(Failure) {
        let environment = HubEnvironment.ofProcess
        let named = options.endpoint ?? (options.usesOwnersSecrets ? environment.endpoint : nil)
        var endpoint = Self.usualEndpoint
        if let named {
            endpoint = try WebAddress.parse(named).address
            guard endpoint.scheme == .https || endpoint.scheme == .http else {
                throw Failure(refusing: .endpoint, endpoint.redacted, because: "it must begin with https://")
            }
            endpoint.query = nil
        }
        self.init(endpoint: endpoint)
        guard options.usesOwnersSecrets, !options.isAnonymous else { return }
        if let token = environment.token {
            guard HubEnvironment.isToken(token) else {
                throw Failure(.badOption, "cannot use", at: "HF_TOKEN", because: "it has characters that no token has")
            }
            self.token = token
        } else if let file = environment.tokenFile {
            token = try Self.token(in: file)
        }
    }

    /// `nil` if there is no such file.
    private static func token(in file: String) throws(Failure) -> String? {
        guard let bytes = try? BoundedRead.file(file, atMost: 8 << 10, followsLinks: true, isRegular: true) else {
            return nil
        }
        let token = HubEnvironment.trimmed(String(decoding: bytes, as: UTF8.self))
        guard !token.isEmpty else { return nil }
        guard HubEnvironment.isToken(token) else {
            throw Failure(.badOption, "cannot use", at: file, because: "it has characters that no token has")
        }
        return token
    }
}
