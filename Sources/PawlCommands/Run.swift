import Glibc
import Pawl
import PawlCore

/// Runs the command line (the program's name is its first argument) and gives the exit code.
package func run(arguments: [String]) -> Int32 {
    do throws(Failure) {
        return try run(command: arguments.dropFirst())
    } catch {
        var errors = OutputFile(descriptor: STDERR_FILENO)
        errors.appendLine(TerminalText.harmless("pawl: \(error)"))
        errors.flush()
        return Int32(error.code.rawValue)
    }
}

private let commands = ["get", "help"]

private func run(command arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    switch arguments.first {
    case "get":
        return try get(arguments.dropFirst())
    case "help":
        say(try help(on: arguments.dropFirst().first))
    case "--help", "-h":
        say(HelpText.overview)
    case "--version", "-V":
        say("pawl \(PawlVersion.text)\n")
    case nil:
        throw Failure(
            .badOption,
            "cannot start",
            at: "pawl",
            because: "no command is given",
            remedy: "see 'pawl --help'"
        )
    case .some(let word):
        let near = nearest(to: word, among: commands).map { "did you mean \(quoted($0))?" }
        throw Failure(
            .badOption,
            word.hasPrefix("-") ? "unknown option" : "unknown command",
            at: word,
            because: "",
            remedy: near ?? "see 'pawl --help'"
        )
    }
    return 0
}

private func get(_ arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    let plan = try GetPlan(arguments: arguments, readingWith: readText)
    if plan.options.wantsHelp {
        say(HelpText.get)
        return 0
    }
    for (option, path) in plan.options.filesToRead { try checkReadable(path, option: option) }
    return try GetSession(plan).run()
}

private func help(on command: String?) throws(Failure) -> String {
    switch command {
    case nil, "help": return HelpText.overview
    case "get": return HelpText.get
    case .some(let word):
        throw Failure(
            .badOption,
            "no help on",
            at: word,
            because: "there is no such command",
            remedy: "see 'pawl --help'"
        )
    }
}

private func say(_ text: String) {
    var output = OutputFile(descriptor: STDOUT_FILENO)
    output.append(text)
    output.flush()
}
