import Pawl
import PawlBase
import PawlTerminal

extension ServeOptions {
    /// Every option of `pawl serve`.
    static let table: [CommandOption<ServeOptions>] =
        setup + background + (running + access + watching).map { $0.keeping(\.kept) } + shown

    private static let setup: [CommandOption<ServeOptions>] = [
        CommandOption(
            "root", short: "d", aliases: ["dir"], takes: .required("DIR"), in: .setup,
            "download root: folder for files, with the queue in its .pawl subfolder",
            standard: "$PAWL_ROOT, else ~/Downloads"
        ) { (options, value) throws(Failure) in options.root = try OptionValues.notEmpty("root", value) },
        CommandOption(
            "socket", takes: .required("FILE"), in: .setup, "Unix socket for other pawl commands",
            standard: "$PAWL_SOCKET, else $XDG_RUNTIME_DIR/pawl.socket, else ~/.local/state/pawl/socket"
        ) { (options, value) throws(Failure) in options.socket = try OptionValues.notEmpty("socket", value) },
        CommandOption(
            "sessions", takes: .required("DIR"), in: .setup,
            "resume background sessions that your programs left in DIR when they exited (PawlSession)",
            standard:
                "$XDG_STATE_HOME/pawl/sessions, else ~/.local/state/pawl/sessions; none with --paused or --deny-private-addresses"
        ) { (options, value) throws(Failure) in
            options.sessions = try OptionValues.notEmpty("sessions", value)
            options.refusesSessions = false
        },
        CommandOption("no-sessions", takes: .none, in: .setup, "do not resume background sessions") { (options, _) in
            options.refusesSessions = true
        },
    ]

    private static let background: [CommandOption<ServeOptions>] = [
        CommandOption(
            "background", short: "D", aliases: ["daemon"], takes: .none, in: .setup,
            "run in the background; return when the service is ready"
        ) { (options, _) in options.isBackground = true },
        CommandOption(
            "install", takes: .none, in: .setup,
            "install and start a systemd user service with these options; it starts again at each login"
        ) { (options, _) in options.installs = true },
        CommandOption(
            "print", takes: .none, in: .setup, "with --install: print the unit; nothing is written or started"
        ) { (options, _) in options.printsUnit = true },
        CommandOption(
            "uninstall", takes: .none, in: .setup,
            "stop the service and remove the unit that --install wrote; the queue and all files stay"
        ) { (options, _) in options.uninstalls = true },
        CommandOption(
            "system", takes: .none, in: .setup,
            "with --install or --uninstall: a system service that starts at boot; default root /var/lib/pawl"
        ) { (options, _) in options.installsForAll = true },
        CommandOption(
            "run-as", takes: .required("USER"), in: .setup,
            "with --install --system --root: user to run as, the owner of the root"
        ) { (options, value) throws(Failure) in options.user = try OptionValues.notEmpty("run-as", value) },
    ]

    private static let running: [CommandOption<ServeOptions>] = [
        CommandOption(
            "jobs", short: "j", aliases: ["max-concurrent-downloads"], takes: .required("N"), in: .queue,
            "simultaneous downloads", standard: "the previous value, initially 3"
        ) { (options, value) throws(Failure) in
            options.manager.maximumConcurrentDownloads = try OptionValues.integer("jobs", value, in: 1...1_000)
        },
        CommandOption(
            "limit-rate", aliases: ["max-overall-download-limit"], takes: .required("RATE"), in: .queue,
            "total speed limit in bytes per second; K, M, G are powers of 1024", standard: "none"
        ) { (options, value) throws(Failure) in options.manager.rateLimit = try OptionValues.rate("limit-rate", value)
        },
        CommandOption(
            "timetable", takes: .required("TEXT"), in: .queue,
            "speed limits by time of day, such as '08:00-18:00 1M, else none'"
        ) { (options, value) throws(Failure) in
            options.manager.timetable = try OptionValues.notEmpty("timetable", value)
        },
        CommandOption(
            "deny-private-addresses", takes: .none, in: .security,
            "refuse to connect to this machine or private networks, even through names and redirects"
        ) { (options, _) in options.manager.deniesPrivateAddresses = true },
        CommandOption("paused", takes: .none, in: .queue, "start with every unfinished download paused") {
            (options, _) in options.manager.resumesAtStart = false
        },
    ]

    private static let access: [CommandOption<ServeOptions>] = [
        CommandOption(
            "port", aliases: ["rpc-listen-port"], takes: .required("N|auto|none"), in: .access,
            "TCP port for HTTP and WebSocket; 0: any free port; auto: 6800 if it is free; none: Unix socket only",
            standard: "$PAWL_PORT, else 6800"
        ) { (options, value) throws(Failure) in options.port = try OptionValues.port(value) },
        CommandOption(
            "listen", takes: .required("ADDRESS"), in: .access,
            "numeric address to listen on; one that other hosts can reach requires a secret", standard: "127.0.0.1"
        ) { (options, value) throws(Failure) in options.address = try OptionValues.notEmpty("listen", value) },
        CommandOption(
            "secret", aliases: ["rpc-secret"], takes: .required("TEXT"), in: .access,
            "RPC secret; --secret-file keeps it out of the process list",
            standard: "generated at the first start, in .pawl/secret of the root"
        ) { (options, value) throws(Failure) in options.secret = try OptionValues.notEmpty("secret", value) },
        CommandOption(
            "secret-file", takes: .required("FILE"), in: .access,
            "file with the RPC secret, readable by its owner only; created if missing"
        ) { (options, value) throws(Failure) in options.secretFile = try OptionValues.notEmpty("secret-file", value) },
        CommandOption(
            "no-secret", takes: .none, in: .access,
            "require no secret; only where no other user or host can reach the port"
        ) { (options, _) in options.needsNoSecret = true },
        CommandOption(
            "certificate", aliases: ["rpc-certificate"], takes: .required("FILE"), in: .access,
            "TLS certificate (PEM); the port then accepts TLS only"
        ) { (options, value) throws(Failure) in options.certificate = try OptionValues.notEmpty("certificate", value) },
        CommandOption(
            "private-key", aliases: ["rpc-private-key"], takes: .required("FILE"), in: .access,
            "private key of the certificate (PEM)"
        ) { (options, value) throws(Failure) in options.key = try OptionValues.notEmpty("private-key", value) },
        CommandOption(
            "host-name", takes: .required("NAME"), in: .access,
            "host name accepted at the port besides localhost; repeatable"
        ) { (options, value) throws(Failure) in
            options.names.insert(try OptionValues.notEmpty("host-name", value).lowercased())
        },
        CommandOption(
            "allow-origin-all", aliases: ["rpc-allow-origin-all"], takes: .none, in: .access,
            "allow requests from any origin (CORS); the secret is still required"
        ) { (options, _) in options.allowsEveryOrigin = true },
    ]

    private static let shown: [CommandOption<ServeOptions>] = [
        CommandOption("quiet", short: "q", takes: .none, in: .output, "print errors only") { (options, _) in
            options.isQuiet = true
        }, helpOption, wholeHelpOption,
    ]
}
