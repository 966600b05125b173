import Glibc
package import PawlBase
package import PawlTerminal

/// The options of the commands that call the service.
package struct VerbOptions: CommandOptions {
    var socket: String?
    var isJSON = false
    package var help: HelpLength?
    /// All downloads instead of those given by ID.
    var takesAll = false
    var deletesFile = false
    /// Whether the user is not prompted.
    var isSure = false
    /// Whether `clear` takes failed downloads too.
    var takesFailed = false
    /// Whether `check` downloads wrong parts of a file again.
    var repairs = false
    var group: String?
    var states: [String] = []
    var text: String?
    var limit: Int?
    var watches = false
    /// Print the link instead of opening it.
    var prints = false
    /// Forget instead of showing.
    var forgets = false
    /// Whether `mcp` may add downloads.
    var allowsAdding = false
    /// Whether what `mcp` adds may reach private addresses.
    var allowsPrivateAddresses = false

    package func client() throws(Failure) -> ServiceClient {
        ServiceClient(
            socket: try ServicePlace.socket(socket), isUsual: ServicePlace.isUsual(socket),
            root: try? ServicePlace.root(nil))
    }

    package init() {}
}

extension VerbOptions {
    /// The options of every such command.
    static let common: [CommandOption<VerbOptions>] = [
        CommandOption(
            "socket", takes: .required("FILE"), in: .service, "Unix socket of the service",
            standard: "$PAWL_SOCKET, else $XDG_RUNTIME_DIR/pawl.socket, else ~/.local/state/pawl/socket"
        ) { (options, value) throws(Failure) in options.socket = try OptionValues.notEmpty("socket", value) },
        jsonOption(\.isJSON), helpOption,
    ]

    static func all(_ help: String) -> CommandOption<VerbOptions> {
        CommandOption("all", short: "a", takes: .none, in: .selection, help) { (options, _) in options.takesAll = true }
    }

    static let keepFile: CommandOption<VerbOptions> = CommandOption(
        "keep-file", takes: .none, in: .files, "keep the finished file (default)"
    ) { (options, _) in options.deletesFile = false }

    static let deleteFile: CommandOption<VerbOptions> = CommandOption(
        "delete-file", takes: .none, in: .files, "delete the finished file too"
    ) { (options, _) in options.deletesFile = true }

    static let yes: CommandOption<VerbOptions> = CommandOption(
        "yes", short: "y", takes: .none, in: .files, "delete without confirmation"
    ) { (options, _) in options.isSure = true }

    static let repair: CommandOption<VerbOptions> = CommandOption(
        "repair", takes: .none, in: .files, "fetch wrong parts again; the file stays until the new one is verified"
    ) { (options, _) in options.repairs = true }

    static let failedToo: CommandOption<VerbOptions> = CommandOption(
        "failed", takes: .none, in: .selection, "failed downloads too"
    ) { (options, _) in options.takesFailed = true }

    static let group: CommandOption<VerbOptions> = CommandOption(
        "group", takes: .required("NAME"), in: .selection, "only downloads of this group"
    ) { (options, value) throws(Failure) in options.group = try OptionValues.notEmpty("group", value) }

    static let prints: CommandOption<VerbOptions> = CommandOption(
        "print", takes: .none, in: .output, "print the link instead of opening it"
    ) { (options, _) in options.prints = true }

    static let forget: CommandOption<VerbOptions> = CommandOption(
        "forget", takes: .none, in: .selection, "forget the limits of these hosts, or of all"
    ) { (options, _) in options.forgets = true }

    static let allowAdd: CommandOption<VerbOptions> = CommandOption(
        "allow-add", takes: .none, in: .access, "offer a tool that adds downloads"
    ) { (options, _) in options.allowsAdding = true }

    static let allowPrivate: CommandOption<VerbOptions> = CommandOption(
        "allow-private-addresses", takes: .none, in: .access,
        "let added downloads reach this machine and private networks"
    ) { (options, _) in options.allowsPrivateAddresses = true }

    static let listing: [CommandOption<VerbOptions>] = [
        CommandOption(
            "state", takes: .required("STATE"), in: .selection,
            "only downloads in this state: \(StateFilter.names); waiting: for a host, the network or the disk; repeatable",
            standard: "all but removed"
        ) { (options, value) throws(Failure) in
            guard let state = StateFilter(value) else {
                throw OptionValues.bad("state", value, "must be one of \(StateFilter.names)")
            }
            options.states.append(state.rawValue)
        }, group,
        CommandOption("find", takes: .required("TEXT"), in: .selection, "only downloads with TEXT in the name or URL") {
            (options, value) in options.text = value
        },
        CommandOption("limit", takes: .required("N"), in: .selection, "at most N downloads") {
            (options, value) throws(Failure) in
            options.limit = try OptionValues.integer("limit", value, in: 0...1_000_000_000)
        },
        CommandOption("watch", short: "w", takes: .none, in: .output, "show the queue on the whole screen, with keys") {
            (options, _) in
            options.watches = true
        },
    ]
}

/// The output of a command: a sentence, or JSON.
struct CommandOutput {
    private let isJSON: Bool

    init(_ options: VerbOptions) { isJSON = options.isJSON }

    /// `isLaidOut`: the lines are as long as the terminal's already.
    func show(_ json: JSON, _ text: String, isLaidOut: Bool = false) {
        let lines = text.split(separator: "\n").map { TerminalText.harmless(String($0)) }.flatMap { line in
            isLaidOut ? [line] : TerminalState.folded(line, for: STDOUT_FILENO)
        }
        say((isJSON ? json.text : lines.joined(separator: "\n")) + "\n")
    }
}
