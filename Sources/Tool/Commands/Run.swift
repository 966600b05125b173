import Glibc
import Pawl
import PawlAria2c
import PawlBase
import PawlIntake
import PawlServiceCommands
import PawlSystem
import PawlTerminal

/// Runs the command line (the first argument is the program's name) and returns the exit code.
///
/// Arguments need not be UTF-8 where they are URLs, which are percent-encoded then, or names of files that are only read.
package func run(arguments: [[UInt8]]) -> Int32 {
    SystemDescriptors.raiseLimit()
    ChildProcess.reapOrphansIfFirst()
    let code = runCommand(arguments)
    // aria2's exit codes are those of downloads.
    guard !isAria2c(arguments), let error = OutputFile.lostOutput else { return code }
    let failure = Failure(
        .inputOutput, "cannot write to", at: "standard output", because: error.text, remedy: "the output is incomplete")
    printFailure(failure)
    return code == 0 ? Int32(failure.code.rawValue) : code
}

/// Whether the program is called by the name of aria2's, or its command.
private func isAria2c(_ arguments: [[UInt8]]) -> Bool {
    arguments.first.map { String(decoding: $0, as: UTF8.self) }?.pathParts().last == "aria2c"
        || arguments.dropFirst().first.map { $0.elementsEqual("aria2c".utf8) } == true
}

private func runCommand(_ arguments: [[UInt8]]) -> Int32 {
    do throws(Failure) {
        let name = arguments.first.map { String(decoding: $0, as: UTF8.self) }?.pathParts().last
        if name != "aria2c",
            let command = Command.table.first(where: { Array($0.name.utf8) == arguments.dropFirst().first }),
            command.takesPathTexts
        {
            return try run(command, arguments.dropFirst(2).map(PathText.text)[...])
        }
        let texts = try arguments.dropFirst().map(text)
        return try name == "aria2c" ? run(.aria2c, texts[...]) : run(command: texts[...])
    } catch {
        printFailure(error)
        return Int32(error.code.rawValue)
    }
}

/// A name with U+FFFD instead of its bytes would be that of another file.
private func text(_ argument: [UInt8]) throws(Failure) -> String {
    if argument.firstRange(of: "://".utf8) != nil { return PercentCoding.text(argument) }
    guard let text = String(validating: argument, as: UTF8.self) else {
        throw Failure(
            .badOption, "cannot use", at: String(decoding: argument, as: UTF8.self), because: "it is not UTF-8",
            remedy: "use another name or value; only 'pawl verify' takes such names")
    }
    return text
}

/// A word that is no command, for a message: an option without its value, a URL without its login.
private func shown(_ word: String) -> String {
    guard word.hasPrefix("-") else { return Redaction.address(word) }
    let name = word.prefix { $0 != "=" }
    // A short option may have its value attached, such as a login.
    return name.hasPrefix("--") || !name.contains(":") ? String(name) : String(name.prefix(2))
}

/// Runs a command, or shows its help.
private func run(_ command: Command, _ arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    CommandTerms.run(command)
    switch try command.run(arguments) {
    case .exit(let code): return code
    case .help(let length):
        say(HelpText.text(of: command, whole: length == .whole, .ofTerminal))
        return 0
    }
}

private func run(command arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    switch arguments.first {
    // As git does: who types the name wants to know what it can do.
    case nil:
        say(HelpText.short(.ofTerminal))
        return 0
    case "--help", "-h":
        say(HelpText.overview(.ofTerminal))
        return 0
    case "--help-all":
        say(HelpText.whole(.ofTerminal))
        return 0
    case "--version", "-V":
        say("pawl \(PawlVersion.text)\n")
        return 0
    case .some(let word):
        if let command = Command.table.first(where: { $0.name == word }) {
            return try run(command, arguments.dropFirst())
        }
        // The most common command needs no name.
        if let get = Command.table.first(where: { $0.name == "get" }), BareAddress.begins(arguments) {
            return try run(get, arguments)
        }
        if let meant = CommandHabit.command(for: word) {
            throw Failure(
                .badOption, word.hasPrefix("-") ? "unknown option" : "unknown command", at: shown(word), because: "",
                remedy: Remedy("did you mean 'pawl \(meant)'?"))
        }
        let near = spellingSuggestion(for: word, among: Command.table.map(\.name)).map { "did you mean \(quoted($0))?" }
        throw Failure(
            .badOption, word.hasPrefix("-") ? "unknown option" : "unknown command", at: shown(word), because: "",
            remedy: near.map { Remedy($0) } ?? "see 'pawl --help'")
    }
}
