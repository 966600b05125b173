import PawlBase
package import PawlIntake

/// aria2's configuration file: lines `name=value`, `#` comments.
package enum ConfigurationFile {
    /// The assignments in order, `${HOME}` in their values replaced; lines without `=` have an empty value.
    package static func parse(_ bytes: [UInt8], home: String) -> [InputOption] {
        var options: [InputOption] = []
        InputFile.forEachLine(of: bytes) { line, _, content in
            guard content.first != .hash else { return }
            let equals = content.firstIndex(of: .equals) ?? content.endIndex
            var option = InputOption(content, equals: equals, line: line)
            option.value = option.value.split(separator: "${HOME}", omittingEmptySubsequences: false).joined(
                separator: home)
            options.append(option)
        }
        return options
    }
}
