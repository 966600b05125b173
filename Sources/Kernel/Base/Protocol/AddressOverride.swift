/// An address to connect to instead of resolving a name: `HOST:PORT:ADDRESS`, as curl's `--resolve` takes it.
package struct AddressOverride: Hashable, Sendable {
    /// In lower case and without brackets; empty for any host.
    package var host: String
    package var port: UInt16
    /// A numeric address, without brackets.
    package var address: String

    /// `nil` unless `text` has a host or `*`, a port and one numeric address; an IPv6 address may stand in brackets.
    package init?(_ text: String) {
        guard let (host, rest) = AddressOverride.host(of: text), let colon = rest.firstIndex(of: ":"),
            let port = UInt16(rest[..<colon]), port > 0, rest[..<colon].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        var address = rest[rest.index(after: colon)...]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        guard NumericAddress.isOne(String(address)) else { return nil }
        self.host = host == "*" ? "" : host
        self.port = port
        self.address = String(address)
    }

    /// The host in the form of URLs, and what follows its colon.
    private static func host(of text: String) -> (String, Substring)? {
        let end: String.Index?
        if text.hasPrefix("[") {
            end = text.firstIndex(of: "]").map { text.index(after: $0) }
        } else {
            end = text.firstIndex(of: ":")
        }
        guard let end, end < text.endIndex, text[end] == ":" else { return nil }
        let name = text[..<end]
        let rest = text[text.index(after: end)...]
        if name == "*" { return ("*", rest) }
        guard let address = try? WebAddress.parse("http://\(name)/").address, address.path == "/", address.query == nil,
            address.port == 80, !name.utf8.contains(where: { $0 == 0x40 })
        else { return nil }
        return (address.host, rest)
    }
}
