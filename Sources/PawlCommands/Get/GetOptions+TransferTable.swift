import Pawl
import PawlCore

extension GetOptions {
    static let transfer: [CommandOption<GetOptions>] = [
        CommandOption(
            "connections",
            short: "x",
            aliases: ["max-connection-per-server"],
            takes: .required("N|auto"),
            in: .transfer,
            "connections per file, 1 to 64",
            standard: "auto, up to 8"
        ) { (options, value) throws(Failure) in
            let isAutomatic = value.lowercased() == "auto"
            options.download.connections =
                isAutomatic ? nil : try OptionValues.integer("connections", value, in: 1...64)
        },
        CommandOption(
            "jobs",
            short: "j",
            aliases: ["max-concurrent-downloads"],
            takes: .required("N"),
            in: .transfer,
            "simultaneous downloads",
            standard: "3",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.jobs = try OptionValues.integer("jobs", value, in: 1...1_000)
        },
        CommandOption(
            "limit-rate",
            aliases: ["max-overall-download-limit"],
            takes: .required("RATE"),
            in: .transfer,
            "total speed limit in bytes per second; K, M, G are powers of 1024",
            standard: "none",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.rateLimit = try OptionValues.rate("limit-rate", value)
        },
        CommandOption(
            "retries",
            takes: .required("N"),
            in: .transfer,
            "give up after N retries without progress; progress resets the count; 0 disables retries",
            standard: "5"
        ) { (options, value) throws(Failure) in
            options.download.retries = try OptionValues.integer("retries", value, in: 0...1_000_000)
        },
        CommandOption(
            "retry-delay",
            takes: .required("S"),
            in: .transfer,
            "seconds before the first retry, doubled up to 60; a longer Retry-After takes precedence",
            standard: "1"
        ) { (options, value) throws(Failure) in
            options.download.retryDelay = try OptionValues.seconds("retry-delay", value, zeroAllowed: true)
        },
        CommandOption(
            "max-retry-after",
            takes: .required("S"),
            in: .transfer,
            "longest Retry-After to accept from a server, in seconds",
            standard: "3600"
        ) { (options, value) throws(Failure) in
            options.download.maximumRetryAfter = try OptionValues.seconds(
                "max-retry-after",
                value,
                zeroAllowed: true
            )
        },
        CommandOption(
            "timeout",
            takes: .required("S"),
            in: .transfer,
            "seconds without data before a connection is dropped: connecting, awaiting the response, or between bytes",
            standard: "30"
        ) { (options, value) throws(Failure) in
            options.download.timeout = try OptionValues.seconds("timeout", value, zeroAllowed: false)
        },
        CommandOption(
            "connect-timeout",
            takes: .required("S"),
            in: .transfer,
            "seconds allowed to establish a connection",
            standard: "same as --timeout"
        ) { (options, value) throws(Failure) in
            options.download.connectTimeout = try OptionValues.seconds(
                "connect-timeout",
                value,
                zeroAllowed: false
            )
        },
        CommandOption(
            "lowest-speed-limit",
            takes: .required("RATE"),
            in: .transfer,
            "drop a connection that stays at or below RATE for 10 s and open another; counts as a retry",
            standard: "none"
        ) { (options, value) throws(Failure) in
            options.download.lowestSpeed = try OptionValues.rate("lowest-speed-limit", value)
        },
        CommandOption(
            "interface",
            takes: .required("NAME|IP"),
            in: .transfer,
            "network interface or local address to connect from",
            standard: "chosen by the system"
        ) { (options, value) throws(Failure) in
            options.download.interface = try OptionValues.notEmpty("interface", value)
        },
        CommandOption(
            "max-redirects",
            takes: .required("N"),
            in: .transfer,
            "maximum number of redirects to follow",
            standard: "20"
        ) {
            (options, value) throws(Failure) in
            options.download.maximumRedirects = try OptionValues.integer(
                "max-redirects",
                value,
                in: 0...1_000
            )
        },
    ]

    static let request: [CommandOption<GetOptions>] = [
        CommandOption(
            "header",
            short: "H",
            takes: .required("'N: V'"),
            in: .request,
            "extra request header; repeatable"
        ) {
            (options, value) throws(Failure) in
            options.download.headers.append(try OptionValues.header("header", value))
        },
        CommandOption(
            "user",
            takes: .required("U[:P]"),
            in: .request,
            "user name and password for the given servers; prompts for a missing password"
        ) {
            (options, value) throws(Failure) in
            let parts = try OptionValues.notEmpty("user", try OptionValues.text("user", value))
                .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            options.download.user = parts[0]
            options.download.password = parts.count > 1 ? parts[1] : nil
        },
        CommandOption(
            "netrc",
            takes: .optional("FILE"),
            in: .request,
            "read user names and passwords from FILE",
            standard: "~/.netrc"
        ) { (options, value) in options.download.netrc = value },
        CommandOption(
            "no-netrc",
            takes: .none,
            in: .request,
            "do not read user names and passwords from a netrc file",
            setsOneDownload: false
        ) { (options, _) in options.readsNetrc = false },
        CommandOption("referer", takes: .required("URL"), in: .request, "Referer header") {
            (options, value) throws(Failure) in
            options.download.referer = try OptionValues.text("referer", value)
        },
        CommandOption(
            "user-agent",
            short: "U",
            takes: .required("TEXT"),
            in: .request,
            "User-Agent header",
            standard: "Pawl/\(PawlVersion.text)"
        ) { (options, value) throws(Failure) in
            options.download.userAgent = try OptionValues.text("user-agent", value)
        },
        CommandOption(
            "load-cookies",
            takes: .required("FILE"),
            in: .request,
            "send cookies from FILE (Netscape format)"
        ) { (options, value) throws(Failure) in
            options.download.cookieFile = try OptionValues.notEmpty("load-cookies", value)
        },
    ]

    static let security: [CommandOption<GetOptions>] = [
        CommandOption(
            "proxy",
            aliases: ["all-proxy"],
            takes: .required("URL"),
            in: .security,
            "proxy: http, https, socks4, socks4a, socks5 or socks5h; '' for none",
            standard: "from the environment"
        ) { (options, value) throws(Failure) in
            options.download.proxy = try OptionValues.text("proxy", value)
        },
        CommandOption(
            "no-proxy",
            takes: .required("LIST"),
            in: .security,
            "comma-separated hosts that bypass the proxy"
        ) { (options, value) throws(Failure) in
            options.download.noProxy = try OptionValues.text("no-proxy", value)
        },
        CommandOption(
            "deny-private-addresses",
            takes: .none,
            in: .security,
            "refuse to connect to this machine or private networks, even through names and redirects",
            setsOneDownload: false
        ) { (options, _) in options.deniesPrivateAddresses = true },
        CommandOption(
            "allow-downgrade",
            takes: .none,
            in: .security,
            "follow redirects from https to http (insecure)"
        ) { (options, _) in options.download.allowsDowngrade = true },
        CommandOption(
            "location-trusted",
            takes: .none,
            in: .security,
            "send headers, user and password to redirect targets too, but never from https to http"
        ) { (options, _) in options.download.trustsRedirects = true },
        CommandOption(
            "insecure",
            short: "k",
            takes: .none,
            in: .security,
            "do not verify TLS certificates (insecure)"
        ) {
            (options, _) in options.download.verifiesPeer = false
        },
        CommandOption(
            "cacert",
            aliases: ["ca-certificate"],
            takes: .required("FILE"),
            in: .security,
            "certificate authorities (PEM) to trust instead of the system's"
        ) { (options, value) throws(Failure) in
            options.download.authorityFile = try OptionValues.notEmpty("cacert", value)
        },
        CommandOption(
            "cert",
            aliases: ["certificate"],
            takes: .required("FILE"),
            in: .security,
            "client certificate (PEM)"
        ) {
            (options, value) throws(Failure) in
            options.download.certificate = try OptionValues.notEmpty("cert", value)
        },
        CommandOption(
            "key",
            aliases: ["private-key"],
            takes: .required("FILE"),
            in: .security,
            "private key of the client certificate (PEM)"
        ) {
            (options, value) throws(Failure) in
            options.download.key = try OptionValues.notEmpty("key", value)
        },
    ]
}
