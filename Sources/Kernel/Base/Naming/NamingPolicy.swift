/// The source of a file's name when none was given.
package enum NamingPolicy: String, Hashable, Sendable, CaseIterable {
    /// The final response's Content-Disposition, else as `url`.
    case server
    /// The last component of the address's path, `index.html` for a folder.
    case url
    /// A hash of the address with the extension kept: unique, and the same each time.
    case hash

    /// A safe name derived from `address`.
    ///
    /// `address` is that of the request or of the final response, as the caller prefers; `head` is the final
    /// response's.
    ///
    /// `given`: the URLs that the user gave; the name in one of them is kept as it is, with a leading dot, where a file
    /// can have it.
    package static func choose(
        _ policy: NamingPolicy, address: WebAddress, head: ResponseHead?, given: [WebAddress] = [],
        charsets: CharsetDecoder = .builtIn
    ) -> String {
        switch policy {
        case .server:
            if let suggestion = head?.suggestedName(charsets) { return FileName.safe(suggestion) }
            return urlName(address, given, charsets)
        case .url: return urlName(address, given, charsets)
        case .hash:
            let last = FileName.safe(address.lastPathComponent)
            return FNV.hex(FNV.hash128(address.text.utf8)) + FileName.split(last).suffix
        }
    }

    private static func urlName(_ address: WebAddress, _ given: [WebAddress], _ charsets: CharsetDecoder) -> String {
        let last = address.lastPathBytes
        guard !last.isEmpty else { return "index.html" }
        let name = charsets.text(unlabelled: last)
        return given.contains { $0.lastPathBytes == last } ? FileName.given(name) : FileName.safe(name)
    }
}

/// The policy for an existing finished file of the requested name.
package enum IfExists: String, Hashable, Sendable, CaseIterable {
    case rename
    case resume
    case overwrite
    case skip
    case fail
}

/// FNV-1a (Fowler, Noll and Vo; draft-eastlake-fnv): small, stable everywhere, and sufficient to distinguish
/// names.
///
/// No protection against an attacker who looks for equal hashes.
package enum FNV {
    package static func hash64(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    package static func hash128(_ bytes: some Sequence<UInt8>) -> UInt128 {
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in bytes { hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B }
        return hash
    }

    /// `hash` in hexadecimal digits of its full width.
    package static func hex<Hash: FixedWidthInteger>(_ hash: Hash) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(Hash.bitWidth / 4)
        for shift in stride(from: Hash.bitWidth - 4, through: 0, by: -4) {
            digits.append(Hexadecimal.character(UInt8(truncatingIfNeeded: hash >> shift) & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
