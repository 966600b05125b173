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
            "connections to one file, 1 to 64",
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
            "files at once",
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
            "bytes a second of all downloads together; K, M, G are powers of 1024",
            standard: "none",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.rateLimit = try OptionValues.rate("limit-rate", value)
        },
        CommandOption(
            "retries",
            takes: .required("N"),
            in: .transfer,
            "attempts after the first that bring no new byte; progress starts the count again; 0 means none",
            standard: "5"
        ) { (options, value) throws(Failure) in
            options.download.retries = try OptionValues.integer("retries", value, in: 0...1_000_000)
        },
        CommandOption(
            "retry-delay",
            takes: .required("S"),
            in: .transfer,
            "seconds before the first retry, doubled up to 60; a server's longer Retry-After wins",
            standard: "1"
        ) { (options, value) throws(Failure) in
            options.download.retryDelay = try OptionValues.seconds("retry-delay", value, zeroAllowed: true)
        },
        CommandOption(
            "max-retry-after",
            takes: .required("S"),
            in: .transfer,
            "longest wait in seconds that a server's Retry-After can ask for",
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
            "longest silence in seconds: connecting, waiting for the answer, or between bytes",
            standard: "30"
        ) { (options, value) throws(Failure) in
            options.download.timeout = try OptionValues.seconds("timeout", value, zeroAllowed: false)
        },
        CommandOption(
            "connect-timeout",
            takes: .required("S"),
            in: .transfer,
            "longest wait in seconds for a connection to be made",
            standard: "as --timeout"
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
            "close a connection that brings no more than this for 10 s and try another; counts as a retry",
            standard: "none"
        ) { (options, value) throws(Failure) in
            options.download.lowestSpeed = try OptionValues.rate("lowest-speed-limit", value)
        },
        CommandOption(
            "interface",
            takes: .required("NAME|IP"),
            in: .transfer,
            "network interface, or address of this machine, that connections go out by",
            standard: "as the system chooses"
        ) { (options, value) throws(Failure) in
            options.download.interface = try OptionValues.notEmpty("interface", value)
        },
        CommandOption(
            "max-redirects",
            takes: .required("N"),
            in: .transfer,
            "redirects to follow",
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
            "user name and password for the given servers; a password that is left out is asked for"
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
            "user names and passwords from FILE",
            standard: "your own ~/.netrc"
        ) { (options, value) in options.download.netrc = value },
        CommandOption(
            "no-netrc",
            takes: .none,
            in: .request,
            "use no user names and passwords of a netrc file",
            setsOneDownload: false
        ) { (options, _) in options.readsNetrc = false },
        CommandOption("referer", takes: .required("URL"), in: .request, "the Referer field") {
            (options, value) throws(Failure) in
            options.download.referer = try OptionValues.text("referer", value)
        },
        CommandOption(
            "user-agent",
            short: "U",
            takes: .required("TEXT"),
            in: .request,
            "the User-Agent field",
            standard: "Pawl/\(PawlVersion.text)"
        ) { (options, value) throws(Failure) in
            options.download.userAgent = try OptionValues.text("user-agent", value)
        },
        CommandOption(
            "load-cookies",
            takes: .required("FILE"),
            in: .request,
            "send cookies from a file in Netscape's format"
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
            "http, https, socks4, socks4a, socks5 or socks5h; '' uses none",
            standard: "as the environment says"
        ) { (options, value) throws(Failure) in
            options.download.proxy = try OptionValues.text("proxy", value)
        },
        CommandOption(
            "no-proxy",
            takes: .required("LIST"),
            in: .security,
            "hosts that are reached without it, separated by commas"
        ) { (options, value) throws(Failure) in
            options.download.noProxy = try OptionValues.text("no-proxy", value)
        },
        CommandOption(
            "deny-private-addresses",
            takes: .none,
            in: .security,
            "connect to no address of this machine or a private network, whatever names and redirects say",
            setsOneDownload: false
        ) { (options, _) in options.deniesPrivateAddresses = true },
        CommandOption(
            "allow-downgrade",
            takes: .none,
            in: .security,
            "follow redirects from https to http, where anybody on the way can read and change all"
        ) { (options, _) in options.download.allowsDowngrade = true },
        CommandOption(
            "location-trusted",
            takes: .none,
            in: .security,
            "send headers, user and password to wherever redirects lead, but never from https to http"
        ) { (options, _) in options.download.trustsRedirects = true },
        CommandOption(
            "insecure",
            short: "k",
            takes: .none,
            in: .security,
            "take any certificate; whoever is in between can read and change all"
        ) {
            (options, _) in options.download.verifiesPeer = false
        },
        CommandOption(
            "cacert",
            aliases: ["ca-certificate"],
            takes: .required("FILE"),
            in: .security,
            "certificate authorities (PEM) instead of the system's"
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
            "its key (PEM)"
        ) {
            (options, value) throws(Failure) in
            options.download.key = try OptionValues.notEmpty("key", value)
        },
    ]
}
