import PawlCore

extension Command {
    /// Every command, in the order in which they are shown.
    static let table: [Command] =
        [get, add, list, show] + steering + [wait, status, web, stop, serve, aria2c, completions, help]

    private static let get = Command(
        "get",
        "[options] URL...",
        summary: "download now; once more continues",
        details: """
            Downloads now, in this process: http, https, ftp and sftp. Several URLs are several files. Ctrl-C pauses \
            (exit code 7), the same command again continues.
            """,
        operand: .addresses,
        options: GetOptions.table.map(\.entry),
        run: runGet
    )

    private static let help = Command(
        "help",
        "[COMMAND|--man]",
        summary: "every option of a command",
        details:
            "Shows what a command does and every option that it takes; with --man the manual page pawl(1).",
        operand: .words(["--man"])
    ) { (arguments) throws(Failure) in
        say(arguments.first == "--man" ? ManualPage.text : try PawlCommands.help(on: arguments.first))
        return 0
    }

    private static let completions = Command(
        "completions",
        "bash|zsh|fish",
        summary: "what a shell completes, as a script for it",
        details: """
            Writes a script that teaches a shell to complete pawl's commands and options: bash reads it from \
            share/bash-completion/completions/pawl, zsh from a folder of its fpath under the name _pawl, and fish from \
            ~/.config/fish/completions/pawl.fish. 'make install' puts them there.
            """,
        operand: .words(Completions.shells)
    ) { (arguments) throws(Failure) in
        guard let shell = arguments.first, arguments.count == 1, let text = Completions.text(for: shell)
        else {
            throw Failure.usage("completions", Completions.shells.joined(separator: ", "))
        }
        say(text)
        return 0
    }
}

@Sendable private func runGet(_ arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    let plan = try GetPlan(arguments: arguments, readingWith: readText, askingWith: PasswordPrompt.ask)
    guard !plan.options.wantsHelp else {
        say(try help(on: "get"))
        return 0
    }
    for (option, path) in plan.options.filesToRead { try checkReadable(path, option: option) }
    return try GetSession(plan).run()
}
