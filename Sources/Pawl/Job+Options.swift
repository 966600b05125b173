import PawlCore
import PawlDisk
import PawlEngine
import Synchronization

// Converts the caller's options, once they are valid, into a job.
extension Job {
    init(
        source: String,
        options: borrowing DownloadOptions,
        settingsCache: TransferSettingsCache
    ) throws(Failure) {
        let settings = try settingsCache.settings(of: options)
        // The system would end the path there, in another folder.
        guard !options.folder.utf8.contains(0) else {
            throw Failure(
                .badOption,
                "cannot use",
                at: "the folder \(options.folder)",
                because: "it contains a NUL byte",
                remedy: "give another folder"
            )
        }
        let first = try WebAddress.parse(source)
        var sources = [first.address]
        for mirror in options.mirrors { sources.append(try WebAddress.parse(mirror).address) }
        if let prefix = sources.first(where: \.isS3Prefix) {
            throw Failure(
                .badOption,
                "cannot fetch",
                at: prefix.redacted,
                because: LocalizableMessage(
                    "s3-prefix-not-object",
                    "it names a prefix of keys, not an object"
                ),
                remedy: "end it with the object's key"
            )
        }
        // They must fit into the journal together with the file's state.
        guard sources.reduce(0, { $0 + $1.text.utf8.count }) <= Job.longestSources else {
            throw Failure(
                .badOption,
                "cannot use",
                at: "\(sources.count) URLs of one file",
                because: LocalizableMessage(
                    "urls-too-long",
                    "together they are longer than \(Job.longestSources) bytes"
                )
            )
        }
        var plan = DownloadPlan(sources: sources)
        plan.ramp = options.connections.map { .fixed($0) } ?? plan.ramp
        plan.lowestSpeed = options.lowestSpeed.flatMap { $0 > 0 ? $0 : nil }
        plan.retry = RetryPolicy(
            retries: options.retries,
            delay: .seconds(options.retryDelay),
            longestRetryAfter: .seconds(options.maximumRetryAfter)
        )
        plan.allowsDowngrade = options.allowsDowngrade
        plan.timeout = .seconds(options.timeout)
        plan.maximumRedirects = options.maximumRedirects
        plan.keepsServerTime = options.keepsServerTime
        plan.length = options.expectedLength
        if let text = options.range {
            plan.selection = try RangeOption.parse(text)
            plan.length = nil
        }
        plan.checksums = options.checksum.flatMap(Checksum.list) ?? []
        for (text, address) in zip([source] + options.mirrors, sources) {
            for checksum in try DigestFragment.parse(text, of: address)
            where !plan.digests.contains(where: { $0.checksum == checksum }) {
                plan.digests.append(ExpectedDigest(inFragment: checksum))
            }
        }
        try plan.checkGiven()
        plan.verification = VerificationPolicy(rawValue: options.verification.rawValue) ?? .auto
        plan.retriesCorrupt = options.retriesCorrupt
        plan.storesAttributes = options.storesAttributes
        let keys = SigningKeys(keyring: options.openPGPKeyring, minisign: options.minisignKey)
        if !keys.isEmpty { try SystemSignatures.check(keys) }
        self.init(
            plan: plan,
            settings: try settingsCache.settings(
                settings,
                for: first.credentials,
                access: sources.contains { $0.scheme == .s3 } ? settingsCache.stores.access(options) : nil
            ),
            folder: options.folder
        )
        trustsRedirects = options.trustsRedirects
        signingKeys = keys
        fileName = options.fileName
        naming = NamingPolicy(options.naming)
        ifExists = IfExists(options.existingFile)
        rateLimit = options.rateLimit.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Bytes of all URLs of one download together.
    static let longestSources = 1 << 20
}

extension NamingPolicy {
    package init(_ naming: DownloadOptions.Naming) {
        self =
            switch naming {
            case .server: .server
            case .url: .url
            case .hash: .hash
            }
    }
}

extension IfExists {
    fileprivate init(_ policy: DownloadOptions.ExistingFile) {
        self =
            switch policy {
            case .rename: .rename
            case .resume: .resume
            case .overwrite: .overwrite
            case .skip: .skip
            case .fail: .fail
            }
    }
}

extension IPVersion {
    fileprivate init(_ version: DownloadOptions.IPVersion) {
        self =
            switch version {
            case .any: .any
            case .v4: .v4
            case .v6: .v6
            }
    }
}

extension TransferSettings.Values {
    /// The settings that are the same for all URLs.
    init(_ options: DownloadOptions) {
        self.init()
        headers = options.headers
        userAgent = options.userAgent ?? "Pawl/\(PawlVersion.text)"
        referer = options.referer
        credentials = options.user.map { Credentials(user: $0, password: options.password ?? "") }
        netrc = options.netrc
        cookieFile = options.cookieFile
        proxy = options.proxy
        noProxy = options.noProxy
        interface = options.interface
        ipVersion = IPVersion(options.ipVersion)
        verifiesPeer = options.verifiesPeer
        wantsDigest = options.verification != .off
        authorityFile = options.authorityFile
        certificate = options.certificate
        key = options.key
        pinnedPublicKeys = options.pinnedPublicKeys.compactMap(PublicKeyPin.canonical)
        addressOverrides = options.addressOverrides.compactMap { AddressOverride($0) }
        usesOwnersSecrets = options.usesOwnersSecrets
        connectTimeout = .seconds(options.connectTimeout ?? options.timeout)
    }
}

extension DownloadPlan {
    /// Adds digests that the content must have besides the other given ones.
    mutating func add(_ more: [ExpectedDigest]) throws(Failure) {
        digests += more
        try checkGiven()
    }

    fileprivate func checkGiven() throws(Failure) { try given.check() }
}

extension ExpectedDigest {
    /// A digest that a URL states.
    init(inFragment checksum: Checksum) {
        self.init(checksum, level: .given, source: "the URL's fragment")
    }
}

extension [ExpectedDigest] {
    /// Throws code 28 if two contradict each other.
    func check() throws(Failure) {
        guard let (first, second) = contradiction else { return }
        throw Failure(refusing: .checksum, because: .digestsContradict(first, second))
    }
}
