package import PawlBase

/// The command lines of `curl`, `wget` and `aria2c`, as browsers copy them and instructions have them, as entries of an
/// input file.
package enum TransferCommand {
    enum Program: String, CaseIterable { case curl, wget, aria2c }

    /// Whether the text begins with such a command.
    package static func isCommand(_ text: String) -> Bool {
        let words = text.split(maxSplits: 2, whereSeparator: \.isWhitespace)
        let first = words.first == "$" ? words.dropFirst().first : words.first
        return first.flatMap { program(String($0)) } != nil && words.count > 1
    }

    /// The downloads of one or several commands; throws code 28 for an option that means something else than a download.
    package static func entries(in text: String) throws(Failure) -> [InputEntry] {
        try entries(of: try ShellWords.commands(in: text))
    }

    static func entries(of commands: [[String]]) throws(Failure) -> [InputEntry] {
        var entries: [InputEntry] = []
        for command in commands {
            let words = Array(command.first == "$" ? command.dropFirst() : command[...])
            guard let first = words.first, let program = program(first) else {
                throw refusal(command[0], .init("command-other", "it is neither curl nor aria2c nor wget"))
            }
            var reader = CommandReader(program, Array(words.dropFirst()))
            entries += try reader.read()
        }
        return entries
    }

    static func program(_ word: String) -> Program? {
        if word.contains("://") { return nil }
        var name = word.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map { String($0) } ?? word
        if name.lowercased().hasSuffix(".exe") { name = String(name.dropLast(4)) }
        return Program(rawValue: name.lowercased())
    }

    static func refusal(_ word: String, _ why: LocalizableMessage) -> Failure {
        Failure(
            .badOption, "cannot use", at: Redaction.printable(word), because: why, remedy: "remove it from the command")
    }

    /// The entries of an input file with the names that Pawl's options have; those that `isKnown` stay.
    ///
    /// `nil` if no option is known: the text is something else. Throws code 28 for an option without an equivalent.
    package static func translated(
        _ entries: [InputEntry], unless isKnown: (String) -> Bool
    ) throws(Failure) -> [InputEntry]? {
        let names = CommandMeaning.table(of: .aria2c)
        guard
            entries.contains(where: {
                $0.options.contains { isKnown($0.name) || $0.name.count > 1 && names[$0.name] != nil }
            })
        else { return nil }
        var translated: [InputEntry] = []
        for entry in entries {
            let own = entry.options.filter { isKnown($0.name) }
            let words = entry.options.filter { !isKnown($0.name) }.map { "--\($0.name)=\($0.value)" }
            var reader = CommandReader(.aria2c, words + ["--"] + entry.addresses)
            for var read in try reader.read() {
                read.options = own + read.options
                read.line = entry.line
                translated.append(read)
            }
        }
        return translated
    }
}
