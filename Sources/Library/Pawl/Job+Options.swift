import PawlBase
import PawlCore
import PawlEngine
import PawlIntegrity
import PawlJournal
import Synchronization

// Converts the caller's options, once they are valid, into a job.
extension Job {
    init(source: String, options: borrowing DownloadOptions, settingsCache: TransferSettingsCache) throws(Failure) {
        let settings = try settingsCache.settings(of: options)
        try Self.check(folder: options.folder)
        let first = try WebAddress.parse(source)
        var sources = [first.address]
        for mirror in options.mirrors { sources.append(try WebAddress.parse(mirror).address) }
        try Self.check(sources)
        var plan = DownloadPlan(sources: sources)
        try plan.use(options, of: [source] + options.mirrors)
        let keys = SigningKeys(keyring: options.openPGPKeyring, minisign: options.minisignKey)
        if !keys.isEmpty { try SystemSignatures.check(keys) }
        let accesses = try settingsCache.accesses(of: sources, options)
        // No redirect is less secure than a store or hub that is itself asked without encryption.
        let isClear = sources.contains { source in
            guard case .located(let scheme) = source.scheme, !scheme.holdsURL else { return false }
            return accesses[scheme]?.locating.location(of: source).scheme == .http
        }
        if isClear { plan.allowsDowngrade = true }
        self.init(
            plan: plan,
            settings: settingsCache.settings(settings, for: first.credentials, accesses: accesses),
            folder: options.folder)
        trustsRedirects = options.trustsRedirects
        signingKeys = keys
        fileName = options.fileName
        naming = NamingPolicy(options.naming)
        ifExists = IfExists(options.existingFile)
        rateLimit = options.rateLimit.flatMap { $0 > 0 ? $0 : nil }
    }

    private static func check(folder: String) throws(Failure) {
        // The system would end the path there, in another folder.
        guard !folder.utf8.contains(0) else {
            throw Failure(
                .badOption, "cannot use", at: "the folder \(folder)", because: "it contains a NUL byte",
                remedy: "give another folder")
        }
    }

    private static func check(_ sources: [WebAddress]) throws(Failure) {
        if let prefix = sources.first(where: \.isPrefix) {
            throw Failure(
                .badOption, "cannot fetch", at: prefix.redacted,
                because: LocalizableMessage("s3-prefix-not-object", "it names a prefix of keys, not an object"),
                remedy: "end it with the object's key")
        }
        if let refusal = sources.lazy.compactMap(Features.refusal).first { throw refusal }
        // They must fit into the journal together with the file's state.
        guard sources.reduce(0, { $0 + $1.text.utf8.count }) <= longestSources else {
            throw Failure(
                .badOption, "cannot use", at: "\(sources.count) URLs of one file",
                because: LocalizableMessage("urls-too-long", "together they are longer than \(longestSources) bytes"))
        }
    }

    /// Bytes of all URLs of one download together.
    static let longestSources = 1 << 20
}

extension DownloadPlan {
    /// Takes what the options say of it; `texts` are its sources as they were given.
    fileprivate mutating func use(_ options: borrowing DownloadOptions, of texts: [String]) throws(Failure) {
        ramp = options.connections.map { .fixed($0) } ?? ramp
        lowestSpeed = options.lowestSpeed.flatMap { $0 > 0 ? $0 : nil }
        retry = RetryPolicy(options)
        allowsDowngrade = options.allowsDowngrade
        timeout = Interval(options.timeout)
        maximumRedirects = options.maximumRedirects
        keepsServerTime = options.keepsServerTime
        length = options.expectedLength
        if let text = options.range {
            selection = try RangeOption.parse(text)
            length = nil
        }
        checksums = options.checksum.flatMap(Checksum.list) ?? []
        for (text, address) in zip(texts, sources) {
            for checksum in try DigestFragment.parse(text, of: address)
            where !digests.contains(where: { $0.checksum == checksum }) {
                digests.append(ExpectedDigest(inFragment: checksum))
            }
        }
        try checkGiven()
        verification = VerificationPolicy(rawValue: options.verification.rawValue) ?? .auto
        retriesCorrupt = options.retriesCorrupt
        storesAttributes = options.storesAttributes
    }
}

extension RetryPolicy {
    init(_ options: borrowing DownloadOptions) {
        self.init(
            retries: options.retries, delay: Interval(options.retryDelay),
            longestRetryAfter: Interval(options.maximumRetryAfter))
    }
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
    init(_ policy: DownloadOptions.ExistingFile) {
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
        deniesPrivateAddresses = options.deniesPrivateAddresses
        connectTimeout = Interval(options.connectTimeout ?? options.timeout)
        accesses = Features.usualAccesses
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
    init(inFragment checksum: Checksum) { self.init(checksum, level: .given, source: "the URL's fragment") }
}

extension [ExpectedDigest] {
    /// Throws code 28 if two contradict each other.
    func check() throws(Failure) {
        guard let (first, second) = contradiction else { return }
        throw Failure(refusing: .checksum, because: .digestsContradict(first, second))
    }
}
