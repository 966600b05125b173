import Pawl

/// The manual page pawl(1), generated from the tables of commands and options.
enum ManualPage {
    static var text: String {
        var text = """
            .TH PAWL 1 "" "Pawl \(PawlVersion.text)" "User Commands"
            .SH NAME
            pawl \\- downloads that only move forward
            .SH SYNOPSIS

            """
        for command in Command.table {
            text += ".B pawl \(command.name)\n\(escaped(command.synopsis))\n.br\n"
        }
        text += """
            .SH DESCRIPTION
            Pawl downloads files over HTTP, HTTPS, FTP, FTPS and SFTP. A file gets its final name only when it is complete \
            and verified; until then \\fINAME\\fP.part holds the data and \\fINAME\\fP.pawl the state needed to resume. \
            After an interruption, a crash or a power failure, the same command or the background service resumes.
            .SH COMMANDS

            """
        for command in Command.table { text += section(command) }
        text += exitCodes + rest
        return text
    }

    private static func section(_ command: Command) -> String {
        var text = ".SS \"pawl \(command.name) \(escaped(command.synopsis))\"\n"
        for paragraph in command.details.split(separator: "\n") { text += "\(line(paragraph))\n.PP\n" }
        for option in command.options {
            var head = option.short.map { "\\fB\\-\($0)\\fP, " } ?? ""
            head += option.names.map { "\\fB\(escaped("--" + $0))\\fP" }.joined(separator: ", ")
            switch option.value {
            case .none: break
            case .required(let metavar): head += " \\fI\(escaped(metavar))\\fP"
            case .optional(let metavar): head += "[=\\fI\(escaped(metavar))\\fP]"
            }
            let standard = option.standard.map { " [\($0)]" } ?? ""
            text += ".TP\n\(head)\n\(line(option.help + standard))\n"
        }
        return text
    }

    private static let exitCodes =
        ".SH EXIT STATUS\n" + HelpText.codes.map { ".TP\n\($0.code)\n\(line($0.words))\n" }.joined()
        + ".PP\nWith several files: the code of the last failure.\n"

    private static let rest = """
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
        proxies, as in curl
        .SH FILES
        .TP
        .I ROOT/.pawl
        the service's queue and its secret
        .SH SEE ALSO
        curl(1), aria2c(1), systemd(1)

        """

    /// One line of text; a leading dot is escaped, which roff would take for a request.
    private static func line(_ text: some StringProtocol) -> String {
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
