/// Paths as text without loss: the bytes of a name are any but NUL and slash, and need not be UTF-8.
///
/// Bytes that are not UTF-8 become the last 256 characters of the private plane 16; so do the bytes of these characters.
package enum PathText {
    private static let first: UInt32 = 0x10FF00

    package static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isEscape) {
            return text
        }
        var scalars = String.UnicodeScalarView()
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var next = 0
        loop: while true {
            let length: Int
            switch parser.parseScalar(from: &rest) {
            case .valid(let units):
                length = units.count
                let scalar = Unicode.UTF8.decode(units)
                if !isEscape(scalar) {
                    scalars.append(scalar)
                    next += length
                    continue
                }
            case .error(let count): length = count
            case .emptyInput: break loop
            }
            scalars.append(contentsOf: bytes[next..<next + length].map(escape))
            next += length
        }
        return String(scalars)
    }

    package static func bytes(_ text: some StringProtocol) -> [UInt8] {
        guard text.unicodeScalars.contains(where: isEscape) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            isEscape(scalar) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    /// The text for users: U+FFFD instead of what is not UTF-8.
    package static func shown(_ text: String) -> String { String(decoding: bytes(text), as: UTF8.self) }

    private static func isEscape(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= first }

    private static func escape(_ byte: UInt8) -> Unicode.Scalar { Unicode.Scalar(first + UInt32(byte)) ?? "\u{FFFD}" }
}

extension StringProtocol {
    /// The components of a path, as the kernel separates them.
    ///
    /// Characters are no measure: a combining mark after a slash makes one character of both, so that `split` finds neither
    /// the slash nor the `..` before it.
    package func pathParts(keepsEmpty: Bool = false) -> [Substring] {
        Substring(self).unicodeScalars.split(separator: "/", omittingEmptySubsequences: !keepsEmpty).map {
            Substring($0)
        }
    }

    /// Whether it is a path from the root, as the kernel sees it.
    package var isAbsolutePath: Bool { utf8.first == .slash }

    /// Whether it has a slash, as the kernel sees it.
    package var hasSlash: Bool { utf8.contains(.slash) }
}
