import PawlCore

extension Command {
    /// Every command under its heading, in display order.
    static let groups: [(title: String, commands: [Command])] = [
        ("Download", [get]),
        ("Queue", [add, list, show] + steering + [wait]),
        ("Service", [status, web, stop, serve]),
        ("Other", [aria2c, completions, help]),
    ]

    /// Every command, in display order.
    static let table: [Command] = groups.flatMap(\.commands)

    private static let get = Command(
        "get",
        "[options] URL...",
        summary: "download files now; run again to resume",
        details: """
            Download each URL to a file of its own over HTTP, HTTPS, FTP, FTPS or SFTP, in this process. Ctrl-C pauses \
            (exit code 7); run the same command again to resume.
            """,
        operand: .addresses,
        options: GetOptions.table.map(\.entry),
        run: runGet
    )

    private static let help = Command(
        "help",
        "[COMMAND|--man]",
        summary: "show help for a command",
        details:
            "Show what a command does and its options; with --man, print the manual page pawl(1).",
        operand: .words(["--man"])
    ) { (arguments) throws(Failure) in
        say(
            arguments.first == "--man"
                ? ManualPage.text
                : try PawlCommands.help(
                    on: arguments.first { !$0.hasPrefix("-") },
                    whole: !arguments.filter { ["--all", "--help-all"].contains($0) }.isEmpty
                )
        )
        return 0
    }

    private static let completions = Command(
        "completions",
        "bash|zsh|fish",
        summary: "print a shell completion script",
        details: """
            Print a script that completes pawl's commands and options. bash reads it from \
            share/bash-completion/completions/pawl, zsh from a folder of its fpath under the name _pawl, and fish from \
            ~/.config/fish/completions/pawl.fish. 'make install' installs all three.
            """,
        operand: .words(Completions.shells)
    ) { (arguments) throws(Failure) in
        if let list = CompletionList(rawValue: arguments.first ?? "") {
            // A shell that asks while the user types gets candidates or nothing.
            say((try? list.text()) ?? "")
            return 0
        }
        guard let shell = arguments.first, arguments.count == 1, let text = Completions.text(for: shell)
        else {
            throw Failure.usage("completions", Completions.shells.joined(separator: "|"))
        }
        say(text)
        return 0
    }
}

@Sendable private func runGet(_ arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    let plan = try GetPlan(
        arguments: arguments,
        readingWith: readText,
        askingWith: PasswordPrompt.ask,
        guessingWith: RemoteLook.scheme
    )
    guard !plan.options.wantsHelp else {
        say(try help(on: "get", whole: plan.options.asksForWholeHelp))
        return 0
    }
    for (option, path) in plan.options.filesToRead { try checkReadable(path, option: option) }
    if plan.options.isDryRun { return DryRun(plan).run() }
    return try GetSession(plan).run()
}
