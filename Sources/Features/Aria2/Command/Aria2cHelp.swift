import PawlAria2
import PawlBase
import PawlJournal

/// The output of `aria2c -h`, in aria2c's format: scripts search it for options.
package enum Aria2cHelp {
    /// Help on a tag such as `#http` or on options whose names contain the text; without it, on the basic
    /// options.
    package static func text(on topic: String) -> String {
        let topic = topic.isEmpty ? "#basic" : topic
        let (chosen, heading) = choose(topic)
        let usage = "Usage: aria2c [OPTIONS] [URI | METALINK_FILE]...\n\(heading)\n"
        return usage + chosen.map(entry).joined(separator: "\n") + "Refer to man page for more information.\n"
    }

    private static func choose(_ topic: String) -> (rows: [Aria2cRow], heading: String) {
        let known = Aria2cRow.table.filter { $0.role != .nothing }
        guard topic != "#all" else { return (known, "Printing all options.\nOptions:") }
        guard !topic.hasPrefix("#") else {
            let heading = "Printing options tagged with '\(topic)'."
            let advice = "See 'aria2c -h#help' to know all available tags."
            return (known.filter { tags(of: $0).contains(topic) }, "\(heading)\n\(advice)\nOptions:")
        }
        let word = topic.drop { $0 == "-" }
        let found = known.filter { $0.option.name.contains(word) }
        guard found.isEmpty else { return (found, "Printing options whose name includes '\(word)'.\nOptions:") }
        return (known.filter { $0.option.name == "help" }, "No option matching with '\(word)'.")
    }

    private static let column = 30
    private static let width = 80

    private static func entry(_ row: Aria2cRow) -> String {
        let name = " \(row.short.map { "-\($0), " } ?? "")--\(row.option.name)\(placeholder(row))"
        let margin = String(repeating: " ", count: column)
        var lines = wrapped(row.help)
        let first = name.count < column ? name + margin.dropFirst(name.count) + lines.removeFirst() : name
        var text = ([first] + lines.map { margin + $0 }).joined(separator: "\n") + "\n\n"
        if let values = values(row) { text += "\(margin)Possible Values: \(values)\n" }
        if let fallback = Aria2cOptions.defaults[row.option.name] ?? row.option.fallback {
            text += "\(margin)Default: \(fallback)\n"
        }
        return text + "\(margin)Tags: \(tags(of: row).joined(separator: ", "))\n"
    }

    private static func wrapped(_ text: String) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.count + word.count >= width - column, !line.isEmpty {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] = line.isEmpty ? String(word) : "\(line) \(word)"
            }
        }
        return lines
    }

    private static func placeholder(_ row: Aria2cRow) -> String {
        guard row.role != .text else { return row.option.name == "help" ? "[=TAG|KEYWORD]" : "" }
        switch row.option.kind {
        case .flag: return "[=true|false]"
        case .number: return "=N"
        case .size: return "=SIZE"
        case .choice: return "=VALUE"
        case .text, .identifier, .checksum, .lines: return "=VALUE"
        }
    }

    private static func values(_ row: Aria2cRow) -> String? {
        if row.option.name == "help" { return (tagged.map(\.tag) + ["#help", "#all"]).joined(separator: ", ") }
        guard row.role != .text else { return nil }
        switch row.option.kind {
        case .flag: return "true, false"
        case .number(let range), .size(let range):
            return range.upperBound == .max ? "\(range.lowerBound)-*" : "\(range.lowerBound)-\(range.upperBound)"
        case .choice(let words): return words.joined(separator: ", ")
        case .checksum: return "HASH_TYPE=HEX_DIGEST"
        case .text, .identifier, .lines: return nil
        }
    }

    private static func tags(of row: Aria2cRow) -> [String] {
        let name = row.option.name
        return tagged.filter { $0.names.contains(name) }.map(\.tag) + (name == "help" ? ["#help"] : [])
    }

    private static func names(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// aria2's tags and their options.
    private static let tagged: [(tag: String, names: Set<String>)] = [
        (
            "#basic",
            names(
                """
                version help log dir out split file-allocation check-integrity continue input-file max- \
                concurrent-downloads force-sequential max-connection-per-server min-split-size ftp-user \
                ftp-passwd http-user http-passwd load-cookies show-files max-overall-upload-limit max- \
                upload-limit torrent-file listen-port enable-dht dht-listen-port enable-dht6 dht-listen- \
                addr6 metalink-file
                """)
        ),
        (
            "#advanced",
            names(
                """
                auto-save-interval daemon piece-length no-file-allocation-limit allow-overwrite \
                deferred-input optimize-concurrent-downloads auto-file-renaming parameterized-uri allow- \
                piece-length-change no-conf conf-path stop quiet async-dns summary-interval log-level \
                console-log-level event-poll on-download-start on-download-pause on-download-stop on- \
                download-complete on-download-error interface multiple-interface disable-ipv6 human- \
                readable remove-control-file always-resume max-resume-failure-tries save-session \
                conditional-get enable-async-dns6 max-download-result async-dns-server show-console- \
                readout truncate-console-readout pause download-result hash-check-only stop-with-process \
                enable-mmap force-save save-not-found disk-cache gid save-session-interval enable-color \
                dscp pause-metadata rlimit-nofile min-tls-version socket-recv-buffer-size max-mmap-limit \
                stderr keep-unfinished-download-result content-disposition-default-utf8 on-bt-download- \
                complete
                """)
        ),
        (
            "#http",
            names(
                """
                timeout connect-timeout max-tries out split referer lowest-speed-limit piece-length max- \
                overall-download-limit max-download-limit continue no-netrc uri-selector server-stat- \
                timeout server-stat-if server-stat-of remote-time max-file-not-found dry-run reuse-uri \
                always-resume max-resume-failure-tries max-connection-per-server min-split-size \
                conditional-get retry-wait stream-piece-selector checksum http-user http-passwd user- \
                agent load-cookies save-cookies enable-http-keep-alive enable-http-pipelining header \
                certificate private-key ca-certificate check-certificate use-head http-auth-challenge \
                http-no-cache http-accept-gzip content-disposition-default-utf8 http-proxy https-proxy \
                all-proxy no-proxy proxy-method http-proxy-user http-proxy-passwd https-proxy-user \
                https-proxy-passwd all-proxy-user all-proxy-passwd
                """)
        ),
        (
            "#https",
            names(
                """
                certificate private-key ca-certificate check-certificate https-proxy all-proxy no-proxy \
                https-proxy-user https-proxy-passwd all-proxy-user all-proxy-passwd
                """)
        ),
        (
            "#ftp",
            names(
                """
                timeout connect-timeout max-tries out split lowest-speed-limit piece-length max-overall- \
                download-limit max-download-limit continue no-netrc uri-selector server-stat-timeout \
                server-stat-if server-stat-of remote-time max-file-not-found dry-run reuse-uri always- \
                resume max-resume-failure-tries max-connection-per-server min-split-size retry-wait \
                stream-piece-selector checksum ftp-user ftp-passwd ftp-type ftp-pasv ftp-reuse- \
                connection ssh-host-key-md ftp-proxy all-proxy no-proxy proxy-method ftp-proxy-user ftp- \
                proxy-passwd all-proxy-user all-proxy-passwd
                """)
        ),
        (
            "#metalink",
            names(
                """
                realtime-chunk-checksum check-integrity hash-check-only show-files select-file metalink- \
                file metalink-version metalink-language metalink-os metalink-location follow-metalink \
                metalink-preferred-protocol metalink-enable-unique-protocol metalink-base-uri
                """)
        ),
        (
            "#cookie",
            names(
                """
                load-cookies save-cookies
                """)
        ),
        (
            "#hook",
            names(
                """
                on-download-start on-download-pause on-download-stop on-download-complete on-download- \
                error on-bt-download-complete
                """)
        ),
        (
            "#file",
            names(
                """
                dir out file-allocation no-file-allocation-limit allow-overwrite check-integrity auto- \
                file-renaming hash-check-only
                """)
        ),
        (
            "#rpc",
            names(
                """
                enable-rpc rpc-listen-port rpc-user rpc-passwd rpc-max-request-size rpc-listen-all rpc- \
                allow-origin-all rpc-certificate rpc-private-key rpc-secure rpc-save-upload-metadata \
                pause rpc-secret pause-metadata
                """)
        ),
        (
            "#checksum",
            names(
                """
                realtime-chunk-checksum check-integrity hash-check-only checksum bt-hash-check-seed
                """)
        ),
    ]
}
