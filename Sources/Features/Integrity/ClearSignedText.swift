import PawlBase

/// The text of a clear-signed message (RFC 9580 §7), without its signature and what stands around it.
package struct ClearSignedText: Hashable, Sendable {
    /// The signed lines, dashes unescaped.
    package private(set) var text: [UInt8]
    /// The message from the first mark through the last, without what stands around it.
    package private(set) var message: [UInt8]

    private static let begin = Array("-----BEGIN PGP SIGNED MESSAGE-----".utf8)
    private static let signature = Array("-----BEGIN PGP SIGNATURE-----".utf8)
    private static let end = Array("-----END PGP SIGNATURE-----".utf8)

    static func isMarked(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.split(separator: .lineFeed).contains { bare($0) == begin }
    }

    private static func bare(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var line = line
        while let last = line.last, last.isWhiteSpace { line = line.dropLast() }
        return Array(line)
    }

    /// `nil` without exactly one complete message.
    package init?(_ bytes: [UInt8]) {
        let lines = bytes.pieces(between: .lineFeed)
        let marks = lines.indices.filter { Self.bare(lines[$0]) == Self.begin }
        guard marks.count == 1, let first = marks.first else { return nil }
        // Armor headers, such as the hash's name, up to an empty line.
        guard let empty = lines[(first + 1)...].firstIndex(where: { Self.bare($0).isEmpty }),
            let last = lines[empty...].firstIndex(where: { Self.bare($0) == Self.signature }),
            let close = lines[last...].firstIndex(where: { Self.bare($0) == Self.end })
        else { return nil }
        let inner = lines[(empty + 1)..<max(empty + 1, last)]
        text = Array(
            inner.map { $0.starts(with: [.dash, .space]) ? Array($0.dropFirst(2)) : Array($0) }.joined(separator: [
                .lineFeed
            ]))
        message = Array(lines[first...close].map { Array($0) }.joined(separator: [.lineFeed])) + [.lineFeed]
    }
}
