package import PawlBase
import PawlSystem

/// What a user sets of the access to registries.
package struct RegistryOptions: Hashable, Sendable {
    @Bytewise package var endpoint: String? = nil
    /// Whether no login is sent.
    package var isAnonymous = false
    /// Whether the environment and the files of this process's user may be used.
    package var usesOwnersSecrets = true
    /// Whether programs that keep logins are run.
    package var runsHelpers = false

    package init() {}
}

extension RegistryAccess {
    /// The access of these options, with the logins of this process's user if they may be used.
    package init(_ options: RegistryOptions) throws(Failure) {
        self.init()
        if let named = options.endpoint {
            var address = try WebAddress.parse(named).address
            guard address.scheme == .https || address.scheme == .http else {
                throw Failure(refusing: .endpoint, address.redacted, because: "it must begin with https:// or http://")
            }
            address.query = nil
            endpoint = address
        }
        guard options.usesOwnersSecrets, !options.isAnonymous else { return }
        runsHelpers = options.runsHelpers
        for file in Self.files {
            guard
                let bytes = try? BoundedRead.file(
                    file, atMost: RegistryLogins.longest, followsLinks: true, isRegular: true)
            else { continue }
            logins.add(bytes)
        }
    }

    /// In the order in which podman and skopeo read them.
    private static var files: [String] {
        let docker = Environment.value("DOCKER_CONFIG") ?? Environment.home.map { "\($0)/.docker" }
        return [
            Environment.value("REGISTRY_AUTH_FILE"), Environment.runtime.map { "\($0)/containers/auth.json" },
            Environment.configuration.map { "\($0)/containers/auth.json" }, docker.map { "\($0)/config.json" },
        ].compactMap(\.self)
    }
}
