import PawlBase

/// A public key of minisign: an Ed25519 key and its number.
package struct MinisignKey: Hashable, Sendable {
    package let number: [UInt8]
    /// 32 bytes.
    package let key: [UInt8]

    /// Reads the base64 of a key, or a file of two lines: a comment and the base64.
    package init?(_ text: some Collection<UInt8>) {
        guard text.count <= MinisignSignature.longest else { return nil }
        let lines = MinisignSignature.lines(text)
        let coded = lines.first?.starts(with: MinisignSignature.comment.utf8) == true ? lines.dropFirst() : lines[...]
        guard coded.count == 1, let line = coded.first, let bytes = Base64.decodePadded(line), bytes.count == 42,
            bytes.starts(with: "Ed".utf8)
        else { return nil }
        number = Array(bytes[2..<10])
        key = Array(bytes[10...])
    }
}

/// The envelope of a minisign signature: four lines, with two signatures by one key.
package struct MinisignSignature: Hashable, Sendable {
    /// Whether the first signature is over the content's BLAKE2b-512 digest (`ED`) instead of the content (`Ed`).
    package let isPrehashed: Bool
    package let number: [UInt8]
    /// 64 bytes.
    package let signature: [UInt8]
    /// The text that the second signature covers too.
    package let trustedComment: [UInt8]
    /// Over ``signature`` and ``trustedComment``; 64 bytes.
    package let globalSignature: [UInt8]

    static let comment = "untrusted comment:"
    private static let trusted = "trusted comment: "
    package static let longest = 16 << 10

    /// What ``globalSignature`` covers.
    package var globallySigned: [UInt8] { signature + trustedComment }

    /// `nil` unless it has exactly the four lines.
    package init?(_ text: some Collection<UInt8>) {
        guard text.count <= Self.longest else { return nil }
        let lines = Self.lines(text)
        guard lines.count == 4, lines[0].starts(with: Self.comment.utf8), lines[2].starts(with: Self.trusted.utf8),
            let first = Base64.decodePadded(lines[1]), let second = Base64.decodePadded(lines[3]), first.count == 74,
            second.count == 64
        else { return nil }
        switch (first[0], first[1]) {
        case (UInt8(ascii: "E"), UInt8(ascii: "d")): isPrehashed = false
        case (UInt8(ascii: "E"), UInt8(ascii: "D")): isPrehashed = true
        case _: return nil
        }
        number = Array(first[2..<10])
        signature = Array(first[10...])
        trustedComment = Array(lines[2].dropFirst(Self.trusted.utf8.count))
        globalSignature = second
    }

    static func lines(_ text: some Collection<UInt8>) -> [ArraySlice<UInt8>] {
        var lines = Array(text)[...].pieces(between: .lineFeed).map { line in
            line.last == .carriageReturn ? line.dropLast() : line
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
