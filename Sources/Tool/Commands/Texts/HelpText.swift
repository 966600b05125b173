import Glibc
import Pawl
import PawlBase
import PawlTerminal

/// The text of `--help`, generated from the tables of options.
enum HelpText {
    static func overview(_ layout: HelpLayout = HelpLayout()) -> String {
        var text = layout.paragraph("Pawl \(PawlVersion.text): downloads that only move forward.") + "\n"
        for group in Command.groups {
            text += "\(group.title):\n"
            for command in group.commands { text += entry(command, layout) }
            text += "\n"
        }
        text += layout.paragraph(
            "'pawl URL' is 'pawl get URL'. 'pawl help COMMAND' shows examples and options, 'pawl COMMAND --help-all' all of "
                + "them; 'pawl --version' prints the version.")
        return text + "\n"
            + layout.paragraph(
                "A file gets its final name only when it is complete and verified. Until then NAME.part holds the data and "
                    + "NAME.pawl the state needed to resume. Ctrl-C pauses; no received data is lost.")
    }

    /// The text of `pawl` alone: what most need, on the smallest terminal.
    static func short(_ layout: HelpLayout = HelpLayout()) -> String {
        let names = ["get", "add", "list", "show", "remove", "web", "verify"]
        return layout.paragraph("Pawl \(PawlVersion.text): downloads that only move forward.") + "\n"
            + names.compactMap { name in Command.table.first { $0.name == name } }.map { entry($0, layout) }.joined()
            + "\n"
            + layout.paragraph("'pawl --help' lists all commands, 'pawl help COMMAND' shows examples and options.")
    }

    private static func entry(_ command: Command, _ layout: HelpLayout) -> String {
        let operands = command.synopsis.replacing("[options]", with: "")
        return layout.entry("  pawl \(command.name) " + operands.drop { $0 == " " }, command.summary)
    }

    /// The text of `pawl --help-all`: the overview, and every option of every command.
    static func whole(_ layout: HelpLayout = HelpLayout()) -> String {
        overview(layout) + Command.table.map { "\n" + text(of: $0, whole: true, layout) }.joined()
    }

    /// Options that the short help of a command with many shows.
    private static let common: [String: Set<String>] = [
        "get": [
            "dir", "output", "if-exists", "input-file", "mirror", "checksum", "jobs", "limit-rate", "connections",
            "retries", "timeout", "header", "user", "proxy", "insecure", "progress", "verbose", "recursive", "dry-run",
            "quiet", "json", "help", "help-all",
        ],
        "add": [
            "paused", "now", "priority", "group", "dir", "output", "input-file", "mirror", "checksum", "limit-rate",
            "connections", "header", "user", "proxy", "json", "help", "help-all",
        ],
        "set": [
            "mirror", "checksum", "connections", "limit-rate", "retries", "timeout", "header", "user", "referer",
            "user-agent", "proxy", "insecure", "priority", "group", "json", "help", "help-all",
        ],
        "serve": [
            "root", "background", "install", "jobs", "limit-rate", "timetable", "paused", "port", "listen",
            "secret-file", "on-complete", "webhook", "log", "quiet", "help", "help-all",
        ],
    ]

    /// The text of `pawl help COMMAND`: the examples, and the options that are used most or, with `whole`, all of them.
    static func text(of command: Command, whole: Bool = false, _ layout: HelpLayout = HelpLayout()) -> String {
        var text = layout.paragraph("pawl \(command.name) \(command.synopsis)", first: "usage: ") + "\n"
        for paragraph in command.details.split(separator: "\n") { text += layout.paragraph(String(paragraph)) + "\n" }
        text += CommandExamples.table[command.name]?.help(layout) ?? ""
        let common = whole ? nil : common[command.name]
        let summaries = whole ? [:] : summaries[command.name] ?? [:]
        text += list(command.options.filter { common?.contains($0.long) ?? true }, summaries, layout)
        if !summaries.isEmpty { return text + layout.paragraph("'pawl help \(command.name) --all' lists all options.") }
        if let common, command.options.contains(where: { !common.contains($0.long) }) {
            let others = command.reportsDownloads ? " and the exit codes" : ""
            return text + layout.paragraph("'pawl \(command.name) --help-all' lists all options\(others).")
        }
        if command.reportsDownloads { text += exitCodes(layout) }
        return text
    }

    /// Every exit code with its description.
    static let codes: [(code: Int, words: String)] = [
        (0, "success"), (1, "unknown error"), (2, "timeout"), (3, "not found"), (5, "too slow"), (6, "network error"),
        (7, "unfinished downloads"), (8, "cannot resume"), (9, "disk full"), (11, "already being downloaded"),
        (13, "file exists"), (14, "rename failed"), (15, "cannot open file"), (16, "cannot create file"),
        (17, "I/O error"), (18, "cannot create folder"), (19, "name resolution failed"), (22, "bad response"),
        (23, "too many redirects"), (24, "authorization failed"), (28, "bad option or URL"), (29, "server overloaded"),
        (32, "checksum mismatch"), (33, "certificate or host key not trusted"), (34, "journal of a newer version"),
        (35, "larger than a limit"), (36, "refused by robots.txt"),
    ]

    private static func exitCodes(_ layout: HelpLayout) -> String {
        // Keep a number on the same line as its description.
        let list = codes.map { "\($0.code)\u{A0}\($0.words)" }.joined(separator: ", ")
        let text = layout.paragraph(list + ". With several files: the code of the last failure.", first: "  ")
        return "Exit codes:\n" + text.replacing("\u{A0}", with: " ")
    }

    /// Groups whose options have one line together in the short help of a command.
    private static let summaries: [String: [OptionGroup: String]] = [
        "aria2c": [
            .transfer: "as in aria2c(1), such as --header, --split and --max-tries",
            .torrents: "accepted and ignored: there are no peers", .ignored: "accepted and ignored",
        ]
    ]

    /// The options under their headings.
    static func list(_ options: [OptionEntry], _ summaries: [OptionGroup: String], _ layout: HelpLayout) -> String {
        var text = ""
        for group in OptionGroup.allCases {
            let members = options.filter { $0.group == group }
            guard !members.isEmpty else { continue }
            text += layout.paragraph(group.rawValue + ":")
            if let summary = summaries[group] {
                text += layout.paragraph("\(members.count) options \(summary)", first: "  ") + "\n"
                continue
            }
            for option in members { text += entry(option, layout) }
            text += "\n"
        }
        return text
    }

    private static func entry(_ option: OptionEntry, _ layout: HelpLayout) -> String {
        var head = option.short.map { "  -\($0), " } ?? "      "
        head += "--" + option.long
        switch option.value {
        case .none: break
        case .required(let metavar): head += " " + metavar
        case .optional(let metavar): head += "[=" + metavar + "]"
        }
        let words = option.help + (option.standard.map { " [\($0)]" } ?? "")
        return layout.entry(head, words)
    }
}

extension HelpLayout {
    /// That of standard output, if it is a terminal.
    static var ofTerminal: HelpLayout {
        HelpLayout(width: isatty(STDOUT_FILENO) == 1 ? TerminalState.size(of: STDOUT_FILENO).columns : widest)
    }
}

/// The help text of a command, of `pawl` itself for `nil`; with `whole`, every option.
func help(on name: String?, whole: Bool = false) throws(Failure) -> String {
    guard let name else { return HelpText.overview(.ofTerminal) }
    return HelpText.text(of: try command(named: name), whole: whole, .ofTerminal)
}

/// The command of this name, for help.
func command(named name: String) throws(Failure) -> Command {
    if let command = Command.table.first(where: { $0.name == name }) { return command }
    let meant = CommandHabit.command(for: name).flatMap { $0.hasPrefix("-") ? nil : $0.prefix { $0 != " " } }
    let near = meant.map(String.init) ?? spellingSuggestion(for: name, among: Command.table.map(\.name))
    throw Failure(
        .badOption, "no help for", at: Redaction.address(name), because: "unknown command",
        remedy: near.map { "did you mean 'pawl help \($0)'?" } ?? "see 'pawl --help'")
}
