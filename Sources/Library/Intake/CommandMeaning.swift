import PawlBase

/// What an option of a command means for a download.
enum CommandMeaning {
    /// Nothing that matters: whether it has a value.
    case ignored(hasValue: Bool)
    /// An option of a download with that name, whose value is the option's or this one.
    case option(String, fixed: String? = nil)
    case header, cookie, referer, user, method, folder, name, remoteName, tries, url, bearer
    /// URLs are no patterns.
    case globOff
    /// A body, or with `get` a part of the query.
    case data(CommandData)
    case get
    /// A part of the query.
    case query
    case refused(LocalizableMessage)
}

extension CommandMeaning {
    static func table(of program: TransferCommand.Program) -> [String: CommandMeaning] {
        switch program {
        case .curl: curl
        case .wget: wget
        case .aria2c: aria2c
        }
    }

    private static let flag = CommandMeaning.ignored(hasValue: false)
    private static let valued = CommandMeaning.ignored(hasValue: true)

    static let list = LocalizableMessage("command-list", "it reads a file")
    private static let head = LocalizableMessage("command-head", "it requests the header section only")
    static let body = LocalizableMessage("command-body", "it sends a body, and Pawl only downloads")

    /// Each meaning belongs to all names of its text.
    private static func table(_ meanings: [(names: String, CommandMeaning)]) -> [String: CommandMeaning] {
        var table: [String: CommandMeaning] = [:]
        for (names, meaning) in meanings { for name in names.split(separator: " ") { table[String(name)] = meaning } }
        return table
    }

    private static let curl = table([
        ("H header", .header), ("b cookie", .cookie), ("A user-agent", .option("user-agent")), ("e referer", .referer),
        ("u user", .user), ("o output", .name), ("O remote-name", .remoteName), ("output-dir", .folder), ("url", .url),
        ("x proxy", .option("proxy")), ("noproxy", .option("no-proxy")),
        ("k insecure", .option("insecure", fixed: "true")), ("r range", .option("range")),
        ("m max-time y speed-time Y speed-limit retry-max-time c cookie-jar w write-out D dump-header", .valued),
        ("stderr trace trace-ascii limit-rate keepalive-time max-filesize expect100-timeout dns-servers", .valued),
        ("connect-timeout", .option("connect-timeout")), ("retry", .option("retries")),
        ("retry-delay", .option("retry-delay")), ("max-redirs", .option("max-redirects")),
        ("cacert", .option("cacert")), ("E cert", .option("cert")), ("key", .option("key")),
        ("interface", .option("interface")), ("resolve", .option("resolve")),
        ("C continue-at", .valued),
        ("remote-name-all L location compressed s silent S show-error f fail fail-with-body", .flag),
        ("g globoff", .globOff),
        ("# progress-bar v verbose N no-buffer J remote-header-name R remote-time i include", .flag),
        ("0 http1.0 http1.1 http2 http2-prior-knowledge http3 4 ipv4 6 ipv6 n netrc create-dirs", .flag),
        ("path-as-is tr-encoding no-keepalive tcp-nodelay ssl-reqd tlsv1 tlsv1.2 tlsv1.3 Z parallel", .flag),
        ("no-progress-meter retry-connrefused retry-all-errors q disable basic anyauth no-alpn digest", .flag),
        ("location-trusted", .option("location-trusted", fixed: "true")), ("X request", .method),
        ("proto proto-redir proto-default parallel-max create-file-mode tls-max ciphers tls13-ciphers rate", .valued),
        ("ssl-no-revoke no-clobber remove-on-error fail-early styled-output no-styled-output xattr", .flag),
        ("oauth2-bearer", .bearer), ("G get", .get), ("d data data-ascii data-binary", .data(.orFile)),
        ("data-raw", .data(.raw)), ("data-urlencode", .data(.encoded)), ("url-query", .query),
        ("json F form form-string T upload-file", .refused(body)), ("I head", .refused(head)),
        ("K config", .refused(.init("command-config", "it reads a file of curl's options"))),
    ])

    private static let wget = table([
        ("header", .header), ("U user-agent", .option("user-agent")), ("referer", .referer),
        ("load-cookies", .option("load-cookies")), ("user http-user ftp-user", .option("user")),
        ("password http-password http-passwd ftp-password", .option("password")), ("O output-document", .name),
        ("P directory-prefix", .folder), ("t tries", .tries), ("T timeout read-timeout", .option("timeout")),
        ("connect-timeout", .option("connect-timeout")), ("waitretry", .option("retry-delay")),
        ("max-redirect", .option("max-redirects")), ("bind-address", .option("interface")),
        ("no-proxy", .option("no-proxy", fixed: "*")), ("no-check-certificate", .option("insecure", fixed: "true")),
        ("ca-certificate", .option("cacert")), ("certificate", .option("cert")), ("private-key", .option("key")),
        (
            "o output-file a append-output progress limit-rate dns-timeout w wait Q quota prefer-family retry-on-http-error",
            .valued
        ),
        ("compression secure-protocol cut-dirs restrict-file-names certificate-type private-key-type", .valued),
        ("c continue q quiet v verbose nv no-verbose show-progress b background S server-response", .flag),
        ("nc no-clobber N timestamping content-disposition trust-server-names no-hsts no-cache no-cookies", .flag),
        ("4 inet4-only 6 inet6-only nd no-directories nH no-host-directories np no-parent random-wait", .flag),
        ("no-dns-cache no-http-keep-alive retry-connrefused no-if-modified-since auth-no-challenge d debug", .flag),
        ("no-glob no-passive-ftp no-use-server-timestamps no-netrc no-iri", .flag),
        ("method", .method), ("post-data post-file body-data body-file", .refused(body)),
        ("i input-file", .refused(list)),
        (
            "r recursive m mirror p page-requisites k convert-links l level A accept R reject x force-directories",
            .refused(.init("command-recursive", "it follows the links of pages"))
        ), ("spider", .refused(head)),
    ])

    private static let aria2c = table([
        ("header", .header), ("U user-agent", .option("user-agent")), ("referer", .referer),
        ("load-cookies", .option("load-cookies")), ("http-user ftp-user", .option("user")),
        ("http-passwd ftp-passwd", .option("password")), ("o out", .name), ("d dir", .folder),
        ("all-proxy http-proxy https-proxy", .option("proxy")), ("no-proxy", .option("no-proxy")),
        ("x max-connection-per-server", .option("connections")), ("checksum", .option("checksum")),
        ("t timeout", .option("timeout")), ("connect-timeout", .option("connect-timeout")), ("m max-tries", .tries),
        ("retry-wait", .option("retry-delay")), ("ca-certificate", .option("cacert")),
        (
            "s split k min-split-size j max-concurrent-downloads max-download-limit max-overall-download-limit l log",
            .valued
        ),
        ("file-allocation allow-overwrite auto-file-renaming console-log-level summary-interval", .valued),
        ("c continue q quiet D daemon always-resume remote-time R http-accept-gzip", .flag),
        ("check-certificate conditional-get enable-color show-console-readout async-dns", .flag),
        ("i input-file M metalink-file", .refused(list)), ("T torrent-file", .refused(DroppedContent.noTorrents)),
    ])
}

/// How the text of a piece of data becomes a part of a query.
enum CommandData {
    /// `@` at its beginning is followed by the name of a file.
    case orFile
    /// As it is.
    case raw
    /// `CONTENT`, `=CONTENT` or `NAME=CONTENT`, of which the content is percent-encoded; `@` is followed by the name of a file.
    case encoded

    func text(of given: String) throws(Failure) -> String {
        switch self {
        case .raw: return Self.usable(given)
        case .orFile:
            guard !given.hasPrefix("@") else { throw TransferCommand.refusal(given, CommandMeaning.list) }
            return Self.usable(given)
        case .encoded:
            guard let equals = given.firstIndex(of: "=") else {
                guard !given.contains("@") else { throw TransferCommand.refusal(given, CommandMeaning.list) }
                return Self.encoded(given)
            }
            let content = Self.encoded(String(given[given.index(after: equals)...]))
            return equals == given.startIndex ? content : "\(Self.usable(String(given[..<equals])))=\(content)"
        }
    }

    /// Only what no query can have is encoded.
    private static func usable(_ text: String) -> String {
        let bytes = PercentCoding.encoded(text.utf8) { $0 > 0x20 && $0 < 0x7F && $0 != .hash }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func encoded(_ text: String) -> String { PercentCoding.reversible(text.utf8, keepingSlash: false) }
}
