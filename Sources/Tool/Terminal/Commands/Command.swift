import Glibc
package import PawlBase
import PawlIntake

/// A subcommand of `pawl`, with its text for help, the manual page and completions.
package struct Command: Sendable {
    /// The operands after the options.
    package indirect enum Operand: Sendable, Hashable {
        case nothing
        case addresses
        /// Downloads of the service.
        case downloads
        case files
        case words([String])
        /// Names of commands, and these words.
        case commands([String])
        /// One after the other.
        case sequence([Operand])
    }

    package var name: String
    /// The arguments after the name, as help shows them.
    package var synopsis: String
    /// A short description for lists of commands.
    package var summary: String
    /// One paragraph a line.
    package var details: String
    package var operand: Operand
    /// Built on demand: most runs need those of one command at most.
    package var options: [OptionEntry] { entries() }
    private let entries: @Sendable () -> [OptionEntry]
    /// What a run comes to.
    package enum Outcome: Sendable {
        /// The exit code.
        case exit(Int32)
        /// The user asked for the command's help.
        case help(HelpLength)
    }

    /// Takes the arguments after the name.
    package var run: @Sendable (ArraySlice<String>) throws(Failure) -> Outcome

    /// Creates a command that parses its options from a table.
    package init<Options: CommandOptions>(
        _ name: String, _ synopsis: String, summary: String, details: String, operand: Operand = .nothing,
        taking table: @autoclosure @escaping @Sendable () -> [CommandOption<Options>],
        run: @escaping @Sendable (Options, [String]) throws(Failure) -> Int32
    ) {
        self.init(name, synopsis, summary: summary, details: details, operand: operand, options: table().map(\.entry)) {
            (arguments) throws(Failure) in
            var options = Options()
            let operands = try OptionParser(table(), command: name).parse(arguments, into: &options)
            if let length = options.help { return .help(length) }
            return .exit(try run(options, operands))
        }
    }

    package init(
        _ name: String, _ synopsis: String, summary: String, details: String, operand: Operand = .nothing,
        options: @autoclosure @escaping @Sendable () -> [OptionEntry] = [],
        run: @escaping @Sendable (ArraySlice<String>) throws(Failure) -> Outcome
    ) {
        self.name = name
        self.synopsis = synopsis
        self.summary = summary
        self.details = details
        self.operand = operand
        entries = options
        self.run = { (arguments) throws(Failure) in
            if let sentence = Self.interruption(of: name) { SignalWatch.begin(sentence) }
            return try run(arguments)
        }
    }
}

extension Command {
    /// The message of a command that a signal ends before it has anything to stop; `nil` where signals do what they usually do.
    private static func interruption(of name: String) -> String? {
        switch name {
        // A service is detached from what starts it, and aria2c can become one; aria2 itself handles no signals before.
        case "serve", "aria2c", "mcp", "completions", "help": nil
        case "get", "repair": "interrupted before the download began; run the same command again"
        case "pipe": "interrupted before the first job; run the same command again"
        case "list-remote": "interrupted: not everything was listed"
        case "verify": "interrupted: not all files were verified"
        case "wait": "interrupted; the downloads of the service continue"
        case "list", "show", "status", "web", "stop": "interrupted before the service responded"
        case _: "interrupted before the service responded; it may have carried out the command, see 'pawl list'"
        }
    }

    /// Whether its exit code is that of downloads.
    package var reportsDownloads: Bool { ["get", "pipe", "repair", "wait"].contains(name) }

    /// Whether its arguments are ``PathText``: the files have names that others chose.
    package var takesPathTexts: Bool { name == "verify" }
}

/// The parsed options of a command.
package protocol CommandOptions: Sendable {
    /// The help to print instead of running.
    var help: HelpLength? { get set }
    init()
}

package enum HelpLength: Sendable {
    case short
    /// Every option.
    case whole
}

extension CommandOptions {
    package static var helpOption: CommandOption<Self> {
        CommandOption("help", short: "h", takes: .none, in: .output, "show this help", setsOneDownload: false) {
            (options, _) in options.help = options.help ?? .short
        }
    }

    package static func jsonOption(_ isJSON: any WritableKeyPath<Self, Bool> & Sendable) -> CommandOption<Self> {
        CommandOption(
            "json", takes: .none, in: .output, "print one JSON object per line on standard output",
            setsOneDownload: false
        ) { (options, _) in options[keyPath: isJSON] = true }
    }

    package static var wholeHelpOption: CommandOption<Self> {
        CommandOption("help-all", takes: .none, in: .output, "show every option", setsOneDownload: false) {
            (options, _) in options.help = .whole
        }
    }
}

/// Writes to standard output.
package func say(_ text: String) {
    var output = OutputFile(descriptor: STDOUT_FILENO)
    output.append(text)
    output.flush()
}

extension Failure {
    /// An operand where none is expected.
    package static func unexpected(_ operand: String, in command: String) -> Failure {
        Failure(
            .badOption, "unexpected argument", at: Redaction.address(operand), because: "",
            remedy: "see 'pawl help \(command)'")
    }

    /// `missing`: the operand that was not given.
    package static func usage(_ command: String, _ operands: String, missing: String? = nil) -> Failure {
        Failure(
            .badOption, missing == nil ? "wrong operands of" : "missing", at: missing ?? "pawl \(command)", because: "",
            remedy: "usage: pawl \(command) \(operands)")
    }
}

// Arguments without a command before them.
extension BareAddress {
    /// Whether arguments without a command can only mean `pawl get`: they have a URL or a list of URLs.
    package static func begins(_ arguments: ArraySlice<String>) -> Bool {
        guard let first = arguments.first else { return false }
        guard first.hasPrefix("-") else { return isAddress(first) }
        return arguments.contains { word in
            guard !word.hasPrefix("-") else { return isList(word) }
            return hasScheme(word) || hasNoScheme(word) && word.contains("/")
        }
    }

    private static func isAddress(_ word: String) -> Bool {
        hasScheme(word) || hasNoScheme(word) || word.hasPrefix("magnet:")
    }

    /// `-i FILE` and `--input-file`, which `get` shares with wget and aria2.
    private static func isList(_ word: String) -> Bool { word.hasPrefix("--input-file") || word.hasPrefix("-i") }
}
