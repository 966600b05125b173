import Pawl
import PawlCore

extension ServeOptions {
    /// Every option of `pawl serve`.
    static let table: [CommandOption<ServeOptions>] =
        setup + background + (running + doors + watching).map { $0.keeping(\.kept) } + shown

    private static let setup: [CommandOption<ServeOptions>] = [
        CommandOption(
            "root",
            short: "d",
            aliases: ["dir"],
            takes: .required("DIR"),
            in: .setup,
            "the download root: files go there, and the queue is kept in .pawl in it",
            standard: "$PAWL_ROOT, else ~/Downloads"
        ) { (options, value) throws(Failure) in options.root = try OptionValues.notEmpty("root", value) },
        CommandOption(
            "socket",
            takes: .required("FILE"),
            in: .setup,
            "socket file by which other commands find the service",
            standard: "$PAWL_SOCKET, else $XDG_RUNTIME_DIR/pawl.socket, else ~/.local/state/pawl/socket"
        ) { (options, value) throws(Failure) in options.socket = try OptionValues.notEmpty("socket", value) },
        CommandOption(
            "sessions",
            takes: .required("DIR"),
            in: .setup,
            "go on with the background sessions that programs of yours left there when they ended (PawlSession)",
            standard:
                "$XDG_STATE_HOME/pawl/sessions, else ~/.local/state/pawl/sessions; none with --paused or --deny-private-addresses"
        ) { (options, value) throws(Failure) in
            options.sessions = try OptionValues.notEmpty("sessions", value)
            options.refusesSessions = false
        },
        CommandOption("no-sessions", takes: .none, in: .setup, "leave background sessions alone") {
            (options, _) in options.refusesSessions = true
        },
    ]

    private static let background: [CommandOption<ServeOptions>] = [
        CommandOption(
            "background",
            short: "D",
            aliases: ["daemon"],
            takes: .none,
            in: .setup,
            "leave the terminal, and return once calls are answered"
        ) { (options, _) in options.isBackground = true },
        CommandOption(
            "install",
            takes: .none,
            in: .setup,
            "let systemd run it with the other options that are given, now and whenever you log in"
        ) { (options, _) in options.installs = true },
        CommandOption(
            "system",
            takes: .none,
            in: .setup,
            "with --install: for the whole machine, at boot; without --root in /var/lib/pawl"
        ) { (options, _) in options.installsForAll = true },
        CommandOption(
            "run-as",
            takes: .required("USER"),
            in: .setup,
            "with --install --system --root: the user that owns the root"
        ) { (options, value) throws(Failure) in options.user = try OptionValues.notEmpty("run-as", value) },
    ]

    private static let running: [CommandOption<ServeOptions>] = [
        CommandOption(
            "jobs",
            short: "j",
            aliases: ["max-concurrent-downloads"],
            takes: .required("N"),
            in: .queue,
            "files at once",
            standard: "as it was left; 3 at first"
        ) { (options, value) throws(Failure) in
            options.manager.slots = try OptionValues.integer("jobs", value, in: 1...1_000)
        },
        CommandOption(
            "limit-rate",
            aliases: ["max-overall-download-limit"],
            takes: .required("RATE"),
            in: .queue,
            "bytes a second of all downloads together; K, M, G are powers of 1024",
            standard: "none"
        ) { (options, value) throws(Failure) in
            options.manager.rateLimit = try OptionValues.rate("limit-rate", value)
        },
        CommandOption(
            "timetable",
            takes: .required("TEXT"),
            in: .queue,
            "limits by time of day, such as '08:00-18:00 1M, else none'"
        ) { (options, value) throws(Failure) in
            options.manager.timetable = try OptionValues.notEmpty("timetable", value)
        },
        CommandOption(
            "deny-private-addresses",
            takes: .none,
            in: .security,
            "connect to no address of this machine or a private network, whatever names and redirects say"
        ) { (options, _) in options.manager.deniesPrivateAddresses = true },
        CommandOption(
            "paused",
            takes: .none,
            in: .queue,
            "let nothing go on by itself: what waited or ran comes back paused"
        ) { (options, _) in options.manager.resumesAtStart = false },
    ]

    private static let doors: [CommandOption<ServeOptions>] = [
        CommandOption(
            "port",
            aliases: ["rpc-listen-port"],
            takes: .required("N|auto|none"),
            in: .doors,
            "TCP port for HTTP and WebSocket, 0 for any free one; auto: 6800 if it is free; none leaves only the socket file",
            standard: "$PAWL_PORT, else 6800"
        ) { (options, value) throws(Failure) in options.port = try OptionValues.notEmpty("port", value) },
        CommandOption(
            "listen",
            takes: .required("ADDRESS"),
            in: .doors,
            "numeric address of the port; one that others can reach needs a secret",
            standard: "127.0.0.1"
        ) { (options, value) throws(Failure) in options.address = try OptionValues.notEmpty("listen", value)
        },
        CommandOption(
            "secret",
            aliases: ["rpc-secret"],
            takes: .required("TEXT"),
            in: .doors,
            "what callers of the port must know; --secret-file shows it to nobody who lists processes",
            standard: "made at the first start, in .pawl/secret of the root"
        ) { (options, value) throws(Failure) in options.secret = try OptionValues.notEmpty("secret", value) },
        CommandOption(
            "secret-file",
            takes: .required("FILE"),
            in: .doors,
            "a file with the secret, which only its owner may read; made when missing"
        ) { (options, value) throws(Failure) in
            options.secretFile = try OptionValues.notEmpty("secret-file", value)
        },
        CommandOption(
            "no-secret",
            takes: .none,
            in: .doors,
            "ask for no secret; only where nobody else can reach the port"
        ) { (options, _) in options.needsNoSecret = true },
        CommandOption(
            "certificate",
            aliases: ["rpc-certificate"],
            takes: .required("FILE"),
            in: .doors,
            "certificate (PEM): the port then speaks TLS only"
        ) { (options, value) throws(Failure) in
            options.certificate = try OptionValues.notEmpty("certificate", value)
        },
        CommandOption(
            "private-key",
            aliases: ["rpc-private-key"],
            takes: .required("FILE"),
            in: .doors,
            "its key (PEM)"
        ) { (options, value) throws(Failure) in options.key = try OptionValues.notEmpty("private-key", value)
        },
        CommandOption(
            "host-name",
            takes: .required("NAME"),
            in: .doors,
            "a name besides localhost by which the port is reached; repeatable"
        ) { (options, value) throws(Failure) in
            options.names.insert(try OptionValues.notEmpty("host-name", value).lowercased())
        },
        CommandOption(
            "allow-origin-all",
            aliases: ["rpc-allow-origin-all"],
            takes: .none,
            in: .doors,
            "pages of every origin may call, if they know the secret"
        ) { (options, _) in options.allowsEveryOrigin = true },
    ]

    private static let shown: [CommandOption<ServeOptions>] = [
        CommandOption("quiet", short: "q", takes: .none, in: .output, "errors only") { (options, _) in
            options.isQuiet = true
        },
        helpOption,
    ]
}
