import Glibc
import Pawl
import PawlCore

/// Runs the command line (the first argument is the program's name) and returns the exit code.
///
/// Arguments need not be UTF-8: such a URL is percent-encoded.
package func run(arguments: [[UInt8]]) -> Int32 {
    do throws(Failure) {
        let texts = arguments.map { argument in
            argument.firstRange(of: "://".utf8) == nil
                ? String(decoding: argument, as: UTF8.self) : PercentCoding.text(argument)
        }
        let name = texts.first?.pathParts().last
        if name == "aria2c" { return try Command.aria2c.run(texts.dropFirst()) }
        if let command = Command.table.first(where: { $0.name == texts.dropFirst().first }),
            command.takesPathTexts
        {
            return try command.run(arguments.dropFirst(2).map(PathText.text)[...])
        }
        return try run(command: texts.dropFirst())
    } catch {
        printFailure(error)
        return Int32(error.code.rawValue)
    }
}

/// Prints a failure as one line on standard error.
func printFailure(_ failure: Failure) {
    var errors = OutputFile(descriptor: STDERR_FILENO)
    errors.appendLine(TerminalText.harmless("pawl: \(failure.commandLineSentence)"))
    errors.flush()
}

private func run(command arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    switch arguments.first {
    case "--help", "-h":
        say(HelpText.overview)
        return 0
    case "--help-all":
        say(HelpText.whole)
        return 0
    case "--version", "-V":
        say("pawl \(PawlVersion.text)\n")
        return 0
    case nil:
        throw Failure(
            .badOption,
            "missing",
            at: "COMMAND",
            because: "",
            remedy: "see 'pawl --help'"
        )
    case .some(let word):
        if let command = Command.table.first(where: { $0.name == word }) {
            return try command.run(arguments.dropFirst())
        }
        // The most common command needs no name.
        if let get = Command.table.first(where: { $0.name == "get" }), BareAddress.begins(arguments) {
            return try get.run(arguments)
        }
        if let meant = CommandHabit.command(for: word) {
            throw Failure(
                .badOption,
                word.hasPrefix("-") ? "unknown option" : "unknown command",
                at: word,
                because: "",
                remedy: Remedy("did you mean 'pawl \(meant)'?")
            )
        }
        let near = spellingSuggestion(for: word, among: Command.table.map(\.name)).map {
            "did you mean \(quoted($0))?"
        }
        throw Failure(
            .badOption,
            word.hasPrefix("-") ? "unknown option" : "unknown command",
            at: word,
            because: "",
            remedy: near.map { Remedy($0) } ?? "see 'pawl --help'"
        )
    }
}
