import Testing

@testable import PawlCommands

@Suite struct HelpTextTests {
    @Test func `help names every option with its value and its default`() {
        for option in GetOptions.table {
            let short = option.short.map { "  -\($0), " } ?? "      "
            let line = HelpText.get.split(separator: "\n").first { $0.hasPrefix(short + "--\(option.long)") }
            #expect(line != nil, "--\(option.long)")
            if case .required(let metavar) = option.value {
                #expect(line?.contains("--\(option.long) \(metavar)") == true)
            }
            if let standard = option.standard {
                // Line breaks may fall inside it.
                #expect(words(HelpText.get).contains(words("[\(standard)]")), "--\(option.long)")
            }
        }
    }

    @Test func `no line is wider than a terminal`() {
        for text in [HelpText.get, HelpText.overview] {
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    @Test func `no name is used twice`() {
        let names = GetOptions.table.flatMap(\.names)
        #expect(Set(names).count == names.count)
        let letters = GetOptions.table.compactMap(\.short)
        #expect(Set(letters).count == letters.count)
    }

    @Test func `an option that exists is documented under a heading that is shown`() {
        for group in OptionGroup.allCases { #expect(HelpText.get.contains("\n\(group.rawValue):\n")) }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
