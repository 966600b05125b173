/// URLs as people type them: without a scheme.
package enum BareAddress {
    /// Whether the word contains `://`; by bytes, because a list may have thousands of URLs.
    package static func hasScheme(_ word: String) -> Bool {
        var rest = word.utf8[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[colon...].dropFirst()
            if rest.starts(with: "//".utf8) { return true }
        }
        return false
    }

    /// Whether a word is a URL without its scheme: a host name with a dot or a port, or `localhost`, perhaps after user
    /// info, and perhaps a path.
    package static func hasNoScheme(_ word: String) -> Bool {
        guard !hasScheme(word), !word.hasPrefix("-"), !word.hasPrefix("/"), !word.hasPrefix(".") else { return false }
        var authority = word.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = authority.lastIndex(of: "@") {
            guard isUserInfo(authority[..<at]) else { return false }
            authority = authority[authority.index(after: at)...]
        }
        let host: Substring
        var hasPort = false
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            let port = authority[authority.index(after: end)...]
            guard port.isEmpty || isPort(port) else { return false }
            return true
        }
        if let colon = authority.lastIndex(of: ":") {
            guard isPort(authority[colon...]) else { return false }
            hasPort = true
            host = authority[..<colon]
        } else {
            host = authority
        }
        guard !host.isEmpty, !host.hasPrefix("."), host.allSatisfy(isHostCharacter) else { return false }
        return hasPort || host.lowercased() == "localhost" || host.contains(".") && !host.hasSuffix(".")
    }

    /// The host and port of a URL without a scheme.
    package static func authority(of word: String) -> String {
        String(word.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }

    /// Whether it has a user name; `mailto:` and other schemes of addresses with that sign are none.
    private static func isUserInfo(_ text: Substring) -> Bool {
        let name = text.prefix { $0 != ":" }
        return !name.isEmpty && !["mailto", "sip", "sips", "xmpp", "acct"].contains(name.lowercased())
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && (2...6).contains(text.count) && text.dropFirst().allSatisfy { "0123456789".contains($0) }
    }

    private static func isHostCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "." || character == "-" || character == "_"
    }
}
