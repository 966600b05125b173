extension Aria2Option {
    private typealias Row = (name: String, kind: Kind, fallback: String?)

    /// For new downloads and for all downloads, and changeable later.
    private static let everywhere: [Row] = [
        ("all-proxy", .text, nil), ("all-proxy-passwd", .text, nil), ("all-proxy-user", .text, nil),
        ("allow-overwrite", .flag, "false"), ("allow-piece-length-change", .flag, "false"),
        ("always-resume", .flag, "true"), ("async-dns", .flag, "true"), ("auto-file-renaming", .flag, "true"),
        ("check-integrity", .flag, "false"), ("conditional-get", .flag, "false"),
        ("connect-timeout", .number(1...600), nil), ("content-disposition-default-utf8", .flag, "false"),
        ("continue", .flag, "false"), ("dir", .text, nil), ("enable-http-keep-alive", .flag, "true"),
        ("enable-http-pipelining", .flag, "false"), ("enable-mmap", .flag, "false"),
        ("file-allocation", .choice(["none", "prealloc", "trunc", "falloc"]), "prealloc"),
        ("follow-metalink", .choice(["true", "false", "mem"]), "true"),
        ("follow-torrent", .choice(["true", "false", "mem"]), "true"), ("force-save", .flag, "false"),
        ("ftp-passwd", .text, nil), ("ftp-pasv", .flag, "true"), ("ftp-proxy", .text, nil),
        ("ftp-proxy-passwd", .text, nil), ("ftp-proxy-user", .text, nil), ("ftp-reuse-connection", .flag, "true"),
        ("ftp-type", .choice(["binary", "ascii"]), "binary"), ("ftp-user", .text, nil),
        ("hash-check-only", .flag, "false"), ("header", .lines, nil), ("http-accept-gzip", .flag, "false"),
        ("http-auth-challenge", .flag, "false"), ("http-no-cache", .flag, "false"), ("http-passwd", .text, nil),
        ("http-proxy", .text, nil), ("http-proxy-passwd", .text, nil), ("http-proxy-user", .text, nil),
        ("http-user", .text, nil), ("https-proxy", .text, nil), ("https-proxy-passwd", .text, nil),
        ("https-proxy-user", .text, nil), ("lowest-speed-limit", .size(0...Int64.max), "0"),
        ("max-connection-per-server", .number(1...16), "8"), ("max-download-limit", .size(0...Int64.max), "0"),
        ("max-file-not-found", .number(0...Int64.max), "0"), ("max-mmap-limit", .number(0...Int64.max), nil),
        ("max-resume-failure-tries", .number(0...Int64.max), "0"), ("max-tries", .number(0...Int64.max), nil),
        ("max-upload-limit", .size(0...Int64.max), "0"), ("metalink-enable-unique-protocol", .flag, "true"),
        ("metalink-language", .text, nil), ("metalink-location", .text, nil), ("metalink-os", .text, nil),
        ("metalink-preferred-protocol", .choice(["http", "https", "ftp", "none"]), "none"),
        ("metalink-version", .text, nil), ("min-split-size", .size(1 << 20...1 << 30), "1048576"),
        ("no-file-allocation-limit", .size(0...Int64.max), "5242880"), ("no-netrc", .flag, "false"),
        ("no-proxy", .text, nil), ("proxy-method", .choice(["get", "tunnel"]), "get"),
        ("realtime-chunk-checksum", .flag, "true"), ("referer", .text, nil), ("remote-time", .flag, nil),
        ("remove-control-file", .flag, "false"), ("retry-wait", .number(0...600), nil), ("reuse-uri", .flag, "true"),
        ("save-not-found", .flag, "true"), ("split", .number(1...Int64.max), "8"), ("ssh-host-key-md", .text, nil),
        ("stream-piece-selector", .choice(["default", "inorder", "random", "geom"]), "default"),
        ("timeout", .number(1...600), nil), ("uri-selector", .choice(["inorder", "feedback", "adaptive"]), "feedback"),
        ("use-head", .flag, "false"), ("user-agent", .text, nil),
    ]

    /// For one download, and changeable later.
    private static let perDownload: [Row] = [
        ("checksum", .checksum, nil), ("index-out", .lines, nil), ("out", .text, nil), ("select-file", .text, nil),
    ]

    /// For new downloads only.
    private static let once: [Row] = [("gid", .identifier, nil), ("pause", .flag, "false")]

    /// For new downloads and for all, but not changeable later.
    private static let onceOrGlobal: [Row] = [
        ("dry-run", .flag, "false"), ("metalink-base-uri", .text, nil), ("parameterized-uri", .flag, "false"),
        ("piece-length", .size(1 << 20...1 << 30), "1048576"), ("rpc-save-upload-metadata", .flag, "true"),
    ]

    /// For all downloads only.
    private static let globalOnly: [Row] = [
        ("keep-unfinished-download-result", .flag, "true"),
        ("log-level", .choice(["debug", "info", "notice", "warn", "error"]), "debug"),
        ("max-concurrent-downloads", .number(1...Int64.max), "3"),
        ("max-download-result", .number(0...Int64.max), "1000"),
        ("max-overall-download-limit", .size(0...Int64.max), "0"),
        ("max-overall-upload-limit", .size(0...Int64.max), "0"), ("optimize-concurrent-downloads", .text, "false"),
    ]

    /// Readable, and set only when the service is started.
    ///
    /// Among them are file names: no RPC call can choose where a log, a session or cookies are written.
    private static let reportedOnly: [Row] = [
        ("auto-save-interval", .number(0...600), "60"), ("check-certificate", .flag, nil),
        ("disable-ipv6", .flag, "false"), ("disk-cache", .size(0...Int64.max), "0"),
        ("download-result", .choice(["default", "full", "hide"]), "default"), ("enable-rpc", .flag, "true"),
        ("interface", .text, nil), ("log", .text, nil), ("rpc-allow-origin-all", .flag, "false"),
        ("rpc-listen-all", .flag, "false"), ("rpc-listen-port", .number(0...65535), "6800"),
        ("rpc-max-request-size", .size(0...Int64.max), "2097152"), ("rpc-secure", .flag, "false"),
        ("save-cookies", .text, nil), ("save-session", .text, nil),
        ("save-session-interval", .number(0...Int64.max), "0"), ("select-least-used-host", .flag, "true"),
        ("server-stat-of", .text, nil), ("server-stat-timeout", .number(0...Int64.max), "86400"),
        ("summary-interval", .number(0...Int64.max), "60"),
    ]

    /// All known options by name.
    package static let table: [String: Aria2Option] = {
        let groups: [([Row], Scope)] = [
            (everywhere, [.initial, .changeable, .global]), (perDownload, [.initial, .changeable]), (once, [.initial]),
            (onceOrGlobal, [.initial, .global]), (globalOnly, [.global]), (reportedOnly, [.reported]),
        ]
        var table: [String: Aria2Option] = [:]
        for (rows, scope) in groups {
            for row in rows {
                table[row.name] = Aria2Option(
                    name: row.name, kind: row.kind, fallback: row.fallback ?? Aria2Options.standards[row.name],
                    scope: scope)
            }
        }
        for (name, value) in torrents {
            table[name] = Aria2Option(name: name, kind: .text, fallback: value, scope: .reported)
        }
        return table
    }()
}

extension Aria2Option {
    /// aria2's defaults of BitTorrent's options, which clients show; setting them has no effect.
    static let torrents: [String: String] = [
        "bt-detach-seed-only": "false", "bt-enable-hook-after-hash-check": "true", "bt-enable-lpd": "false",
        "bt-force-encryption": "false", "bt-hash-check-seed": "true", "bt-load-saved-metadata": "false",
        "bt-max-open-files": "100", "bt-max-peers": "55", "bt-metadata-only": "false", "bt-min-crypto-level": "plain",
        "bt-remove-unselected-file": "false", "bt-request-peer-speed-limit": "51200", "bt-require-crypto": "false",
        "bt-save-metadata": "false", "bt-seed-unverified": "false", "bt-stop-timeout": "0",
        "bt-tracker-connect-timeout": "60", "bt-tracker-interval": "0", "bt-tracker-timeout": "60",
        "dht-listen-port": "6881-6999", "dht-message-timeout": "10", "enable-dht": "true", "enable-dht6": "false",
        "enable-peer-exchange": "true", "listen-port": "6881-6999", "pause-metadata": "false", "seed-ratio": "1.0",
    ]
}
