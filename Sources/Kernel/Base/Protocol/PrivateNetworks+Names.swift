extension PrivateNetworks {
    /// Names that no public server has (RFC 6761 §6.3, RFC 6762, RFC 8375, and ICANN's `internal`), and those
    /// of home routers.
    private static let suffixes = ["localhost", "local", "home.arpa", "internal", "lan"]

    /// Whether an address is of this machine or a private network by its text alone: by a number, a name
    /// without a dot, or one of a domain that is not public.
    package static func isNamed(by text: String) -> Bool {
        guard let address = (try? WebAddress.parse(text))?.address else { return false }
        let host = address.host.lowercased()
        if host.contains(":") {
            guard let number = IPv6Address(Array(host.utf8)[...]) else { return false }
            return contains(number.bytes)
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { UInt8($0) }
        if bytes.count == 4, parts.count == 4 { return contains(bytes) }
        return parts.count == 1 || suffixes.contains { host.hasSuffix("." + $0) }
    }
}
