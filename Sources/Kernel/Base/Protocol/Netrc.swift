/// The logins of a netrc file, as parsed by ftp(1), curl and wget.
package struct Netrc: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        /// `nil` for `default`.
        var machine: [UInt8]?
        var login: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// Parses all known words; unknown ones are skipped.
    package init(parsing file: [UInt8]) {
        var words = NetrcWords(file)
        while let word = words.next() {
            if word.isCaseInsensitively("machine") {
                entries.append(Entry(machine: words.next().map(Self.host)))
            } else if word.isCaseInsensitively("default") {
                entries.append(Entry())
            } else if word.isCaseInsensitively("login") {
                set(words.next(), \.login)
            } else if word.isCaseInsensitively("password") {
                set(words.next(), \.password)
            } else if word.isCaseInsensitively("account") {
                _ = words.next()
            } else if word.isCaseInsensitively("macdef") {
                words.skipMacro()
            }
        }
    }

    /// The first login for `host` in the file, else the one of `default` when that may be used.
    package func login(for host: String, orDefault: Bool) -> Credentials? {
        let name = Self.host(Array(host.utf8))
        let own = entries.lazy.filter { $0.machine == name }.compactMap(Self.credentials).first
        guard own == nil, orDefault else { return own }
        return entries.lazy.filter { $0.machine == nil }.compactMap(Self.credentials).first
    }

    private static func credentials(_ entry: Entry) -> Credentials? {
        entry.login.map { Credentials(user: $0, password: entry.password ?? "") }
    }

    /// The first of several counts; one before any machine is ignored.
    private mutating func set(_ word: [UInt8]?, _ part: WritableKeyPath<Entry, String?>) {
        guard let word, let last = entries.indices.last, entries[last][keyPath: part] == nil else { return }
        entries[last][keyPath: part] = String(decoding: word, as: UTF8.self)
    }

    /// In lower case, without the brackets of an IPv6 address.
    private static func host(_ name: [UInt8]) -> [UInt8] {
        let isBracketed = name.first == .leftBracket && name.last == .rightBracket
        return (isBracketed ? name.dropFirst().dropLast() : name[...]).map(\.lowercased)
    }
}

/// The words of a netrc file, separated by any white space.
private struct NetrcWords {
    private var rest: ArraySlice<UInt8>
    private var isAtLineStart = true

    /// A byte order mark at the beginning is skipped.
    init(_ file: [UInt8]) { rest = UnicodeText.utf8(file)[...] }

    /// A quoted word may contain white space, and a backslash in it escapes the next byte.
    mutating func next() -> [UInt8]? {
        skipBlanks()
        guard let first = rest.first else { return nil }
        isAtLineStart = false
        if first == .quote, let word = quoted() { return word }
        let word = rest.prefix { !$0.isWhiteSpace }
        rest = rest[word.endIndex...]
        return Array(word)
    }

    /// `nil`, and nothing is consumed, when the quote is not closed in its line.
    private mutating func quoted() -> [UInt8]? {
        var text = rest.dropFirst()
        var word: [UInt8] = []
        while let byte = text.popFirst(), byte != .lineFeed {
            if byte == .quote {
                rest = text
                return word
            }
            guard byte == .backslash, let next = text.popFirst() else {
                word.append(byte)
                continue
            }
            switch next {
            case UInt8(ascii: "n"): word.append(.lineFeed)
            case UInt8(ascii: "r"): word.append(.carriageReturn)
            case UInt8(ascii: "t"): word.append(.tab)
            default: word.append(next)
            }
        }
        return nil
    }

    /// Also skips comment lines; elsewhere a `#` is an ordinary character, as in a password.
    private mutating func skipBlanks() {
        while let byte = rest.first {
            if byte == .hash, isAtLineStart {
                rest = rest.drop { $0 != .lineFeed }
            } else if byte.isWhiteSpace {
                if byte == .lineFeed { isAtLineStart = true }
                rest = rest.dropFirst()
            } else {
                return
            }
        }
    }

    /// A macro extends to the next empty line.
    mutating func skipMacro() {
        while !rest.isEmpty {
            let line = rest.prefix { $0 != .lineFeed }
            let isEmpty = line.allSatisfy { $0 == .carriageReturn }
            // The line with the macro's name is not empty even without a name.
            if isEmpty, isAtLineStart { return }
            rest = rest[line.endIndex...].dropFirst()
            isAtLineStart = true
        }
    }
}
