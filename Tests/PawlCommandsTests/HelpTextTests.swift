import Testing

@testable import PawlCommands

@Suite struct HelpTextTests {
    @Test(arguments: Command.table.map(\.name))
    func `help names every option with its value and its default`(name: String) throws {
        let command = try #require(Command.table.first { $0.name == name })
        let text = HelpText.text(of: command)
        for option in command.options {
            let short = option.short.map { "  -\($0), " } ?? "      "
            let line = text.split(separator: "\n").first { $0.hasPrefix(short + "--\(option.long)") }
            #expect(line != nil, "--\(option.long)")
            if case .required(let metavar) = option.value {
                #expect(line?.contains("--\(option.long) \(metavar)") == true)
            }
            if let standard = option.standard {
                // Line breaks may fall inside it.
                #expect(words(text).contains(words("[\(standard)]")), "--\(option.long)")
            }
            #expect(text.contains("\n\(option.group.rawValue):\n"))
        }
    }

    @Test func `no line is wider than a terminal`() {
        for text in [HelpText.overview] + Command.table.map(HelpText.text) {
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    @Test func `no name is used twice`() {
        for command in Command.table {
            let names = command.options.flatMap(\.names)
            #expect(Set(names).count == names.count, "\(command.name)")
            let letters = command.options.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(command.name)")
        }
        #expect(Set(Command.table.map(\.name)).count == Command.table.count)
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
