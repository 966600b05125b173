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

/// aria2's configuration file: lines `name=value`, `#` comments.
package enum ConfigurationFile {
    /// The assignments in order, `${HOME}` in their values replaced; lines without `=` have an empty value.
    package static func parse(_ bytes: [UInt8], home: String) -> [InputOption] {
        var options: [InputOption] = []
        InputFile.forEachLine(of: bytes) { line, _, content in
            guard content.first != .hash else { return }
            let equals = content.firstIndex(of: .equals) ?? content.endIndex
            var option = InputOption(content, equals: equals, line: line)
            option.value = option.value.split(separator: "${HOME}", omittingEmptySubsequences: false)
                .joined(separator: home)
            options.append(option)
        }
        return options
    }
}
