// Digests as people paste them: also with the line of a sums file around them.
package import PawlBase

extension Checksum {
    /// Reads a digest in the forms of ``init(text:)``, or one line of a sums file.
    package init?(pasted text: String) {
        guard let read = Checksum(text: text) ?? Self.line(Array(text.utf8).trimmed(\.isWhiteSpace)) else { return nil }
        self = read
    }

    private static func line(_ text: ArraySlice<UInt8>) -> Checksum? {
        guard !text.contains(.lineFeed), let sums = SumsFile(Array(text)) else { return nil }
        let all = (sums.entries + sums.outside).map(\.checksum) + (sums.bare.map { [$0] } ?? [])
        return all.count == 1 ? all[0] : nil
    }

    /// Reads `TYPE=HEX,TYPE=HEX`, each in any of the forms; `nil` if one of them cannot be read.
    package static func list(_ text: String) -> [Checksum]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let checksums = parts.compactMap { Checksum(pasted: String($0)) }
        if checksums.count == parts.count { return checksums }
        // The file's name in a line may have commas.
        return Checksum(pasted: text).map { [$0] }
    }
}
