extension WebAddress {
    /// The URL for display: a query may be a secret (signed addresses), so it is elided.
    package var redacted: String {
        if case .located(let scheme) = scheme, scheme.holdsURL { return Redaction.address(key) }
        return query == nil ? text : Self.text(scheme, host, port, path, "…")
    }

    /// Written into one allocation: a list may need thousands of addresses.
    static func text(_ scheme: Scheme, _ host: String, _ port: UInt16, _ path: String, _ query: String?) -> String {
        if case .located(let scheme) = scheme { return text(scheme, root: host, path: path) }
        let name = scheme.name
        let longest = name.utf8.count + host.utf8.count + path.utf8.count + (query?.utf8.count ?? 0)
        return unsafe String(unsafeUninitializedCapacity: longest + Self.separators) { room in
            var writer = unsafe TextWriter(room)
            writer.put(name)
            writer.put("://")
            addAuthority(scheme, host, port, to: &writer)
            writer.put(path)
            if let query {
                writer.put(.questionMark)
                writer.put(query)
            }
            return writer.count
        }
    }

    /// An upper bound of the bytes beside the parts: `://`, brackets, `:65535` and `?`.
    private static let separators = 16

    /// Host and port as in a URL and in a Host field: a literal in brackets, the port only where it is not
    /// the default.
    package var authority: String {
        unsafe String(unsafeUninitializedCapacity: host.utf8.count + Self.separators) { room in
            var writer = unsafe TextWriter(room)
            Self.addAuthority(scheme, host, port, to: &writer)
            return writer.count
        }
    }

    private static func addAuthority(_ scheme: Scheme, _ host: String, _ port: UInt16, to writer: inout TextWriter) {
        if host.utf8.has({ $0 == .colon }) {
            writer.put(.leftBracket)
            writer.put(host)
            writer.put(.rightBracket)
        } else {
            writer.put(host)
        }
        guard port != scheme.defaultPort else { return }
        writer.put(.colon)
        writer.put(port)
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
    package var lastPathComponent: String { String(decoding: lastPathBytes, as: UTF8.self) }

    /// Its bytes, which may be of any charset.
    var lastPathBytes: [UInt8] {
        var bytes = Array(path.utf8)[...]
        if let slash = bytes.lastIndex(of: .slash) { bytes = bytes[(slash + 1)...] }
        // `;type=i` is a transfer mode, not part of the name (RFC 1738 §3.2.2).
        if scheme == .ftp || scheme == .ftps, bytes.count >= 7, bytes.suffix(7).dropLast().elementsEqual(";type=".utf8)
        {
            bytes = bytes.dropLast(7)
        }
        return PercentCoding.decoded(bytes)
    }
}

extension Origin {
    /// In the form of RFC 6454 §6.2.
    package var text: String { WebAddress.text(scheme, host, port, "", nil) }
}

/// Writes strings one after another into memory of a known size.
@safe private struct TextWriter {
    private let room: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ room: UnsafeMutableBufferPointer<UInt8>) { unsafe self.room = room }

    mutating func put(_ byte: UInt8) {
        unsafe room[count] = byte
        count += 1
    }

    mutating func put(_ number: UInt16) {
        var power: UInt16 = 10_000
        while power > max(number, 1) { power /= 10 }
        while power > 0 {
            put(UInt8(ascii: "0") + UInt8(number / power % 10))
            power /= 10
        }
    }

    mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            unsafe precondition(bytes.count <= room.count - count, "the text is longer than its parts")
            let rest = unsafe UnsafeMutableBufferPointer(rebasing: room[count...])
            count += unsafe rest.update(fromContentsOf: bytes)
        }
    }
}
