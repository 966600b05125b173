/// The URL of a proxy as the user wrote it; libcurl parses it again when it connects.
package enum ProxyURL {
    package static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Whether it is empty, or names a host in a form that libcurl accepts.
    package static func isUsable(_ text: String) -> Bool {
        guard FieldText.isSafe(text) else { return false }
        guard !text.isEmpty else { return true }
        var rest = Substring(text)
        if let end = text.firstRange(of: "://") {
            guard schemes.contains(text[..<end.lowerBound].lowercased()) else { return false }
            rest = text[end.upperBound...]
        }
        var authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        return isHost(authority)
    }

    private static func isHost(_ authority: Substring) -> Bool {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            let address = authority[..<end].dropFirst()
            let isAddress =
                address.contains(":") && address.allSatisfy { $0.isASCII && $0 != "[" && $0 != " " }
            return isAddress && isPort(authority[authority.index(after: end)...])
        }
        let host = authority.prefix { $0 != ":" }
        let isName = !host.isEmpty && !host.contains { " []<>\"\\^`{|}".contains($0) }
        return isName && isPort(authority[host.endIndex...])
    }

    /// Whether the text is empty or a colon with a port number.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        guard colon == ":", (1...5).contains(digits.count), digits.allSatisfy({ "0123456789".contains($0) })
        else {
            return false
        }
        return Int(digits).map { (1...65_535).contains($0) } == true
    }
}
