import PawlCore
import PawlEngine
import Synchronization

// Converts the caller's options into a job; every refusal names the option and its valid values.
extension Job {
    init(source: String, options: DownloadOptions, settingsCache: TransferSettingsCache) throws(Failure) {
        let first = try WebAddress.parse(source)
        var sources = [first.address]
        for mirror in options.mirrors { sources.append(try WebAddress.parse(mirror).address) }
        // They must fit into the journal together with the file's state.
        guard sources.reduce(0, { $0 + $1.text.utf8.count }) <= Job.longestSources else {
            throw Job.refused(
                "\(sources.count) URLs of one file",
                "together they are longer than \(Job.longestSources) bytes"
            )
        }
        var plan = DownloadPlan(sources: sources)
        if let connections = options.connections {
            guard (1...DownloadMachine.mostLanes).contains(connections) else {
                throw Failure(
                    refusing: .connections,
                    "\(connections)",
                    because: "must be 1 to \(DownloadMachine.mostLanes)"
                )
            }
            plan.ramp = .fixed(connections)
        }
        guard options.retries >= 0 else {
            throw Failure(refusing: .retries, "\(options.retries)", because: "it cannot be negative")
        }
        guard (0...86_400).contains(options.retryDelay) else {
            throw Failure(
                refusing: .retryDelay,
                "\(options.retryDelay)",
                because: "must be 0 to 86400 seconds"
            )
        }
        guard options.timeout > 0, options.timeout <= 86_400 else {
            throw Failure(
                refusing: .timeout,
                "\(options.timeout)",
                because: "must be more than 0 and at most 86400 seconds"
            )
        }
        if let wait = options.connectTimeout {
            guard wait > 0, wait <= 86_400 else {
                throw Failure(
                    refusing: .connectTimeout,
                    "\(wait)",
                    because: "must be more than 0 and at most 86400 seconds"
                )
            }
        }
        if let floor = options.lowestSpeed {
            guard floor >= 0 else {
                throw Failure(refusing: .lowestSpeed, "\(floor)", because: "it cannot be negative")
            }
            plan.lowestSpeed = floor == 0 ? nil : floor
        }
        guard (0...86_400).contains(options.maximumRetryAfter) else {
            throw Failure(
                refusing: .maximumRetryAfter,
                "\(options.maximumRetryAfter)",
                because: "must be 0 to 86400 seconds"
            )
        }
        plan.retry = RetryPolicy(
            retries: options.retries,
            delay: .seconds(options.retryDelay),
            longestRetryAfter: .seconds(options.maximumRetryAfter)
        )
        plan.allowsDowngrade = options.allowsDowngrade
        plan.timeout = .seconds(options.timeout)
        plan.maximumRedirects = max(0, options.maximumRedirects)
        plan.keepsServerTime = options.keepsServerTime
        plan.length = options.expectedLength
        if let text = options.range {
            plan.wish = try RangeOption.parse(text)
            plan.length = nil
        }
        if let text = options.checksum { plan.checksum = try Job.checksum(text) }
        self.init(
            plan: plan,
            settings: settingsCache.settings(try Job.settings(options, urlCredentials: first.credentials)),
            folder: options.folder
        )
        trustsRedirects = options.trustsRedirects
        fileName = try Job.fileName(options)
        naming = NamingPolicy(rawValue: options.naming.rawValue) ?? .server
        ifExists = IfExists(rawValue: options.existingFile.rawValue) ?? .rename
        rateLimit = options.rateLimit.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Bytes of all URLs of one download together.
    static let longestSources = 1 << 20

    private static func refused(_ what: String, _ why: String) -> Failure {
        Failure(.badOption, "cannot use", at: what, because: why)
    }

    private static func checksum(_ text: String) throws(Failure) -> Checksum {
        let parts = text.split(separator: "=", maxSplits: 1).map { String($0) }
        let names = HashAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
        guard parts.count == 2, let algorithm = HashAlgorithm(rawValue: parts[0].lowercased()) else {
            throw Failure(
                refusing: .checksum,
                "\(text)",
                because: "must be TYPE=HEX, with one of these types: \(names)"
            )
        }
        guard let digest = Hexadecimal.bytes(parts[1]), digest.count == algorithm.length else {
            throw Failure(
                refusing: .checksum,
                "\(text)",
                because: "\(parts[0]) needs \(algorithm.length * 2) hexadecimal digits"
            )
        }
        return Checksum(algorithm: algorithm, digest: digest)
    }

    /// The given name; unlike a server's it may begin with a dot, but it stays inside the folder.
    private static func fileName(_ options: DownloadOptions) throws(Failure) -> String? {
        guard let name = options.fileName else { return nil }
        try check(fileName: name)
        return name
    }

    /// Refuses libcurl's prefixes (`if!NAME`, `host!NAME`).
    private static func interface(_ name: String) throws(Failure) -> String {
        guard !name.isEmpty, name.utf8.count <= 255, name.utf8.allSatisfy({ $0 > 0x21 && $0 < 0x7F }) else {
            throw Failure(
                refusing: .interface,
                "\(name)",
                because: "must be an interface name or a local address"
            )
        }
        return name
    }

    /// Texts that become part of a request or that C reads up to a NUL; values may be secrets and are not
    /// reported.
    private static func checkTexts(of options: DownloadOptions) throws(Failure) {
        for (name, text) in [
            (Setting.userAgent, options.userAgent), (.referer, options.referer), (.user, options.user),
            (.user, options.password), (.proxy, options.proxy), (.noProxy, options.noProxy),
            (.netrc, options.netrc), (.cookieFile, options.cookieFile),
            (.authorityFile, options.authorityFile), (.certificate, options.certificate), (.key, options.key),
        ] {
            guard let text, !FieldText.isSafe(text) else { continue }
            throw Failure(refusing: name, because: FieldText.flaw)
        }
    }

    static func check(fileName name: String) throws(Failure) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }),
            name.utf8.count <= 255
        else {
            throw refused("the file name \(name)", "must be one path component of 1 to 255 bytes")
        }
    }

    private static func settings(
        _ options: DownloadOptions,
        urlCredentials: Credentials?
    ) throws(Failure) -> TransferSettings.Values {
        var values = TransferSettings.Values()
        try checkTexts(of: options)
        for header in options.headers {
            guard header.contains(":"), FieldText.isSafe(header) else {
                throw Failure(
                    refusing: .header,
                    Redaction.header(header),
                    because: "must be one line of the form Name: value"
                )
            }
        }
        values.headers = options.headers
        values.userAgent = options.userAgent ?? "Pawl/\(PawlVersion.text)"
        values.referer = options.referer
        values.credentials =
            options.user.map { Credentials(user: $0, password: options.password ?? "") } ?? urlCredentials
        values.netrc = options.netrc
        values.cookieFile = options.cookieFile
        values.proxy = options.proxy
        values.noProxy = options.noProxy
        values.interface = try options.interface.map(Job.interface)
        values.verifiesPeer = options.verifiesPeer
        values.authorityFile = options.authorityFile
        values.certificate = options.certificate
        values.key = options.key
        values.usesOwnersSecrets = options.usesOwnersSecrets
        values.connectTimeout = .seconds(options.connectTimeout ?? options.timeout)
        return values
    }
}

/// Interns settings: the transport keeps prepared handles for each instance.
final class TransferSettingsCache: Sendable {
    private let last = Mutex<TransferSettings?>(nil)
    let deniesPrivateAddresses: Bool

    init(deniesPrivateAddresses: Bool) { self.deniesPrivateAddresses = deniesPrivateAddresses }

    func settings(_ values: TransferSettings.Values) -> TransferSettings {
        var values = values
        values.deniesPrivateAddresses = deniesPrivateAddresses
        return last.withLock { last in
            if let last, last.values == values { return last }
            let fresh = TransferSettings(values)
            last = fresh
            return fresh
        }
    }
}
