import PawlBase
import PawlCore

// Every option of a download but its folder. A row is complete: only the option's effect stands elsewhere.
extension DownloadOption {
    package static let table = files + sources + transfer + request + security

    /// The names of checksums, as options take them.
    package static let checksumNames = HashAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")

    /// In practice without end.
    package static let mostRetries = RetryPolicy.mostRetries

    package static let files = [
        DownloadOption(
            "output", .optional(\.fileName, .fileName), .fileName, stored: "name", short: "o", aliases: ["out"],
            takes: "FILE", whenKnown: .anotherFile, "write to FILE (one URL only); relative to --dir if given"),
        DownloadOption(
            "naming", .value(\.naming, .choice()), .naming, stored: "naming", takes: "server|url|hash",
            whenKnown: .anotherFile, "source of file names: the server's response, the URL, or a hash of the URL"),
        DownloadOption(
            "if-exists", .value(\.existingFile, .choice()), .existingFile, stored: "existing",
            takes: "rename|resume|overwrite|skip|fail",
            "action if a finished file of that name exists; rename creates 'name (1).ext'"),
        DownloadOption(
            "no-remote-time", .flag(\.keepsServerTime), .keepsServerTime, stored: "servertime", aria2: "remote-time",
            "do not set the file's time to the server's Last-Modified"),
        DownloadOption(
            "xattr", .flag(\.storesAttributes), .storesAttributes, stored: "xattr",
            "store URL and SHA-256 with the file (user.xdg.origin.url, user.pawl.sha256)"),
    ]

    package static let sources = [
        DownloadOption(
            "mirror", .list(\.mirrors, .notEmpty), .mirror, stored: nil, takes: "URL",
            "another URL of the same file (one URL only); repeatable"),
        DownloadOption(
            "range", .optional(\.range, .range), .range, stored: "range", takes: "A-B", whenKnown: .anotherFile,
            "download only these bytes: A-B (inclusive), A- or -N (the last N)"),
        DownloadOption(
            "checksum", .checksums, .checksum, stored: "checksum", aria2: "checksum", takes: "TYPE=HEX",
            whenKnown: .proof, "expected checksum (one URL only): \(checksumNames); repeatable, all must match"),
        DownloadOption(
            "verify", .value(\.verification, .choice()), .verification, stored: "verify",
            takes: "auto|sidecar|signed|required|off",
            "digests to look for: auto: in responses; sidecar: also sums files beside the file; signed: fail without a"
                + " signed one; required: fail without any; off: only --checksum"),
        DownloadOption(
            "keyring", .optional(\.openPGPKeyring, .notEmpty), .openPGPKeyring, stored: "keyring", takes: "FILE",
            namesFile: true, "OpenPGP public keys whose signatures of sums files count (needs gpgv)"),
        DownloadOption(
            "minisign-key", .optional(\.minisignKey, .notEmpty), .minisignKey, stored: "minisignkey", takes: "KEY|FILE",
            namesFile: true, "minisign public key whose signatures of sums files count"),
        DownloadOption(
            "retry-corrupt", .flag(\.retriesCorrupt), .retriesCorrupt, stored: "retrycorrupt",
            "discard bytes on disk whose checksum was wrong, and download them again"),
        DownloadOption(
            "length", .optional(\.expectedLength, .size), .expectedLength, stored: "length", takes: "N",
            whenKnown: .proof, "expected size in bytes (one URL only)"),
    ]

    package static let transfer = [
        DownloadOption(
            "connections", .optional(\.connections, .integer(1...DownloadMachine.mostLanes, none: "auto")),
            .connections, stored: "connections", short: "x", aliases: ["max-connection-per-server"], takes: "N|auto",
            standard: "auto, up to 32", "connections per file, 1 to \(DownloadMachine.mostLanes)"),
        DownloadOption(
            "limit-rate", .optional(\.rateLimit, .rate), .rateLimit, stored: "rate", aliases: ["max-download-limit"],
            aria2: "max-download-limit", takes: "RATE", standard: "none",
            "speed limit per download in bytes per second; K, M, G are powers of 1024"),
        DownloadOption(
            "retries", .value(\.retries, .integer(0...mostRetries)), .retries, stored: "retries", takes: "N",
            "give up after N retries without progress; progress resets the count; 0 disables retries"),
        DownloadOption(
            "retry-delay", .value(\.retryDelay, .seconds(zeroAllowed: true)), .retryDelay, stored: "delay",
            aria2: "retry-wait", takes: "S",
            "seconds before the first retry, doubled up to 60; a longer Retry-After takes precedence"),
        DownloadOption(
            "max-retry-after", .value(\.maximumRetryAfter, .seconds(zeroAllowed: true)), .maximumRetryAfter,
            stored: "retryafter", takes: "S", "longest Retry-After to accept from a server, in seconds"),
        DownloadOption(
            "timeout", .value(\.timeout, .seconds(zeroAllowed: false)), .timeout, stored: "timeout", aria2: "timeout",
            takes: "S",
            "seconds without data before a connection is dropped: connecting, awaiting the response, or between bytes"),
        DownloadOption(
            "connect-timeout", .optional(\.connectTimeout, .seconds(zeroAllowed: false)), .connectTimeout,
            stored: "connecttimeout", aria2: "connect-timeout", takes: "S", standard: "same as --timeout",
            "seconds allowed to establish a connection"),
        DownloadOption(
            "lowest-speed-limit", .optional(\.lowestSpeed, .rate), .lowestSpeed, stored: "lowest",
            aria2: "lowest-speed-limit", takes: "RATE", standard: "none",
            "drop a connection that stays at or below RATE for 10 s and open another; counts as a retry"),
        DownloadOption(
            "interface", .optional(\.interface, .interface), .interface, stored: "interface", aria2: "interface",
            takes: "NAME|IP", standard: "chosen by the system", "network interface or local address to connect from"),
        DownloadOption(
            "ip-version", .value(\.ipVersion, .choice()), .ipVersion, stored: "ipversion", takes: "any|4|6",
            "connect with this version of the Internet Protocol only"),
        DownloadOption(
            "max-redirects", .value(\.maximumRedirects, .integer(0...1000)), .maximumRedirects, stored: "redirects",
            takes: "N", "maximum number of redirects to follow"),
    ]

    package static let request = [
        DownloadOption(
            "header", .list(\.headers, .header), .header, stored: "header", short: "H", aria2: "header",
            takes: "'N: V'", "extra request header; repeatable"),
        DownloadOption(
            "user", .optional(\.user, .text), .user, stored: "user", takes: "U[:P]",
            "user name and password for the given servers; prompts for a missing password"),
        // On the command line and in input files it is given with the user name.
        DownloadOption(
            "password", .optional(\.password, .text), .user, stored: "password", takes: "TEXT",
            "password that goes with the user name"),
        DownloadOption(
            "netrc", .optional(\.netrc, .text), .netrc, stored: "netrc", takes: "FILE", hasOptionalValue: true,
            namesFile: true, standard: "~/.netrc", "read user names and passwords from FILE"),
        DownloadOption(
            "profile", .optional(\.profile, .notEmpty), .profile, stored: "profile", takes: "NAME",
            standard: "from the environment", "profile of ~/.aws with the credentials for s3:// URLs"),
        DownloadOption(
            "region", .optional(\.region, .region), .region, stored: "region", takes: "NAME",
            standard: "from the environment", "region of the bucket of an s3:// URL"),
        DownloadOption(
            "endpoint-url", .optional(\.endpoint, .endpoint), .endpoint, stored: "endpoint", takes: "URL",
            standard: "from the environment, else AWS",
            "object store for s3:// URLs, hub for hf://, server in place of registries for oci://"
        ),
        DownloadOption(
            "no-sign-request", .flag(\.signsRequests), .signsRequests, stored: "signs",
            "send no signature, token or login for s3://, hf:// and oci:// URLs: what is public"),
        DownloadOption(
            "credential-helper", .flag(\.runsCredentialHelpers), .user, stored: "credentialhelper",
            "for oci:// and docker://, run the programs that Docker's configuration names for logins"
                + " (docker-credential-NAME)"),
        DownloadOption(
            "referer", .optional(\.referer, .text), .referer, stored: "referer", aria2: "referer", takes: "URL",
            "Referer header"),
        DownloadOption(
            "user-agent", .optional(\.userAgent, .text), .userAgent, stored: "agent", short: "U", aria2: "user-agent",
            takes: "TEXT", standard: "Pawl/\(PawlVersion.text)", "User-Agent header"),
        DownloadOption(
            "load-cookies", .optional(\.cookieFile, .notEmpty), .cookieFile, stored: "cookies", aria2: "load-cookies",
            takes: "FILE", namesFile: true, "send cookies from FILE (Netscape format)"),
    ]

    package static let security = [
        DownloadOption(
            "proxy", .optional(\.proxy, .proxy), .proxy, stored: "proxy", aliases: ["all-proxy"], takes: "URL",
            standard: "from the environment", "proxy: http, https, socks4, socks4a, socks5 or socks5h; '' for none"),
        DownloadOption(
            "no-proxy", .optional(\.noProxy, .text), .noProxy, stored: "noproxy", aria2: "no-proxy", takes: "LIST",
            "comma-separated hosts that bypass the proxy"),
        DownloadOption(
            "allow-downgrade", .flag(\.allowsDowngrade), .allowsDowngrade, stored: "downgrade",
            "follow redirects from https to http (insecure)"),
        DownloadOption(
            "location-trusted", .flag(\.trustsRedirects), .trustsRedirects, stored: "trusted",
            "send headers, user and password to redirect targets too, but never from https to http"),
        DownloadOption(
            "insecure", .flag(\.verifiesPeer), .verifiesPeer, stored: "verifies", short: "k",
            aliases: ["no-check-certificate"], aria2: "check-certificate", "do not verify TLS certificates (insecure)"),
        DownloadOption(
            "cacert", .optional(\.authorityFile, .notEmpty), .authorityFile, stored: "authorities",
            aliases: ["ca-certificate"], aria2: "ca-certificate", takes: "FILE", namesFile: true,
            "certificate authorities (PEM) to trust instead of the system's"),
        DownloadOption(
            "cert", .optional(\.certificate, .notEmpty), .certificate, stored: "certificate", aliases: ["certificate"],
            aria2: "certificate", takes: "FILE", namesFile: true, "client certificate (PEM)"),
        DownloadOption(
            "key", .optional(\.key, .notEmpty), .key, stored: "key", aliases: ["private-key"], aria2: "private-key",
            takes: "FILE", namesFile: true, "private key of the client certificate (PEM)"),
        DownloadOption(
            "pinned-public-key", .list(\.pinnedPublicKeys, .publicKey), .pinnedPublicKeys, stored: "pin",
            aliases: ["pinnedpubkey"], takes: "sha256//BASE64",
            "accept only servers with this public key; repeatable, one has to match"),
        DownloadOption(
            "resolve", .list(\.addressOverrides, .addressOverride), .addressOverrides, stored: "resolve",
            takes: "HOST:PORT:ADDRESS", "connect to ADDRESS instead of resolving HOST (* for any); repeatable"),
    ]
}
