import Glibc
import PawlAria2
import PawlAria2c
import PawlBase
import PawlCollectionsCommand
import PawlGet
import PawlPipe
import PawlServiceCommands
import PawlSystem
import PawlTerminal
import PawlVerify

extension Command {
    /// Every command under its heading, in display order.
    static let groups: [(title: String, commands: [Command])] = [
        (
            "Download",
            [get, ListRemote.command, pipe, verify, repair]
        ), ("Queue", [add, list, show, check] + steering + [wait]),
        ("Service", [status, web, rules, atEnd, stop, serve(Aria2Configuration().extend)]),
        ("Other", [hosts, mcp, aria2c, completions, help]),
    ]

    /// Every command, in display order.
    static let table: [Command] = groups.flatMap(\.commands)

    private static let get = Command(
        "get", "[options] URL...", summary: "download files now; run again to resume",
        details: """
            Download each URL to a file of its own over HTTP, HTTPS, FTP, FTPS or SFTP or from an object store \
            (s3://BUCKET/KEY), the files of a model hub's repository (hf://ORG/NAME[@REVISION]) and the image of a \
            registry (oci://HOST/NAME:TAG, docker://NAME, ollama://MODEL), in this process. Ctrl-C pauses (exit code \
            7); run the same command again to resume. With --recursive, a URL that ends with / stands for the files \
            below it: a web index, an FTP or SFTP folder, s3://BUCKET/PREFIX/. What the folder lacks or has in an \
            older version is downloaded.
            """, operand: .addresses, options: GetOptions.table.map(\.entry), run: runGet)

    private static let help = Command(
        "help", "[COMMAND|--man [COMMAND]|--man-pages DIR]", summary: "show help for a command",
        details: """
            Show what a command does and its options. With --man, print its manual page, or pawl(1); with --man-pages, \
            write all manual pages into the folder DIR.
            """, operand: .commands(["--man", "--man-pages"]), run: runHelp)

    private static let completions = Command(
        "completions", "bash|zsh|fish", summary: "print a shell completion script",
        details: """
            Print a script that completes pawl's commands and options. bash reads it from \
            share/bash-completion/completions/pawl, zsh from a folder of its fpath under the name _pawl, and fish from \
            ~/.config/fish/completions/pawl.fish. 'make install' installs all three.
            """, operand: .words(Completions.shells)
    ) { (arguments) throws(Failure) in
        if let list = CompletionList(rawValue: arguments.first ?? "") {
            // A shell that asks while the user types gets candidates or nothing.
            say((try? list.text()) ?? "")
            return .exit(0)
        }
        guard let shell = arguments.first, arguments.count == 1, let text = Completions.text(for: shell) else {
            throw Failure.usage("completions", Completions.shells.joined(separator: "|"))
        }
        say(text)
        return .exit(0)
    }
}

@Sendable private func runGet(_ arguments: ArraySlice<String>) throws(Failure) -> Command.Outcome {
    var plan = try GetPlan(
        arguments: arguments, readingWith: { (path) throws(Failure) in try readBytes(at: path) },
        askingWith: PasswordPrompt.ask, guessingWith: RemoteLook.scheme)
    if let length = plan.options.help { return .help(length) }
    for (option, path) in plan.options.filesToRead { try checkReadable(path, option: option) }
    if let control = plan.options.zsync { return .exit(try ZsyncUpdate(control, plan).run()) }
    try plan.list()
    try plan.checkUnused()
    if let notice = plan.folderNotice { printNotice(notice) }
    if plan.options.isDryRun { return .exit(DryRun(plan).run()) }
    return .exit(try GetSession(plan).run())
}

@Sendable private func runHelp(_ words: ArraySlice<String>) throws(Failure) -> Command.Outcome {
    let whole: Set = ["--all", "--help-all"]
    let arguments = words.filter { !whole.contains($0) }[...]
    let operand = arguments.dropFirst().first
    if arguments.count > 2 { throw .unexpected(arguments[arguments.startIndex + 2], in: "help") }
    switch (arguments.first, operand) {
    case ("--man", nil): say(ManualPage.overview)
    case ("--man", let name?): say(ManualPage.page(of: try command(named: name)))
    case ("--man-pages", let folder?):
        for (file, text) in ManualPage.all {
            try AtomicFile.replace("\(folder)/\(file)", with: Array(text.utf8), permissions: 0o644)
        }
    case ("--man-pages", nil): throw Failure.usage("help", "--man-pages DIR")
    case (_, let unexpected?): throw .unexpected(unexpected, in: "help")
    case (let name, nil): say(try PawlCommands.help(on: name, whole: arguments.count < words.count))
    }
    return .exit(0)
}
