import PawlCore

extension Command {
    /// Every command, in the order in which they are shown.
    static let table: [Command] =
        [get, add, list, show] + steering + [wait, status, stop, serve, aria2c, help]

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
        "[COMMAND]",
        summary: "every option of a command",
        details: "Shows what a command does and every option that it takes."
    ) { (arguments) throws(Failure) in
        say(try PawlCommands.help(on: arguments.first))
        return 0
    }
}

@Sendable private func runGet(_ arguments: ArraySlice<String>) throws(Failure) -> Int32 {
    let plan = try GetPlan(arguments: arguments, readingWith: readText)
    guard !plan.options.wantsHelp else {
        say(try help(on: "get"))
        return 0
    }
    for (option, path) in plan.options.filesToRead { try checkReadable(path, option: option) }
    return try GetSession(plan).run()
}
