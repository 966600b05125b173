import Testing

@testable import PawlCommands
@testable import PawlTerminal

@Suite struct HelpTextTests {
    @Test(arguments: Command.table.map(\.name)) func `help names every option with its value and its default`(
        name: String
    ) throws {
        let command = try #require(Command.table.first { $0.name == name })
        let text = HelpText.text(of: command, whole: true)
        for option in command.options {
            let short = option.short.map { "  -\($0), " } ?? "      "
            let line = text.split(separator: "\n").first {
                let name = short + "--\(option.long)"
                let next = $0.dropFirst(name.count).first ?? " "
                return $0.hasPrefix(name) && next != "-" && !next.isLetter
            }
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

    @Test func `standard output is offered only by commands that write to it`() throws {
        let add = try #require(Command.table.first { $0.name == "add" })
        let get = try #require(Command.table.first { $0.name == "get" })
        let offer = "- for standard output"
        #expect(words(HelpText.text(of: get, whole: true)).contains(words(offer)))
        let output = try #require(add.options.first { $0.long == "output" })
        #expect(!output.help.contains(offer) && output.help.contains("FILE"))
    }

    @Test(arguments: Command.table) func `no line ends inside a quoted command`(command: Command) {
        for whole in [false, true] {
            for line in HelpText.text(of: command, whole: whole).split(separator: "\n") {
                // An apostrophe is between letters, or ends a word that no mark began.
                let begins = line.split(separator: " ").count { $0.drop { "([".contains($0) }.hasPrefix("'") }
                let marks = line.count { $0 == "'" }
                #expect(marks >= begins * 2, "\(line)")
            }
        }
    }

    @Test func `the short help of aria2c has a line for each group without effect`() throws {
        let command = try #require(Command.table.first { $0.name == "aria2c" })
        let short = HelpText.text(of: command)
        #expect(short.contains("BitTorrent:\n  ") && short.contains("'pawl help aria2c --all'"))
        #expect(!short.contains("--bt-tracker") && !short.contains("see aria2c(1)"))
        #expect(short.split(separator: "\n").count < 120)
        #expect(HelpText.text(of: command, whole: true).contains("--bt-tracker"))
    }

    @Test func `the whole help is offered where it shows more`() {
        for command in Command.table where command.options.contains(where: { $0.long == "help-all" }) {
            #expect(HelpText.text(of: command) != HelpText.text(of: command, whole: true), "\(command.name)")
        }
    }

    @Test(arguments: Command.table) func `the description of a command begins with what the command does`(
        command: Command
    ) {
        let verbs: Set = [
            "Accept", "Add", "Change", "Compute", "Continue", "Download", "Find", "Keep", "Limit", "Move", "Open",
            "Pause", "Print", "Put", "Read", "Rename", "Run", "Show", "Start", "Stop", "Take", "Wait",
        ]
        let first = command.details.prefix { $0.isLetter }
        #expect(verbs.contains(String(first)), "\(command.name): \(command.details)")
        #expect(command.summary.first?.isLowercase == true, "\(command.name)")
    }

    @Test func `the overview has every command under its heading`() throws {
        let lines = HelpText.overview().split(separator: "\n")
        var place = 0
        for group in Command.groups {
            for start in ["\(group.title):"] + group.commands.map({ "  pawl \($0.name) " }) {
                let next = try #require(lines[place...].firstIndex { $0.hasPrefix(start) }, "\(start)")
                place = next + 1
            }
        }
    }

    @Test(arguments: [50, 80, 120]) func `what pawl alone prints fits on the smallest terminal`(width: Int) {
        let text = HelpText.short(HelpLayout(width: width))
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 24, "\(text)")
        #expect(text.contains("  pawl get URL...") && text.contains("'pawl --help'"))
    }

    @Test func `no line is wider than a terminal`() {
        for text in texts(HelpLayout()) {
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    private func texts(_ layout: HelpLayout) -> [String] {
        [HelpText.overview(layout), HelpText.short(layout)]
            + Command.table.flatMap { [HelpText.text(of: $0, layout), HelpText.text(of: $0, whole: true, layout)] }
    }

    @Test(arguments: [20, 24, 30, 40, 60, 71, 72])
    func `in a narrow terminal lines fit, and words are cut behind signs only`(width: Int) {
        for (narrow, wide) in zip(texts(HelpLayout(width: width)), texts(HelpLayout())) {
            let words = Set(wide.split(whereSeparator: \.isWhitespace))
            for line in narrow.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
            let pieces = narrow.split(whereSeparator: \.isWhitespace).filter { $0 != "\\" }
            for (piece, next) in zip(pieces, pieces.dropFirst() + [""]) where !words.contains(piece) {
                let end = piece.last ?? " "
                let isCut = "|/,=:".contains(end) || next.first == "["
                let endsWord = words.contains { $0.hasSuffix(piece) }
                #expect(isCut || endsWord || width < 40, "\(piece)")
            }
        }
    }

    @Test(arguments: ["get", "add", "set", "serve"])
    func `the help of a command with many options is short, begins with examples and names the whole`(
        name: String
    ) throws {
        let command = try #require(Command.table.first { $0.name == name })
        let (short, whole) = (HelpText.text(of: command), HelpText.text(of: command, whole: true))
        #expect(short.split(separator: "\n").count * 3 < whole.split(separator: "\n").count * 2)
        #expect(short.contains("'pawl \(name) --help-all'"))
        #expect(short.contains("Examples:\n  pawl \(name) "))
        let options = try #require(short.range(of: "      --"))
        #expect(try #require(short.range(of: "Examples:")).lowerBound < options.lowerBound)
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

    private func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}

extension String {
    /// The first occurrence, without Foundation.
    fileprivate func range(of part: String) -> Range<Index>? {
        indices.lazy.filter { self[$0...].hasPrefix(part) }.first.map { $0..<endIndex }
    }
}
