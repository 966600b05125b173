package import PawlAria2
import PawlServer
import PawlTerminal

/// One of aria2c's options.
package struct Aria2cRow: Sendable {
    package enum Role: Hashable, Sendable {
        case meant
        /// Accepted for compatibility with aria2c's command line, without effect.
        case nothing
        /// Requests a text.
        case text
    }

    package var option: Aria2Option
    package var short: Character?
    package var role: Role
    /// Its description in help.
    var help: String
    var group: OptionGroup

    private static let levels = ["debug", "info", "notice", "warn", "error"]

    /// Every option, in display order.
    package static let table: [Aria2cRow] =
        start + calls + files + session + watching + rest + torrents + silent + checked

    package static let named = Dictionary(table.map { ($0.option.name, $0) }) { first, _ in first }

    private typealias Words = (name: String, short: Character?, kind: Aria2Option.Kind, help: String)

    private static func rows(_ group: OptionGroup, _ rows: [Words]) -> [Aria2cRow] {
        rows.map { row in
            Aria2cRow(
                // An option that RPC has too accepts the same values.
                option: Aria2Option.table[row.name]
                    ?? Aria2Option(name: row.name, kind: row.kind, fallback: nil, scope: []), short: row.short,
                role: row.name == "help" || row.name == "version" ? .text : .meant, help: row.help, group: group)
        }
    }

    private static let start = rows(
        .setup,
        [
            ("conf-path", nil, .text, "configuration file of NAME=VALUE lines [aria2's locations]"),
            ("no-conf", nil, .flag, "read no configuration file"), ("daemon", "D", .flag, "run in the background"),
            ("help", "h", .text, "show help: a tag such as #http, #all, or a part of names"),
            ("version", "v", .flag, "show the version"), ("quiet", "q", .flag, "print nothing"),
            ("stderr", nil, .flag, "print on standard error instead of standard output"),
            ("console-log-level", nil, .choice(Aria2cRow.levels), "minimum level of messages [notice]"),
            ("show-console-readout", nil, .flag, "print progress once a second [true]"),
            ("truncate-console-readout", nil, .flag, "cut progress to the terminal's width [true]"),
            ("human-readable", nil, .flag, "print sizes with units [true]"),
            ("enable-color", nil, .flag, "print in colors [true]"),
            ("stop-with-process", nil, .number(0...Int64.max), "exit when the process with this ID does"),
        ])

    private static let calls = rows(
        .access,
        [
            ("enable-rpc", nil, .flag, "run an RPC service"),
            ("rpc-listen-port", nil, .number(0...65535), "port for HTTP and WebSocket [6800]"),
            ("rpc-listen-all", nil, .flag, "listen on all addresses; requires a secret or a login"),
            ("rpc-secret", nil, .text, "RPC secret"), ("rpc-user", nil, .text, "RPC user name, instead of a secret"),
            ("rpc-passwd", nil, .text, "RPC password"),
            ("rpc-allow-origin-all", nil, .flag, "allow requests from any origin (CORS)"),
            ("rpc-secure", nil, .flag, "use TLS"), ("rpc-certificate", nil, .text, "certificate (PEM)"),
            ("rpc-private-key", nil, .text, "private key of the certificate (PEM)"),
            ("rpc-max-request-size", nil, .text, "maximum request size [2M]"),
            (
                "rpc-allow-unauthenticated", nil, .flag,
                "with --rpc-listen-all: other machines need no secret (insecure)"
            ), ("host-name", nil, .lines, "a name by which the service is reached; repeatable"),
        ])

    private static let files = rows(
        .files,
        [
            ("dir", "d", .text, "folder for files; with --enable-rpc, nothing is written outside it [.]"),
            ("out", "o", .text, "file name"),
            ("force-sequential", "Z", .flag, "each URL is a file; otherwise all are mirrors of one file"),
            ("input-file", "i", .text, "read URLs from a file: one download per line, options below"),
            ("deferred-input", nil, .flag, "accepted: the list is read as a whole"),
            ("show-files", "S", .flag, "print the files of a Metalink or torrent only"),
            ("netrc-path", nil, .text, "netrc file [~/.netrc]"),
            ("metalink-file", "M", .text, "download the files of a Metalink"),
            ("torrent-file", "T", .text, "download the files of a torrent"),
            ("continue", "c", .flag, "resume an existing file"), ("checksum", nil, .text, "expected checksum"),
            ("load-cookies", nil, .text, "cookie file (Netscape format)"),
            ("save-cookies", nil, .text, "file to save cookies to on exit, not with --enable-rpc"),
        ])

    private static let session = rows(
        .queue,
        [
            ("save-session", nil, .text, "file to save unfinished downloads to on exit"),
            ("save-session-interval", nil, .number(0...Int64.max), "save them every N seconds too"),
            ("max-concurrent-downloads", "j", .text, "simultaneous downloads [5]"),
            ("max-overall-download-limit", nil, .text, "total speed limit in bytes per second [none]"),
        ])

    private static let watching = rows(
        .watching,
        Hooks.Occasion.allCases.map { occasion in ("on-download-\(occasion.rawValue)", nil, .text, "run CMD GID N PATH")
        } + [
            ("log", "l", .text, "append what is printed to this file; - for standard output"),
            ("stop", nil, .number(0...Int64.max), "exit after N seconds [never]"),
        ])

    /// Options that RPC has too, and options of the command line only.
    private static let rest: [Aria2cRow] = {
        let shorts: [String: Character] = [
            "split": "s", "max-connection-per-server": "x", "min-split-size": "k", "timeout": "t", "max-tries": "m",
            "no-netrc": "n", "remote-time": "R", "user-agent": "U", "file-allocation": "a", "check-integrity": "V",
            "parameterized-uri": "P", "ftp-pasv": "p", "index-out": "O", "max-upload-limit": "u",
        ]
        let known = Set((start + calls + files + session + watching + torrents + silent + checked).map(\.option.name))
        let shared = Aria2Option.table.values.filter { !known.contains($0.name) }.sorted { $0.name < $1.name }
        let own = rows(
            .security,
            [
                ("ca-certificate", nil, .text, "certificate authorities (PEM)"),
                ("certificate", nil, .text, "client certificate (PEM)"),
                ("private-key", nil, .text, "private key of the client certificate (PEM)"),
            ])
        return own
            + shared.map {
                Aria2cRow(option: $0, short: shorts[$0.name], role: .meant, help: "see aria2c(1)", group: .transfer)
            }
    }()

    private static func silent(_ names: String, flags: String, in group: OptionGroup, _ help: String) -> [Aria2cRow] {
        func row(_ name: Substring, _ kind: Aria2Option.Kind) -> Aria2cRow {
            let option = Aria2Option(name: String(name), kind: kind, fallback: nil, scope: [])
            return Aria2cRow(option: option, short: nil, role: .nothing, help: help, group: group)
        }
        return names.split(whereSeparator: \.isWhitespace).sorted().map { row($0, .text) }
            + flags.split(whereSeparator: \.isWhitespace).map { row($0, .flag) }
    }

    private static let torrents = silent(
        """
        listen-port seed-time seed-ratio peer-id-prefix peer-agent dht-listen-port dht-entry-point \
        dht-file-path dht-listen-addr6 dht-entry-point6 dht-file-path6 bt-external-ip bt-prioritize-piece \
        bt-lpd-interface bt-tracker bt-exclude-tracker on-bt-download-complete
        """,
        flags: """
            enable-peer-exchange enable-dht enable-dht6 bt-require-crypto bt-seed-unverified \
            bt-hash-check-seed bt-save-metadata bt-metadata-only bt-enable-lpd bt-remove-unselected-file \
            bt-detach-seed-only bt-force-encryption bt-enable-hook-after-hash-check bt-load-saved-metadata \
            pause-metadata
            """, in: .torrents, "ignored: there are no peers")

    private static let silent = silent(
        """
        multiple-interface async-dns-server server-stat-if
        """,
        flags: """
            enable-async-dns6
            """, in: .ignored, "ignored")

    /// Without effect too, but not with any value.
    private static let checked: [Aria2cRow] = {
        let counts: [(String, ClosedRange<Int64>)] = [
            ("bt-max-open-files", 1...Int64.max), ("bt-max-peers", 0...Int64.max), ("bt-stop-timeout", 0...Int64.max),
            ("bt-tracker-connect-timeout", 1...600), ("bt-tracker-interval", 0...Int64.max),
            ("bt-tracker-timeout", 1...600), ("dht-message-timeout", 1...60), ("dscp", 0...Int64.max),
            ("rlimit-nofile", 1...Int64.max),
        ]
        let others: [(String, Aria2Option.Kind)] = [
            ("bt-min-crypto-level", .choice(["plain", "arc4"])), ("bt-request-peer-speed-limit", .size(0...Int64.max)),
            ("event-poll", .choice(["epoll", "poll", "select"])),
            ("min-tls-version", .choice(["TLSv1.1", "TLSv1.2", "TLSv1.3"])),
            ("socket-recv-buffer-size", .size(0...16 << 20)),
        ]
        return (counts.map { ($0, Aria2Option.Kind.number($1)) } + others).map { name, kind in
            let isOfTorrents = name.hasPrefix("bt-") || name.hasPrefix("dht-")
            return Aria2cRow(
                option: Aria2Option(name: name, kind: kind, fallback: nil, scope: []), short: nil, role: .nothing,
                help: isOfTorrents ? "ignored: there are no peers" : "ignored",
                group: isOfTorrents ? .torrents : .ignored)
        }
    }()
}
