/// What a client has to know.
package struct Secret: Sendable {
    private let bytes: [UInt8]

    /// `nil` for an empty text, which would let everybody in.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        bytes = Array(text.utf8)
    }

    /// Takes the same time wherever the difference is, so that it cannot be guessed a character at a time.
    package func equals(_ other: String) -> Bool {
        let other = Array(other.utf8)
        guard other.count == bytes.count else { return false }
        var difference: UInt8 = 0
        for index in bytes.indices { difference |= bytes[index] ^ other[index] }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible {
    /// Never the secret itself.
    package var description: String { "secret" }
}
