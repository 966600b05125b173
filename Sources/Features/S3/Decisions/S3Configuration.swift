package import PawlBase

/// What options, environment and files of AWS's tools say of the access to object stores.
package struct S3Configuration: Sendable {
    /// From options; they come first.
    package var profile: String?
    package var region: String?
    package var endpoint: String?
    package var isAnonymous = false
    package var hasAuthorityFile = false
    /// The value of an environment variable.
    package var environment: @Sendable (String) -> String?
    /// The bytes of a file; `nil` if there is none.
    package var file: @Sendable (String) -> [UInt8]?
    /// The user's folder.
    package var home: String?

    package init(
        environment: @escaping @Sendable (String) -> String?, file: @escaping @Sendable (String) -> [UInt8]?,
        home: String?
    ) {
        self.environment = environment
        self.file = file
        self.home = home
    }

    private func variable(_ names: String...) -> String? {
        names.lazy.compactMap { environment($0) }.first { !$0.isEmpty }
    }

    /// Throws code 28 for a profile that does not exist, and for settings that make no request.
    package func access() throws(Failure) -> S3Access {
        let (settings, services) = try profileSettings()
        var access = S3Access()
        if let region = region ?? variable("AWS_REGION", "AWS_DEFAULT_REGION") ?? settings["region"] {
            guard S3Access.isRegion(region) else {
                throw Failure(
                    refusing: .region, Redaction.clipped(Redaction.printable(region), to: 64),
                    because: LocalizableMessage("s3-no-region", "it is not a valid region name"))
            }
            access.region = region
        }
        let ignoresURLs =
            variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")?.lowercased() == "true"
            || settings["ignore_configured_endpoint_urls"]?.lowercased() == "true"
        let configured =
            variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? services["s3.endpoint_url"] ?? settings[
                "s3.endpoint_url"] ?? settings["endpoint_url"]
        if let text = endpoint ?? (ignoresURLs ? nil : configured) { access.endpoint = try Self.endpoint(text) }
        access.authorityFile = try authorityFile(of: settings)
        access.isAnonymous = isAnonymous
        if !isAnonymous { access.credentials = try credentials(of: settings, isChosen: profile != nil) }
        return access
    }

    /// What the profile sets in AWS's two files, and in its section of services.
    private func profileSettings() throws(Failure) -> (settings: [String: String], services: [String: String]) {
        let name = profile ?? variable("AWS_PROFILE", "AWS_DEFAULT_PROFILE") ?? "default"
        let isNamed = name != "default"
        let folder = home.map { "\($0)/.aws" }
        let files = [
            variable("AWS_CONFIG_FILE") ?? folder.map { "\($0)/config" },
            variable("AWS_SHARED_CREDENTIALS_FILE") ?? folder.map { "\($0)/credentials" },
        ]
        var settings: [String: String] = [:]
        var services: [String: String] = [:]
        var isKnown = false
        for path in files.compactMap(\.self) {
            guard let bytes = file(path) else { continue }
            let file = AWSProfileFile(bytes)
            guard let found = file[name] else { continue }
            isKnown = true
            settings.merge(found) { $1 }
            if let set = found["services"] { services.merge(file["services \(set)"] ?? [:]) { $1 } }
        }
        guard isKnown || !isNamed else {
            throw Failure(
                .badOption, "cannot use", at: "the profile \(Redaction.clipped(Redaction.printable(name), to: 64))",
                because: LocalizableMessage(
                    "s3-no-profile", "neither the configuration nor the credentials file has it"),
                remedy: "name another one with \(.option(.profile)), or create it with 'aws configure'")
        }
        return (settings, services)
    }

    private func authorityFile(of settings: [String: String]) throws(Failure) -> String? {
        guard !hasAuthorityFile, let path = variable("AWS_CA_BUNDLE") ?? settings["ca_bundle"], !path.isEmpty else {
            return nil
        }
        guard file(path) != nil else {
            throw Failure(
                .cannotOpen, "cannot open",
                at: "the certificate authorities \(Redaction.clipped(Redaction.printable(path), to: 256))",
                because: LocalizableMessage("s3-no-authorities", "there is no such file, or it cannot be read"),
                remedy: "correct AWS_CA_BUNDLE or ca_bundle in the profile, or set \(.option(.authorityFile))")
        }
        return path
    }

    /// Those of the environment, unless a profile was chosen.
    private func credentials(of settings: [String: String], isChosen: Bool) throws(Failure) -> S3Credentials? {
        let found: (key: String?, secret: String?, token: String?) =
            !isChosen && variable("AWS_ACCESS_KEY_ID") != nil
            ? (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN"))
            : (settings["aws_access_key_id"], settings["aws_secret_access_key"], settings["aws_session_token"])
        guard let key = found.key, !key.isEmpty else {
            guard settings.keys.contains(where: Self.otherLogins.contains) else { return nil }
            throw Failure(
                .authorization, "cannot use", at: "the profile's login",
                because: LocalizableMessage(
                    "s3-login-unsupported", "single sign-on, roles and credential processes are not supported yet"),
                remedy: "run Pawl with the variables that 'aws configure export-credentials --format env' prints")
        }
        guard let secret = found.secret, !secret.isEmpty else {
            throw Failure(
                .authorization, "cannot use", at: "the access key",
                because: LocalizableMessage("s3-no-secret", "its secret access key is missing"),
                remedy: "set AWS_SECRET_ACCESS_KEY, or aws_secret_access_key in the profile")
        }
        let texts = [key, secret, found.token ?? ""]
        guard texts.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }) else {
            throw Failure(
                .authorization, "cannot use", at: "the access key",
                because: LocalizableMessage(
                    "s3-key-characters", "it or its secret has characters that no access key has"))
        }
        return S3Credentials(
            accessKey: key, secretKey: secret, sessionToken: found.token.flatMap { $0.isEmpty ? nil : $0 })
    }

    private static let otherLogins: Set<String> = [
        "sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file",
    ]

    /// The address of a store; `https` where it has no scheme.
    package static func endpoint(_ text: String) throws(Failure) -> WebAddress {
        let (address, login) = try WebAddress.parse(text.contains("://") ? text : "https://\(text)")
        let why: String? =
            address.scheme != .http && address.scheme != .https
            ? "it begins with neither http:// nor https://"
            : login != nil ? "it has a login" : address.query != nil ? "it has a query" : nil
        if let why { throw Failure(refusing: .endpoint, address.redacted, because: why) }
        return address
    }
}
