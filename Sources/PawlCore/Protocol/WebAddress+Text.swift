extension WebAddress {
    /// The URL for libcurl and for the journal: no user info, no fragment, the port only where it is not the
    /// default.
    package var text: String { text(query: query) }

    /// The URL for display: a query may be a secret (signed addresses), so it is elided.
    package var redacted: String { text(query: query.map { _ in "…" }) }

    /// Allocated once: a list may need thousands of addresses.
    private func text(query: String?) -> String {
        var text = scheme.rawValue
        // Brackets, a port and the separators need no more than 16.
        text.reserveCapacity(
            text.utf8.count + host.utf8.count + path.utf8.count + (query?.utf8.count ?? 0) + 16
        )
        text += "://"
        addAuthority(to: &text)
        text += path
        if let query {
            text += "?"
            text += query
        }
        return text
    }

    /// Host and port as in a URL and in a Host field: a literal in brackets, the port only where it is not
    /// the default.
    package var authority: String {
        var text = ""
        addAuthority(to: &text)
        return text
    }

    private func addAuthority(to text: inout String) {
        if host.utf8.has({ $0 == .colon }) {
            text += "["
            text += host
            text += "]"
        } else {
            text += host
        }
        guard port != scheme.defaultPort else { return }
        text += ":"
        text += String(port)
    }

    /// Whether the host is this machine, so that no network is needed: `localhost` and names below it (RFC
    /// 6761 §6.3), 127.0.0.0/8, `::1`.
    package var isLoopback: Bool {
        if host == "127.0.0.1" || host == "localhost" || host == "::1" { return true }
        let bytes = host.utf8
        if bytes.starts(with: "127.".utf8), HostName.isDottedQuad(bytes) { return true }
        if bytes.contains(.colon) { return IPv6Address(Array(bytes)[...])?.isLoopback ?? false }
        guard bytes.last == 0x74 || bytes.last == .dot else { return false }
        return Array(bytes).split(separator: .dot).last?.elementsEqual("localhost".utf8) == true
    }

    /// The text after the path's last slash, percent-decoded, with U+FFFD for bytes that are not UTF-8; empty
    /// for a folder.
    ///
    /// May contain a slash that was encoded.
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

extension Origin {
    /// In the form of RFC 6454 §6.2.
    package var text: String {
        WebAddress(scheme: scheme, host: host, port: port, path: "", query: nil).text
    }
}
