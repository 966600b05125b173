import PawlCore

/// What the options of the verbs say that speak to the service.
struct VerbOptions: CommandOptions {
    var socket: String?
    var isJSON = false
    var wantsHelp = false
    /// Every download instead of those that are named.
    var takesAll = false
    var keepsFile = false
    var group: String?
    var states: [String] = []
    var text: String?
    var limit: Int?
    var watches = false
    /// The link is shown instead of opened.
    var prints = false

    func client() throws(Failure) -> ServiceClient {
        ServiceClient(socket: try ServicePlace.socket(socket))
    }
}

extension VerbOptions {
    /// Every verb has these.
    static let common: [CommandOption<VerbOptions>] = [
        CommandOption(
            "socket",
            takes: .required("FILE"),
            in: .service,
            "the service's socket file",
            standard: "$PAWL_SOCKET, else $XDG_RUNTIME_DIR/pawl.socket, else ~/.local/state/pawl/socket"
        ) { (options, value) throws(Failure) in options.socket = try OptionValues.notEmpty("socket", value) },
        CommandOption("json", takes: .none, in: .output, "JSON on standard output, one object a line") {
            (options, _) in options.isJSON = true
        },
        helpOption,
    ]

    static func all(_ help: String) -> CommandOption<VerbOptions> {
        CommandOption("all", short: "a", takes: .none, in: .selection, help) { (options, _) in
            options.takesAll = true
        }
    }

    static let keepFile: CommandOption<VerbOptions> = CommandOption(
        "keep-file",
        takes: .none,
        in: .files,
        "leave the finished file where it is"
    ) { (options, _) in options.keepsFile = true }

    static let group: CommandOption<VerbOptions> = CommandOption(
        "group",
        takes: .required("NAME"),
        in: .selection,
        "only this group's"
    ) { (options, value) throws(Failure) in options.group = try OptionValues.notEmpty("group", value) }

    static let prints: CommandOption<VerbOptions> = CommandOption(
        "print",
        takes: .none,
        in: .output,
        "print the link instead of opening it"
    ) { (options, _) in options.prints = true }

    static let listing: [CommandOption<VerbOptions>] = [
        CommandOption(
            "state",
            takes: .required("waiting|paused|finished|failed|removed"),
            in: .selection,
            "only those; repeatable. What runs counts as waiting",
            standard: "all but removed"
        ) { (options, value) throws(Failure) in
            let states = ["waiting", "paused", "finished", "failed", "removed"]
            guard states.contains(value.lowercased()) else {
                throw OptionValues.bad("state", value, "it is one of \(states.joined(separator: ", "))")
            }
            options.states.append(value.lowercased())
        },
        group,
        CommandOption(
            "find",
            takes: .required("TEXT"),
            in: .selection,
            "only those with this text in the name or the address"
        ) { (options, value) in options.text = value },
        CommandOption("limit", takes: .required("N"), in: .selection, "so many at most") {
            (options, value) throws(Failure) in
            options.limit = try OptionValues.integer("limit", value, in: 0...1_000_000_000)
        },
        CommandOption("watch", short: "w", takes: .none, in: .output, "go on showing them until Ctrl-C") {
            (options, _) in
            options.watches = true
        },
    ]
}
