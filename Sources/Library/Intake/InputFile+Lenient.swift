import PawlBase

extension InputFile {
    /// A line that was skipped.
    package struct Fault: Hashable, Sendable {
        /// From 1.
        package var line: Int
        /// The line as written, without white space at its end; the beginning of a giant one.
        package var text: String
    }

    /// Parses a list as aria2 does: a line without a use is skipped instead of refused.
    ///
    /// Indented lines before the first URL are URLs; option lines without `=` and giant lines are returned as faults.
    /// Nothing is checked further: a word that is no URL is the caller's to refuse.
    package static func parseLeniently(_ bytes: [UInt8]) -> (entries: [InputEntry], faults: [Fault]) {
        var entries: [InputEntry] = []
        var faults: [Fault] = []
        forEachLine(of: bytes) { line, raw, content in
            guard raw.first != .hash, content.first != .hash || !entries.isEmpty else { return }
            guard raw.count <= longestLine else {
                faults.append(Fault(line: line, text: String(decoding: raw.prefix(80), as: UTF8.self) + "…"))
                return
            }
            if raw.first?.isBlank == true, !entries.isEmpty {
                if let equals = content.firstIndex(of: .equals), equals > content.startIndex {
                    let option = InputOption(content, equals: equals, line: line)
                    entries[entries.count - 1].options.append(option)
                } else {
                    let text = String(decoding: raw[..<content.endIndex], as: UTF8.self)
                    faults.append(Fault(line: line, text: text))
                }
            } else {
                entries.append(InputEntry(addresses: addresses(content), line: line))
            }
        }
        return (entries, faults)
    }
}
