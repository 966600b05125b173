import Pawl
import PawlTerminal

/// The manual pages, generated from the tables of commands and options: pawl(1), and pawl-NAME(1) for each command.
enum ManualPage {
    /// Every page with the name of its file, such as `pawl-get.1`.
    static var all: [(file: String, text: String)] {
        [("pawl.1", overview)] + Command.table.map { ("pawl-\($0.name).1", page(of: $0)) }
    }

    /// pawl(1).
    static var overview: String {
        var text =
            title("pawl", "downloads that only move forward") + """
                .SH SYNOPSIS
                .B pawl
                .I COMMAND
                [\\fIoptions\\fP] [\\fIarguments\\fP]
                .SH DESCRIPTION
                Pawl downloads files over HTTP, HTTPS, FTP, FTPS and SFTP, and objects from S3 stores. A file gets its final name only when it is complete \
                and verified; until then \\fINAME\\fP.part holds the data and \\fINAME\\fP.pawl the state needed to resume. \
                After an interruption, a crash or a power failure, the same command or the background service resumes.
                .PP
                .B pawl get
                downloads in its own process.
                .B pawl add
                adds to the queue of the background service
                .RB ( "pawl serve" ),
                which the other commands control.
                .SH COMMANDS

                """
        for group in Command.groups {
            text += ".SS \(escaped(group.title))\n"
            for command in group.commands {
                text += ".TP\n.BR pawl\\-\(escaped(command.name)) (1)\n\(line(command.summary))\n"
            }
        }
        text += CommandExamples.overview.roff + exitCodes + environment + files
        return text + seeAlso(["curl(1)", "aria2c(1)", "systemd(1)"])
    }

    /// pawl-NAME(1).
    static func page(of command: Command) -> String {
        var text = title("pawl-\(command.name)", command.summary)
        text += ".SH SYNOPSIS\n.B pawl \(escaped(command.name))\n\(line(command.synopsis))\n.SH DESCRIPTION\n"
        text += command.details.split(separator: "\n").map { line($0) + "\n" }.joined(separator: ".PP\n")
        text += options(command.options)
        if let examples = CommandExamples.table[command.name] { text += examples.roff }
        if command.reportsDownloads { text += exitCodes }
        if command.name == "serve" { text += environment + files }
        return text + seeAlso(["pawl(1)"])
    }

    private static func title(_ name: String, _ summary: String) -> String {
        """
        .TH \(escaped(name.uppercased())) 1 "" "Pawl \(PawlVersion.text)" "User Commands"
        .SH NAME
        \(escaped(name)) \\- \(escaped(summary))

        """
    }

    private static func options(_ options: [OptionEntry]) -> String {
        guard !options.isEmpty else { return "" }
        var text = ".SH OPTIONS\n"
        for group in OptionGroup.allCases {
            let members = options.filter { $0.group == group }
            guard !members.isEmpty else { continue }
            text += ".SS \(escaped(group.rawValue))\n"
            for option in members { text += entry(option) }
        }
        return text
    }

    private static func entry(_ option: OptionEntry) -> String {
        var head = option.short.map { "\\fB\\-\($0)\\fP, " } ?? ""
        head += option.names.map { "\\fB\(escaped("--" + $0))\\fP" }.joined(separator: ", ")
        switch option.value {
        case .none: break
        case .required(let metavar): head += " \\fI\(escaped(metavar))\\fP"
        case .optional(let metavar): head += "[=\\fI\(escaped(metavar))\\fP]"
        }
        let standard = option.standard.map { " [\($0)]" } ?? ""
        return ".TP\n\(head)\n\(line(option.help + standard))\n"
    }

    private static let exitCodes =
        ".SH EXIT STATUS\n" + HelpText.codes.map { ".TP\n\($0.code)\n\(line($0.words))\n" }.joined()
        + ".PP\nWith several files: the code of the last failure.\n"

    private static let environment = """
        .SH ENVIRONMENT
        .TP
        PAWL_ROOT
        the service's download root
        .TP
        PAWL_SOCKET
        the service's socket file
        .TP
        PAWL_PORT
        the service's TCP port, or none
        .TP
        NO_COLOR, TERM, LC_ALL, LC_CTYPE, LANG
        whether progress bars, colours and non-ASCII characters are shown
        .TP
        http_proxy, https_proxy, all_proxy, no_proxy
        proxies, as in curl; an entry HOST:PORT of no_proxy is for that port only

        """

    private static let files = """
        .SH FILES
        .TP
        .I ROOT/.pawl
        the service's queue and its secret

        """

    private static func seeAlso(_ pages: [String]) -> String {
        // The name in bold, the section beside it.
        let entries = pages.map { page in
            let name = page.prefix { $0 != "(" }
            return ".BR \(escaped(name)) \(page.dropFirst(name.count))"
        }
        return ".SH SEE ALSO\n" + entries.joined(separator: " ,\n") + "\n"
    }

    /// One line of text; a leading dot is escaped, which roff would take for a request.
    static func line(_ text: some StringProtocol) -> String {
        let safe = escaped(text)
        return safe.hasPrefix(".") || safe.hasPrefix("'") ? "\\&" + safe : safe
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "\"": escaped += "\\(dq"
            case "~": escaped += "\\(ti"
            case "^": escaped += "\\(ha"
            case "…": escaped += "..."
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
