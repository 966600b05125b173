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
        var next = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var line = 0
        while next <= bytes.count {
            let end = bytes.firstIndex(of: .lineFeed, from: next) ?? bytes.count
            let raw = bytes[next..<end]
            (next, line) = (end + 1, line + 1)
            let content = raw.trimmed(\.isWhiteSpace)
            guard let first = content.first, raw.first != .hash, first != .hash || !entries.isEmpty else {
                continue
            }
            guard raw.count <= longestLine else {
                faults.append(Fault(line: line, text: String(decoding: raw.prefix(80), as: UTF8.self) + "…"))
                continue
            }
            if raw.first?.isBlank == true, !entries.isEmpty {
                if let equals = content.firstIndex(of: .equals), equals > content.startIndex {
                    entries[entries.count - 1].options.append(
                        InputOption(
                            name: String(decoding: content[..<equals].trimmed(\.isWhiteSpace), as: UTF8.self),
                            value: String(
                                decoding: content[(equals + 1)...].trimmed(\.isWhiteSpace),
                                as: UTF8.self
                            ),
                            line: line
                        )
                    )
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

/// aria2's configuration file: lines `name=value`, `#` comments.
package enum ConfigurationFile {
    /// The assignments in order, `${HOME}` in their values replaced; lines without `=` have an empty value.
    package static func parse(_ bytes: [UInt8], home: String) -> [InputOption] {
        var options: [InputOption] = []
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        for (index, raw) in bytes[start...].split(separator: .lineFeed, omittingEmptySubsequences: false)
            .enumerated()
        {
            let content = raw.trimmed(\.isWhiteSpace)
            guard let first = content.first, first != .hash else { continue }
            let equals = content.firstIndex(of: .equals) ?? content.endIndex
            let value = String(
                decoding: content[equals...].dropFirst().trimmed(\.isWhiteSpace),
                as: UTF8.self
            )
            options.append(
                InputOption(
                    name: String(decoding: content[..<equals].trimmed(\.isWhiteSpace), as: UTF8.self),
                    value: value.split(separator: "${HOME}", omittingEmptySubsequences: false)
                        .joined(separator: home),
                    line: index + 1
                )
            )
        }
        return options
    }
}
