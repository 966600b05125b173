/// The URL of a proxy as the user or the environment wrote it.
package enum ProxyURL {
    package static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// What it must look like.
    package static var form: String {
        "[SCHEME://][USER:PASSWORD@]HOST[:PORT] with one of the schemes \(schemes.joined(separator: ", "))"
    }

    /// Whether it is empty, or names a host in a form that curl accepts.
    package static func isUsable(_ text: String) -> Bool {
        guard FieldText.isSafe(text), !text.utf8.contains(.space) else { return false }
        guard !text.isEmpty else { return true }
        if let end = marks(in: text) {
            guard schemes.contains(text[..<end.lowerBound].lowercased()) else { return false }
        }
        let parts = authority(of: text).unicodeScalars.split(separator: "@", omittingEmptySubsequences: false)
        // Some versions of libcurl end the login at the first one, others at the last.
        return parts.count <= 2 && isHost(Substring(parts[parts.count - 1]))
    }

    /// Whether the proxy itself is reached over TLS.
    package static func isSecure(_ text: String) -> Bool { text.utf8.prefix(8).isCaseInsensitively("https://") }

    /// User name and password as they are written; `nil` without any.
    package static func login(of text: String) -> Substring? {
        let authority = authority(of: text)
        return authority.unicodeScalars.lastIndex(of: "@").map { authority[..<$0] }
    }

    /// Returns `nil` when it has no login.
    package static func withoutLogin(_ text: String) -> String? {
        guard let login = login(of: text) else { return nil }
        return String(text[..<login.startIndex]) + text[text.unicodeScalars.index(after: login.endIndex)...]
    }

    /// For messages: scheme, host and port as they are written.
    package static func place(of text: String) -> String {
        let text = withoutLogin(text) ?? text
        return String(text[..<authority(of: text).endIndex])
    }

    /// The decoded user name and password; `nil` without any.
    static func credentials(of text: String) -> Credentials? {
        guard let login = login(of: text), !login.isEmpty else { return nil }
        let parts = login.utf8.split(separator: .colon, maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.map { PercentCoding.text(PercentCoding.decoded($0)) }
        return Credentials(user: texts[0], password: texts.count > 1 ? texts[1] : "")
    }

    /// The scheme in lower case, `http` if there is none, the host as in other URLs, and the port if there is one; the text
    /// can be used.
    static func parts(of text: String) -> (scheme: String, host: String, port: UInt16?) {
        let scheme = marks(in: text).map { text[..<$0.lowerBound].lowercased() } ?? "http"
        let authority = authority(of: withoutLogin(text) ?? text)
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[end...].firstIndex(of: ":") ?? authority.endIndex
        let name = authority[..<colon]
        // A zone is in no other URL; RFC 6874 encodes its percent sign.
        let host =
            (try? WebAddress.parse("http://\(name)/"))?.address.host
            ?? name.filter { $0 != "[" && $0 != "]" }.replacing("%25", with: "%").lowercased()
        return (scheme, host, UInt16(authority[colon...].dropFirst()))
    }

    /// Whether this host and port are the proxy's.
    package static func isPlace(_ text: String, host: some StringProtocol, port: some StringProtocol) -> Bool {
        let place = authority(of: withoutLogin(text) ?? text).lowercased()
        let name = host.lowercased()
        return [name, "\(name):\(port)", "[\(name)]", "[\(name)]:\(port)"].contains(place)
    }

    /// Login, host and port: what stands between the scheme and the path, query or fragment.
    private static func authority(of text: String) -> Substring {
        let start = marks(in: text)?.upperBound ?? text.startIndex
        return Substring(text.unicodeScalars[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }

    /// Scalars are compared, since a combining mark after a sign would make one character of both.
    private static func marks(in text: String) -> Range<String.Index>? {
        text.unicodeScalars.firstRange(of: "://".unicodeScalars)
    }

    private static func isHost(_ authority: Substring) -> Bool {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            // A zone follows a percent sign (RFC 6874).
            let parts = authority[..<end].dropFirst().split(
                separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            let isAddress = IPv6Address(Array(parts[0].utf8)[...]) != nil
            let hasZone = parts.count == 1 || !parts[1].isEmpty && parts[1].utf8.allSatisfy(isPlain)
            return isAddress && hasZone && isPort(authority[authority.index(after: end)...])
        }
        let host = authority.prefix { $0 != ":" }
        return !host.isEmpty && host.utf8.allSatisfy(isPlain) && isPort(authority[host.endIndex...])
    }

    /// An unreserved character (RFC 3986 §2.3), or one outside of ASCII.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
        case 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Whether the text is empty or a colon with a port number.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        guard colon == ":", (1...5).contains(digits.count), digits.allSatisfy({ "0123456789".contains($0) }) else {
            return false
        }
        return Int(digits).map { (1...65_535).contains($0) } == true
    }
}

/// The hosts that bypass the proxy, as the user or `no_proxy` lists them.
///
/// libcurl compares hosts alone. Other programs take an entry `HOST:PORT` for that port only, and so does this.
package enum NoProxyList {
    /// Whether an entry has a port, so that ``hosts(of:port:)`` depends on that.
    package static func namesPorts(_ list: String) -> Bool { entries(list).contains { port(of: $0) != nil } }

    /// The list as libcurl reads it, for requests to `port`: an entry of that port without it, none of another port.
    package static func hosts(of list: String, port: UInt16) -> String {
        let hosts = entries(list).compactMap { entry -> Substring? in
            guard let end = self.port(of: entry) else { return entry }
            return end.port == port ? end.host : nil
        }
        // Only alone it stands for every host.
        return hosts.contains("*") ? "*" : hosts.joined(separator: ",")
    }

    /// Whether requests to that host and port bypass the proxy: the list names the host, a domain above it, or a network
    /// (`10.0.0.0/8`) of its address.
    package static func covers(_ list: String, host: String, port: UInt16) -> Bool {
        let name = host.lowercased().trimmingDot
        let address = NumericAddress.bytes(of: name)
        return entries(hosts(of: list, port: port)).contains { entry in
            if entry == "*" { return true }
            if let address { return isNetwork(entry, of: address) }
            let domain = (entry.first == "." ? entry.dropFirst() : entry).lowercased().trimmingDot
            return !domain.isEmpty && (name == domain || name.hasSuffix("." + domain))
        }
    }

    private static func isNetwork(_ entry: Substring, of address: [UInt8]) -> Bool {
        let parts = entry.filter { $0 != "[" && $0 != "]" }.split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = NumericAddress.bytes(of: String(parts[0])), bytes.count == address.count,
            let bits = parts.count == 1 ? 8 * bytes.count : Int(parts[1]), 0...8 * bytes.count ~= bits
        else { return false }
        return AddressPrefix(bytes: bytes, bits: bits).contains(address)
    }

    private static func entries(_ list: String) -> [Substring] { list.split { $0 == "," || $0 == " " || $0 == "\t" } }

    /// `nil` for an entry without a port: an IPv6 address has several colons, and needs brackets before a port.
    private static func port(of entry: Substring) -> (host: Substring, port: UInt16)? {
        guard let colon = entry.lastIndex(of: ":"), colon > entry.startIndex else { return nil }
        let (host, digits) = (entry[..<colon], entry[colon...].dropFirst())
        guard host.last == "]" || !host.contains(":"), !digits.isEmpty,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else { return nil }
        return (host, port)
    }
}

extension String {
    /// Without the dot that stands for the root of names.
    fileprivate var trimmingDot: String { hasSuffix(".") ? String(dropLast()) : self }
}
