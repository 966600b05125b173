/// The command lines of `curl` and `aria2c`, as browsers copy them, as entries of an input file.
package enum TransferCommand {
    /// Whether the text begins with such a command.
    package static func isCommand(_ text: String) -> Bool {
        let words = text.split(maxSplits: 2, whereSeparator: \.isWhitespace)
        let first = words.first == "$" ? words.dropFirst().first : words.first
        return first.flatMap { program(String($0)) } != nil && words.count > 1
    }

    /// The downloads of one or several commands; throws code 28 for an option that means something else than a download.
    package static func entries(in text: String) throws(Failure) -> [InputEntry] {
        var entries: [InputEntry] = []
        for command in try ShellWords.commands(in: text) {
            let words = Array(command.first == "$" ? command.dropFirst() : command[...])
            guard let first = words.first, let program = program(first) else {
                throw refusal(command[0], .init("command-other", "it is neither curl nor aria2c"))
            }
            var reader = CommandReader(program, Array(words.dropFirst()))
            entries += try reader.read()
        }
        return entries
    }

    fileprivate enum Program: String {
        case curl, aria2c
    }

    private static func program(_ word: String) -> Program? {
        if word.contains("://") { return nil }
        var name = word.pathParts().last.map(String.init) ?? word
        if name.lowercased().hasSuffix(".exe") { name = String(name.dropLast(4)) }
        return Program(rawValue: name.lowercased())
    }

    fileprivate static func refusal(_ word: String, _ why: LocalizableMessage) -> Failure {
        Failure(
            .badOption,
            "cannot use",
            at: Redaction.printable(word),
            because: why,
            remedy: "remove it from the command"
        )
    }
}

/// What an option of a command means here.
private enum Meaning {
    /// Nothing that matters: whether it has a value.
    case ignored(hasValue: Bool)
    /// An option of a download with that name, whose value is the option's or this one.
    case option(String, fixed: String? = nil)
    case header, cookie, referer, user, method, folder, name, remoteName, tries, url
    case refused(LocalizableMessage)
}

private struct CommandReader {
    private let program: TransferCommand.Program
    private let words: [String]
    private var next = 0
    private var addresses: [String] = []
    private var options: [InputOption] = []
    /// Those of the files in the order of the URLs; `nil` for one that has the name in its URL.
    private var names: [String?] = []
    /// The value of a Host field.
    private var host: String?

    init(_ program: TransferCommand.Program, _ words: [String]) {
        (self.program, self.words) = (program, words)
    }

    mutating func read() throws(Failure) -> [InputEntry] {
        while next < words.count {
            let word = words[next]
            next += 1
            if word == "--" {
                addresses += words[next...]
                break
            }
            if word.hasPrefix("--") {
                try long(word)
            } else if word.hasPrefix("-"), word != "-" {
                try short(word)
            } else {
                addresses.append(word)
            }
        }
        guard !addresses.isEmpty else {
            throw TransferCommand.refusal(
                program.rawValue,
                .init("command-without-url", "the command has no URL")
            )
        }
        return try entries()
    }

    /// Refuses a Host field of another host than the URL's: it would be another file.
    private func checkHost() throws(Failure) {
        guard let host else { return }
        let isOther = addresses.contains { text in
            guard let address = try? WebAddress.parse(text).address else { return true }
            return ![address.host, "\(address.host):\(address.port)"].contains(host.lowercased())
        }
        guard isOther else { return }
        let why = LocalizableMessage("command-host", "it sets another host than that of the URL")
        throw TransferCommand.refusal("Host: \(host)", why)
    }

    private func entries() throws(Failure) -> [InputEntry] {
        try checkHost()
        // All URLs of aria2c are one file's.
        let groups = program == .aria2c ? [addresses] : addresses.map { [$0] }
        return groups.enumerated().map { index, group in
            var entry = InputEntry(addresses: group, options: options, line: 1)
            if index < names.count, let name = names[index] {
                entry.options.append(InputOption(name: "output", value: name, line: 1))
            }
            return entry
        }
    }

    private func unknown(_ option: String) -> Failure {
        let why = LocalizableMessage(
            "command-unknown-option",
            "Pawl has no equivalent of this option of \(program.rawValue)"
        )
        return TransferCommand.refusal(option, why)
    }

    private mutating func long(_ word: String) throws(Failure) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let meaning = table[name] else { throw unknown(word) }
        // curl knows no `=` behind the name, but then it would be a part of the name.
        try apply(meaning, "--\(name)", parts.count > 1 ? String(parts[1]) : nil)
    }

    private mutating func short(_ word: String) throws(Failure) {
        var rest = word.dropFirst()
        while let flag = rest.popFirst() {
            guard let meaning = table[String(flag)] else { throw unknown("-\(flag)") }
            let attached = rest.isEmpty ? nil : String(rest)
            if try apply(meaning, "-\(flag)", attached, isShort: true) { return }
        }
    }

    /// Whether the option took a value.
    @discardableResult
    private mutating func apply(
        _ meaning: Meaning,
        _ word: String,
        _ attached: String?,
        isShort: Bool = false
    ) throws(Failure) -> Bool {
        switch meaning {
        case .ignored(let hasValue):
            if hasValue { _ = try value(word, attached) }
            return hasValue
        case .refused(let why): throw TransferCommand.refusal(word, why)
        case .option(let name, let fixed):
            if let fixed {
                // `--insecure=false` is no option.
                if !isShort, attached == "false" { return false }
                add(name, fixed)
                return false
            }
            let text = try value(word, attached)
            // Without a limit, as by default.
            if Self.unlimited[name] != text { add(name, text) }
        case .header: try addHeader(try value(word, attached))
        case .cookie: try addCookie(try value(word, attached))
        case .referer:
            let text = try value(word, attached)
            add("referer", text.hasSuffix(";auto") ? String(text.dropLast(5)) : text)
        case .user: addUser(try value(word, attached))
        case .method:
            let method = try value(word, attached)
            guard method.uppercased() == "GET" else {
                throw TransferCommand.refusal(
                    "\(word) \(method)",
                    .init("command-method", "Pawl only sends GET")
                )
            }
        case .folder: add("dir", try value(word, attached))
        case .name:
            let name = try value(word, attached)
            guard name != "-" else {
                throw TransferCommand.refusal(
                    "\(word) -",
                    .init("command-standard-output", "it writes to standard output")
                )
            }
            names.append(name)
        case .remoteName:
            names.append(nil)
            return false
        case .tries:
            // The first try is no retry; 0 is without an end.
            let tries = Int(try value(word, attached)) ?? 1
            add("retries", String(tries == 0 ? RetryPolicy.mostRetries : max(0, tries - 1)))
        case .url: addresses.append(try value(word, attached))
        }
        return true
    }

    private mutating func value(_ word: String, _ attached: String?) throws(Failure) -> String {
        if let attached { return attached }
        guard next < words.count else {
            throw TransferCommand.refusal(word, .init("command-needs-value", "it needs a value"))
        }
        defer { next += 1 }
        return words[next]
    }

    private mutating func add(_ name: String, _ value: String) {
        if name != "header", name != "checksum" { options.removeAll { $0.name == name } }
        options.append(InputOption(name: name, value: value, line: 1))
    }

    private static let unlimited = ["connect-timeout": "0", "timeout": "0", "max-redirects": "-1"]

    private mutating func addHeader(_ line: String) throws(Failure) {
        guard !line.hasPrefix("@") else { throw TransferCommand.refusal(line, Self.list) }
        guard let colon = line.firstIndex(of: ":") else { return }
        let name = line[..<colon].lowercased()
        let value = String(
            decoding: Array(line[line.index(after: colon)...].utf8).trimmed(\.isWhiteSpace),
            as: UTF8.self
        )
        if name == "host", !value.isEmpty { host = value }
        // Pawl sends those that describe the exchange itself; curl sends none without a value.
        guard !RequestField.reserved.contains(name), !value.isEmpty, !name.hasPrefix("if-"),
            name != "priority"
        else { return }
        switch name {
        case "user-agent": add("user-agent", value)
        case "referer": add("referer", value)
        case _: add("header", "\(line[..<colon]): \(value)")
        }
    }

    private mutating func addCookie(_ text: String) throws(Failure) {
        guard text.contains("=") else {
            if !text.isEmpty { add("load-cookies", text) }
            return
        }
        add("header", "Cookie: \(text)")
    }

    private mutating func addUser(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return add("user", text) }
        add("user", String(text[..<colon]))
        add("password", String(text[text.index(after: colon)...]))
    }

    private var table: [String: Meaning] { program == .curl ? Self.curl : Self.aria2c }

    private static let list = LocalizableMessage("command-list", "it reads a file")
    private static let body = LocalizableMessage("command-body", "it sends a body, and Pawl only downloads")

    /// Each meaning belongs to all names of its text.
    private static func table(_ meanings: [(names: String, Meaning)]) -> [String: Meaning] {
        var table: [String: Meaning] = [:]
        for (names, meaning) in meanings {
            for name in names.split(separator: " ") { table[String(name)] = meaning }
        }
        return table
    }

    private static let curl = table([
        ("H header", .header),
        ("b cookie", .cookie),
        ("A user-agent", .option("user-agent")),
        ("e referer", .referer),
        ("u user", .user),
        ("o output", .name),
        ("O remote-name", .remoteName),
        ("output-dir", .folder),
        ("url", .url),
        ("x proxy", .option("proxy")),
        ("noproxy", .option("no-proxy")),
        ("k insecure", .option("insecure", fixed: "true")),
        ("r range", .option("range")),
        (
            "m max-time y speed-time Y speed-limit retry-max-time c cookie-jar w write-out D dump-header",
            .ignored(hasValue: true)
        ),
        (
            "stderr trace trace-ascii limit-rate keepalive-time max-filesize expect100-timeout dns-servers",
            .ignored(hasValue: true)
        ),
        ("connect-timeout", .option("connect-timeout")),
        ("retry", .option("retries")),
        ("retry-delay", .option("retry-delay")),
        ("max-redirs", .option("max-redirects")),
        ("cacert", .option("cacert")),
        ("E cert", .option("cert")),
        ("key", .option("key")),
        ("interface", .option("interface")),
        ("resolve", .option("resolve")),
        ("C continue-at", .ignored(hasValue: true)),
        (
            "remote-name-all L location compressed s silent S show-error f fail fail-with-body",
            .ignored(hasValue: false)
        ),
        (
            "g globoff # progress-bar v verbose N no-buffer J remote-header-name R remote-time i include",
            .ignored(hasValue: false)
        ),
        (
            "0 http1.0 http1.1 http2 http2-prior-knowledge http3 4 ipv4 6 ipv6 n netrc create-dirs",
            .ignored(hasValue: false)
        ),
        (
            "G get path-as-is tr-encoding no-keepalive tcp-nodelay ssl-reqd tlsv1 tlsv1.2 tlsv1.3 Z parallel",
            .ignored(hasValue: false)
        ),
        (
            "no-progress-meter retry-connrefused retry-all-errors q disable basic anyauth no-alpn digest",
            .ignored(hasValue: false)
        ),
        ("location-trusted", .option("location-trusted", fixed: "true")),
        ("X request", .method),
        (
            "d data data-raw data-binary data-urlencode data-ascii json F form form-string T upload-file url-query",
            .refused(body)
        ),
        ("I head", .refused(.init("command-head", "it requests the header section only"))),
        ("K config", .refused(.init("command-config", "it reads a file of curl's options"))),
    ])

    private static let aria2c = table([
        ("header", .header),
        ("U user-agent", .option("user-agent")),
        ("referer", .referer),
        ("load-cookies", .option("load-cookies")),
        ("http-user ftp-user", .option("user")),
        ("http-passwd ftp-passwd", .option("password")),
        ("o out", .name),
        ("d dir", .folder),
        ("all-proxy http-proxy https-proxy", .option("proxy")),
        ("no-proxy", .option("no-proxy")),
        ("x max-connection-per-server", .option("connections")),
        ("checksum", .option("checksum")),
        ("t timeout", .option("timeout")),
        ("connect-timeout", .option("connect-timeout")),
        ("m max-tries", .tries),
        ("retry-wait", .option("retry-delay")),
        ("ca-certificate", .option("cacert")),
        (
            "s split k min-split-size j max-concurrent-downloads max-download-limit max-overall-download-limit l log",
            .ignored(hasValue: true)
        ),
        (
            "file-allocation allow-overwrite auto-file-renaming console-log-level summary-interval",
            .ignored(hasValue: true)
        ),
        (
            "c continue q quiet D daemon always-resume remote-time R http-accept-gzip",
            .ignored(hasValue: false)
        ),
        (
            "check-certificate conditional-get enable-color show-console-readout async-dns",
            .ignored(hasValue: false)
        ),
        ("i input-file M metalink-file", .refused(list)),
        ("T torrent-file", .refused(DroppedContent.noTorrents)),
    ])
}
