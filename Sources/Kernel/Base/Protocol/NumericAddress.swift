/// An IPv6 address (RFC 4291 §2.2).
package struct IPv6Address: Hashable {
    /// Always eight.
    private(set) var groups: [UInt16]

    /// Parses the text form without brackets and without a zone.
    package init?(_ text: ArraySlice<UInt8>) {
        var head: [UInt16] = []
        var tail: [UInt16] = []
        var isCompressed = false
        var rest = text
        if rest.starts(with: "::".utf8) {
            isCompressed = true
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let piece = rest.prefix { $0 != .colon }
            rest = rest[piece.endIndex...]
            guard let values = rest.isEmpty ? Self.lastGroups(piece) : Self.group(piece).map({ [$0] }) else {
                return nil
            }
            if isCompressed { tail += values } else { head += values }
            guard head.count + tail.count <= 8 else { return nil }
            guard rest.popFirst() != nil else { break }
            if rest.first == .colon {
                guard !isCompressed else { return nil }
                isCompressed = true
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        let count = head.count + tail.count
        guard isCompressed ? count <= 7 : count == 8 else { return nil }
        groups = head + Array(repeating: 0, count: 8 - count) + tail
    }

    /// Sixteen bytes in network byte order.
    init(_ bytes: [UInt8]) { groups = (0..<8).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) } }

    /// In network byte order.
    package var bytes: [UInt8] { groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }

    /// `::1`, and 127.0.0.0/8 in its IPv4-mapped form.
    var isLoopback: Bool {
        groups == [0, 0, 0, 0, 0, 0, 0, 1] || groups.prefix(6) == [0, 0, 0, 0, 0, 0xFFFF] && groups[6] >> 8 == 127
    }

    private static func group(_ piece: ArraySlice<UInt8>) -> UInt16? {
        guard 1...4 ~= piece.count else { return nil }
        var value: UInt16 = 0
        for byte in piece {
            guard let digit = byte.hexValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// The last piece may be a dotted quad.
    private static func lastGroups(_ piece: ArraySlice<UInt8>) -> [UInt16]? {
        guard piece.contains(.dot) else { return group(piece).map { [$0] } }
        let parts = piece.pieces(between: .dot).compactMap(HostName.quadPart)
        guard parts.count == 4, piece.count(where: { $0 == .dot }) == 3 else { return nil }
        return [UInt16(parts[0]) << 8 | UInt16(parts[1]), UInt16(parts[2]) << 8 | UInt16(parts[3])]
    }
}

extension IPv6Address: CustomStringConvertible {
    /// The canonical text (RFC 5952 §4), so that equal addresses have equal texts.
    package var description: String {
        var longest = 0..<0
        var index = 0
        while index < 8 {
            let end = groups[index...].firstIndex { $0 != 0 } ?? 8
            if end - index > max(longest.count, 1) { longest = index..<end }
            index = max(end, index + 1)
        }
        func text(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard !longest.isEmpty else { return text(groups[...]) }
        return text(groups[..<longest.lowerBound]) + "::" + text(groups[longest.upperBound...])
    }
}

/// An address of the Internet Protocol as text.
package enum NumericAddress {
    /// Whether it is four numbers with dots, or an IPv6 address without brackets.
    package static func isOne(_ text: String) -> Bool { bytes(of: text) != nil }

    /// The address in network byte order: four bytes, or sixteen; `nil` if the text is not one.
    package static func bytes(of text: String) -> [UInt8]? {
        if text.utf8.contains(.colon) { return IPv6Address(Array(text.utf8)[...])?.bytes }
        var bytes: [UInt8] = []
        var (value, digits) = (0, 0)
        for character in text.utf8 {
            switch character {
            case 0x30...0x39 where digits < 3: (value, digits) = (value * 10 + Int(character) - 0x30, digits + 1)
            case .dot where digits > 0 && value < 256 && bytes.count < 3:
                bytes.append(UInt8(value))
                (value, digits) = (0, 0)
            case _: return nil
            }
        }
        guard digits > 0, value < 256, bytes.count == 3 else { return nil }
        return bytes + [UInt8(value)]
    }
}

extension NumericAddress {
    /// The text of four bytes or sixteen.
    package static func text(of bytes: [UInt8]) -> String {
        bytes.count == 16 ? IPv6Address(bytes).description : bytes.map(\.description).joined(separator: ".")
    }
}

/// The first bits of addresses.
struct AddressPrefix {
    let bytes: [UInt8]
    let bits: Int

    /// The address has at least as many bytes.
    func contains(_ address: some Collection<UInt8>) -> Bool {
        for (index, (wanted, byte)) in zip(bytes, address).enumerated() {
            let left = bits - 8 * index
            guard left > 0 else { return true }
            let mask = left >= 8 ? 0xFF : ~(UInt8(0xFF) >> UInt8(left))
            if wanted & mask != byte & mask { return false }
        }
        return true
    }
}

/// The versions of the Internet Protocol that connections may use.
package enum IPVersion: Hashable, Sendable {
    case any, v4, v6

    /// Whether a host can be reached with it: the address of a numeric host has a version, a name may have both.
    package func allows(numericHost host: some StringProtocol) -> Bool {
        switch self {
        case .any: true
        case .v4: !host.contains(":")
        case .v6: host.contains(":")
        }
    }
}
