import PawlBase

/// Reads the words of one command.
struct CommandReader {
    private let program: TransferCommand.Program
    private let words: [String]
    private var next = 0
    private var addresses: [String] = []
    private var options: [InputOption] = []
    /// Those of the files in the order of the URLs; `nil` for one that has the name in its URL.
    private var names: [String?] = []
    /// The value of a Host field.
    private var host: String?
    /// Pieces of the queries of all URLs, joined by `&`.
    private var query: [String] = []
    /// What is sent as a body, or with `--get` behind the query.
    private var data: [(form: CommandData, text: String)] = []
    /// The first option that sends a body.
    private var bodyOption: String?
    private var sendsDataInQuery = false
    /// Whether curl expands `[1-3]` and `{a,b}` in URLs.
    private var expands: Bool

    init(_ program: TransferCommand.Program, _ words: [String]) {
        (self.program, self.words) = (program, words)
        expands = program == .curl
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
            throw TransferCommand.refusal(program.rawValue, .init("command-without-url", "the command has no URL"))
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

    private mutating func entries() throws(Failure) -> [InputEntry] {
        if expands { try expand() }
        if let bodyOption, !sendsDataInQuery { throw TransferCommand.refusal(bodyOption, CommandMeaning.body) }
        for index in addresses.indices { addresses[index] = try completed(addresses[index]) }
        try checkHost()
        // All URLs of aria2c are one file's.
        let groups = program == .aria2c ? [addresses] : addresses.map { [$0] }
        if program == .wget, groups.count > 1, names.contains(where: { $0 != nil }) {
            throw Self.refusalOfOneName("-O")
        }
        return groups.enumerated().map { index, group in
            var entry = InputEntry(addresses: group, options: options, line: 1)
            if index < names.count, let name = names[index] {
                entry.options.append(InputOption(name: "output", value: name, line: 1))
            }
            return entry
        }
    }

    /// Replaces each pattern by its URLs, each with its file.
    private mutating func expand() throws(Failure) {
        let patterns = addresses
        let given = names
        (addresses, names) = ([], [])
        for (index, pattern) in patterns.enumerated() {
            let name = index < given.count ? given[index] : nil
            let expansions: [ParameterizedAddress.Expansion]
            do throws(ParameterizedAddress.Fault) {
                expansions = try ParameterizedAddress.expandedAsByCurl(pattern)
            } catch {
                throw Failure(
                    .badOption, "cannot use", at: Redaction.address(pattern),
                    because: LocalizableMessage("command-pattern", "curl cannot expand its brackets and braces"),
                    remedy: "add --globoff to the command where they are meant as they are")
            }
            let files = expansions.map { expansion in name.map { Self.file($0, expansion.values) } }
            if name != nil, Set(files).count < files.count { throw Self.refusalOfOneName("-o") }
            addresses += expansions.map(\.text)
            names += files
        }
    }

    /// The name with what the parts of the pattern are for `#1`, `#2` and so on.
    private static func file(_ name: String, _ values: [[UInt8]]) -> String {
        var text: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(while: \.isDigit)
            if byte == .hash, let number = digits.decimalNumber, number >= 1, number <= values.count {
                text += values[Int(number) - 1]
                rest = rest[digits.endIndex...]
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func refusalOfOneName(_ option: String) -> Failure {
        TransferCommand.refusal(option, LocalizableMessage("command-one-name", "it writes several files into one"))
    }

    /// A URL with its scheme, and with what options add to its query.
    private func completed(_ text: String) throws(Failure) -> String {
        var text = text
        if !BareAddress.hasScheme(text) {
            guard program != .aria2c, BareAddress.hasNoScheme(text) else {
                let why = LocalizableMessage("command-not-url", "it is no URL")
                throw TransferCommand.refusal(text, why)
            }
            text = (text.lowercased().hasPrefix("ftp.") ? "ftp://" : "http://") + text
        }
        var pieces = query
        for piece in data { pieces.append(try piece.form.text(of: piece.text)) }
        let added = pieces.filter { !$0.isEmpty }.joined(separator: "&")
        guard !added.isEmpty else { return text }
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let base = text[..<fragment]
        let mark = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
        return base + mark + added + text[fragment...]
    }

    private func unknown(_ option: String) -> Failure {
        let why = LocalizableMessage(
            "command-unknown-option", "Pawl has no equivalent of this option of \(program.rawValue)")
        return TransferCommand.refusal(option, why)
    }

    private mutating func long(_ word: String) throws(Failure) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard name.count > 1, let meaning = CommandMeaning.table(of: program)[name] else { throw unknown(word) }
        // curl knows no `=` behind the name, but then it would be a part of the name.
        try apply(meaning, "--\(name)", parts.count > 1 ? String(parts[1]) : nil)
    }

    private mutating func short(_ word: String) throws(Failure) {
        var rest = word.dropFirst()
        while var flag = rest.popFirst().map(String.init) {
            // wget's `-nv`, `-nc` and others.
            if program == .wget, flag == "n", let second = rest.popFirst() { flag.append(second) }
            guard let meaning = CommandMeaning.table(of: program)[flag] else { throw unknown("-\(flag)") }
            let attached = rest.isEmpty ? nil : String(rest)
            if try apply(meaning, "-\(flag)", attached, isShort: true) { return }
        }
    }

    /// Whether the option took a value.
    @discardableResult private mutating func apply(
        _ meaning: CommandMeaning, _ word: String, _ attached: String?, isShort: Bool = false
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
                throw TransferCommand.refusal("\(word) \(method)", .init("command-method", "Pawl only sends GET"))
            }
        case .folder: add("dir", try value(word, attached))
        case .name:
            let name = try value(word, attached)
            guard name != "-" else {
                throw TransferCommand.refusal(
                    "\(word) -", .init("command-standard-output", "it writes to standard output"))
            }
            names.append(name)
        case .remoteName:
            names.append(nil)
            return false
        case .tries:
            // The first try is no retry; 0 is without an end.
            let text = try value(word, attached)
            let tries = text == "inf" ? 0 : Int(text) ?? 1
            add("retries", String(tries == 0 ? RetryPolicy.mostRetries : max(0, tries - 1)))
        case .url: addresses.append(try value(word, attached))
        case .bearer: add("header", "Authorization: Bearer \(try value(word, attached))")
        case .globOff:
            expands = false
            return false
        case .get:
            sendsDataInQuery = true
            return false
        case .data(let form):
            bodyOption = bodyOption ?? word
            data.append((form, try value(word, attached)))
        case .query:
            let text = try value(word, attached)
            let form = text.hasPrefix("+") ? CommandData.raw : .encoded
            query.append(try form.text(of: text.hasPrefix("+") ? String(text.dropFirst()) : text))
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
        guard !line.hasPrefix("@") else { throw TransferCommand.refusal(line, CommandMeaning.list) }
        guard let colon = line.firstIndex(of: ":") else { return }
        let name = line[..<colon].lowercased()
        let value = String(
            decoding: Array(line[line.index(after: colon)...].utf8).trimmed(\.isWhiteSpace), as: UTF8.self)
        if name == "host", !value.isEmpty { host = value }
        // Pawl sends those that describe the exchange itself; curl sends none without a value.
        guard !RequestField.reserved.contains(name), !value.isEmpty, !name.hasPrefix("if-"), name != "priority" else {
            return
        }
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
}
