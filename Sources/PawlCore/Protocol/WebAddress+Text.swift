extension WebAddress {
    /// The URL for libcurl and for the journal: no user info, no fragment, the port only where it is not the
    /// default.
    package var text: String {
        var text = place
        text += path
        if let query {
            text += "?"
            text += query
        }
        return text
    }

    /// The URL for people: a query may be a secret (signed addresses), so only its presence is told.
    package var redacted: String { place + path + (query == nil ? "" : "?…") }

    private var place: String {
        var place = scheme.rawValue
        place.reserveCapacity(
            place.utf8.count + host.utf8.count + path.utf8.count + (query?.utf8.count ?? 0) + 12
        )
        let isLiteral = host.utf8.contains(.colon)
        place += isLiteral ? "://[" : "://"
        place += host
        if isLiteral { place += "]" }
        if port != scheme.defaultPort {
            place += ":"
            place += String(port)
        }
        return place
    }

    /// Whether the host is this machine, so that no network is needed: `localhost` and names below it (RFC
    /// 6761 §6.3), 127.0.0.0/8, `::1`.
    package var isLoopback: Bool {
        let bytes = Array(host.utf8)
        if bytes.contains(.colon) { return IPv6Address(bytes[...])?.isLoopback ?? false }
        let labels = bytes.split(separator: .dot)
        if labels.last?.elementsEqual("localhost".utf8) == true { return true }
        let quad = labels.compactMap(HostName.quadPart)
        return quad.count == 4 && labels.count == 4 && quad[0] == 127
    }

    /// What follows the path's last slash, percent-decoded, with U+FFFD for bytes that are not UTF-8; empty
    /// for a folder.
    ///
    /// May hold a slash that was encoded.
    package var lastPathComponent: String {
        var bytes = Array(path.utf8)[...]
        if let slash = bytes.lastIndex(of: .slash) { bytes = bytes[(slash + 1)...] }
        // `;type=i` is a transfer mode, not part of the name (RFC 1738 §3.2.2).
        if scheme == .ftp || scheme == .ftps, bytes.count >= 7,
            bytes.suffix(7).dropLast().elementsEqual(";type=".utf8)
        {
            bytes = bytes.dropLast(7)
        }
        return String(decoding: PercentCoding.decoded(bytes), as: UTF8.self)
    }
}
