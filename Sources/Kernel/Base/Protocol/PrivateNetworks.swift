/// Addresses of this machine, its neighbours or no host, which an untrusted request must not make Pawl
/// connect to.
package enum PrivateNetworks {
    /// Four bytes of IPv4 or sixteen of IPv6; anything else counts as private.
    package static func contains(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: containsOld(address[...])
        case 16: containsNew(address)
        default: true
        }
    }

    /// RFC 6890 §2.2.2, without those for documentation, which are unused; then multicast and reserved ones.
    private static let old = [
        AddressPrefix(bytes: [0], bits: 8), AddressPrefix(bytes: [10], bits: 8),
        AddressPrefix(bytes: [100, 64], bits: 10),
        AddressPrefix(bytes: [127], bits: 8), AddressPrefix(bytes: [169, 254], bits: 16),
        AddressPrefix(bytes: [172, 16], bits: 12),
        AddressPrefix(bytes: [192, 0, 0], bits: 24), AddressPrefix(bytes: [192, 168], bits: 16),
        AddressPrefix(bytes: [198, 18], bits: 15), AddressPrefix(bytes: [224], bits: 3),
    ]

    /// Unique local, link local, site local, discard, multicast.
    private static let new = [
        AddressPrefix(bytes: [0xFC], bits: 7), AddressPrefix(bytes: [0xFE, 0x80], bits: 9),
        AddressPrefix(bytes: [0x01, 0, 0, 0, 0, 0, 0, 0], bits: 64), AddressPrefix(bytes: [0xFF], bits: 8),
    ]

    /// The prefix of an IPv4 address in ::ffff:a.b.c.d and in ::ffff:0:a.b.c.d.
    private static let embedded: [[UInt8]] = [[0, 0, 0xFF, 0xFF], [0xFF, 0xFF, 0, 0]]
    private static let isatap: [[UInt8]] = [[0, 0, 0x5E, 0xFE], [0x02, 0, 0x5E, 0xFE]]

    private static func containsOld(_ address: ArraySlice<UInt8>) -> Bool { old.contains { $0.contains(address) } }

    private static func containsNew(_ address: [UInt8]) -> Bool {
        if new.contains(where: { $0.contains(address) }) { return true }
        // Unspecified, loopback, and the obsolete IPv4-compatible form.
        if address[..<12].allSatisfy({ $0 == 0 }) { return true }
        // An IPv4 address inside: mapped (RFC 4291 §2.5.5.2), translated (RFC 2765 §2.1), NAT64 (RFC 6052),
        // 6to4 (RFC 3056), Teredo (RFC 4380 §4), ISATAP (RFC 5214 §6.1).
        if address[..<8].allSatisfy({ $0 == 0 }), embedded.contains(Array(address[8..<12])) {
            return containsOld(address[12...])
        }
        if address.starts(with: [0, 0x64, 0xFF, 0x9B]) {
            return address[4..<12].contains { $0 != 0 } || containsOld(address[12...])
        }
        if address.starts(with: [0x20, 0x02]) { return containsOld(address[2..<6]) }
        if address.starts(with: [0x20, 0x01, 0, 0]) {
            let client = address[12...].map { ~$0 }
            return containsOld(address[4..<8]) || containsOld(client[...])
        }
        return isatap.contains(Array(address[8..<12])) && containsOld(address[12...])
    }
}

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
