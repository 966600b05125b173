import Glibc
import Pawl
import PawlAria2
import PawlBase
import PawlIntake
import PawlServer
import PawlServiceCommands
import PawlSystem
import PawlTerminal
import PawlWeb

/// One run as aria2c, as a service or as plain downloads.
struct Aria2cRun {
    private let options: Aria2cOptions
    private let addresses: [String]

    init(_ options: Aria2cOptions, _ addresses: [String]) {
        self.options = options
        self.addresses = addresses
    }

    func run() throws(Failure) -> Int32 {
        let isService = options.flag("enable-rpc")
        if !options.passedOver.isEmpty, !options.flag("quiet") {
            let names = Set(options.passedOver).sorted().map { "--" + $0 }.joined(separator: ", ")
            warn("ignored options without effect: \(names)")
        }
        var printer = try Aria2cPrinter(options)
        for line in options.unknown { printer.note(.warn, "Unknown option: \(line)") }
        if let interface = options["interface"], !interface.isEmpty, !Aria2cFiles.isInterface(interface) {
            throw Failure(.unknown, "cannot use", at: interface, because: "this machine has no such interface")
        }
        if let path = options["ca-certificate"], !path.isEmpty, unsafe access(path, R_OK) != 0 {
            printer.note(
                .error, "Failed to load trusted CA certificates from \(path). Cause: Error while reading file.")
        }
        var collected = Aria2cEntries(options)
        if !isService || !addresses.isEmpty || options.path("input-file") != nil || options["metalink-file"] != nil
            || options.path("torrent-file") != nil
        {
            try collected.collect(addresses, to: &printer)
        }
        let entries = collected.entries
        if isService { return try serve(entries) }
        if options.flag("show-files") { return 0 }
        guard !entries.isEmpty else {
            printer.say("\nNo files to download.\n")
            return 0
        }
        try detach()
        var isDeferred = options.flag("deferred-input") && options.path("input-file") != nil
        if isDeferred, options["save-session"]?.isEmpty == false {
            printer.note(.warn, "--deferred-input is disabled because of the presence of --save-session")
            isDeferred = false
        }
        if !isDeferred { printer.note(.notice, "Downloading \(entries.count) item(s)") }
        return try Aria2cSession(options, entries, printer).run()
    }

    private func warn(_ text: String) {
        var errors = OutputFile(descriptor: STDERR_FILENO)
        errors.appendLine(TerminalText.harmless("pawl: " + text))
        errors.flush()
    }

    /// Before the first thread: only the calling thread survives daemon(3).
    private func detach() throws(Failure) {
        guard options.flag("daemon"), daemon(1, 0) != 0 else { return }
        throw Failure(.unknown, "cannot detach from", at: "the terminal", because: SystemError.last.text)
    }

    private static let hooks = Hooks.Occasion.allCases.map { occasion in
        (occasion: occasion, name: "on-download-\(occasion.rawValue)")
    }

    private func serve(_ entries: [Aria2cEntry]) throws(Failure) -> Int32 {
        let configuration = try configuration(entries.filter { !$0.addresses.isEmpty }.map(input))
        // While there is a terminal to report it on.
        try configuration.checkPort()
        try detach()
        let seconds = options.number("stop") ?? 0
        let process = options.number("stop-with-process")
        let supervisor = Supervisor()
        let restarter = Restarter(isSupervised: supervisor.isThere, isDetached: false)
        let log = configuration.log
        let watchdog = Watchdog(
            onBeat: { supervisor.beat() },
            onFault: { finding in
                log?.note("fault", Restarter.text(finding))
                restarter.end(finding)
            })
        let ending = StandInEnding()
        try ServeSession.run(configuration, watchdog: watchdog, ending: ending.note) { service in
            supervisor.notify("READY=1")
            if seconds > 0 {
                Task {
                    try? await Task.sleep(for: .seconds(min(seconds, Int64(Int32.max))))
                    service.ask()
                }
            }
            guard let process else { return }
            Task {
                while Aria2cFiles.isAlive(process) { try? await Task.sleep(for: .seconds(1)) }
                service.ask()
            }
        }
        return Int32(ending.exitCode)
    }

    // MARK: as a service

    /// The options for a single file are those of the URLs on the command line, not the service's.
    private func input(of entry: Aria2cEntry) -> InputEntry {
        var input = entry.input
        guard options.path("input-file") == nil, options["metalink-file"] == nil, options.path("torrent-file") == nil,
            entry.lines.isEmpty
        else {
            return input
        }
        for name in options.flag("force-sequential") ? ["checksum"] : ["out", "checksum"] {
            guard let value = options[name], !value.isEmpty else { continue }
            input.options.append(InputOption(name: name, value: value, line: 0))
        }
        return input
    }

    private func configuration(_ entries: [InputEntry]) throws(Failure) -> ServiceConfiguration {
        let root = ServicePlace.absolute(options["dir"].flatMap { $0.isEmpty ? nil : $0 } ?? ".")
        // In the root, so that several services do not collide, unless the path is too long for a socket address.
        let socket = root + "/.pawl/socket"
        var configuration = ServiceConfiguration(
            root: root, socket: socket.utf8.count < 90 ? socket : try ServicePlace.socket(nil))
        configuration.port = Int(options.number("rpc-listen-port") ?? 6800)
        configuration.manager.numbering = .dotted
        configuration.manager.recognizesFinished = false
        try setAccess(of: &configuration)
        configuration.manager.stateFolder = Environment.pawlState
        configuration.manager.maximumConcurrentDownloads = Int(
            clamping: options.number("max-concurrent-downloads") ?? 5)
        if let limit = options.number("max-overall-download-limit"), limit > 0 {
            configuration.manager.rateLimit = limit
        }
        for (occasion, name) in Aria2cRun.hooks {
            if let program = options[name], !program.isEmpty {
                configuration.hooks.programs[occasion] = ServicePlace.program(program)
            }
        }
        if let path = options["log"], !path.isEmpty {
            // aria2's name for standard output; Pawl's own log goes to standard error.
            configuration.log = try ServiceLog(path: path == "-" ? nil : ServicePlace.absolute(path), format: .text)
        }
        var values = options.values.filter { Aria2Option.table[$0.key] != nil }
        values["dir"] = root
        values["out"] = nil
        values["checksum"] = nil
        var aria2 = Aria2Configuration()
        aria2.isStandIn = true
        aria2.sessionFile = options["save-session"].map(ServicePlace.absolute)
        aria2.sessionInterval = Int(clamping: options.number("save-session-interval") ?? 0)
        aria2.entries = entries
        aria2.options = Aria2Options(values)
        aria2.extend(&configuration)
        return configuration
    }

    /// Who may call, from where, and how: by default programs of this machine, without a secret.
    private func setAccess(of configuration: inout ServiceConfiguration) throws(Failure) {
        if options.flag("rpc-listen-all") {
            if options["rpc-secret"]?.isEmpty == false || options["rpc-user"]?.isEmpty == false
                || options.flag("rpc-allow-unauthenticated")
            {
                configuration.address = "0.0.0.0"
                configuration.allowsUnauthenticated = options.flag("rpc-allow-unauthenticated")
            } else {
                warn(
                    "listening on 127.0.0.1 only: other machines could call it without a secret; set --rpc-secret, or "
                        + "pass --rpc-allow-unauthenticated if the network is closed")
            }
        }
        if let names = options["host-name"] {
            configuration.names = Set(names.split(separator: "\n").map { $0.lowercased() })
        }
        configuration.secret = options["rpc-secret"].flatMap { $0.isEmpty ? nil : $0 }
        configuration.login = options["rpc-user"].flatMap { $0.isEmpty ? nil : $0 }.map {
            "\($0):\(options["rpc-passwd"] ?? "")"
        }
        configuration.needsNoSecret = configuration.secret == nil
        configuration.allowsEveryOrigin = options.flag("rpc-allow-origin-all")
        if options.flag("rpc-secure") {
            guard let certificate = options["rpc-certificate"], let key = options["rpc-private-key"] else {
                throw Failure(
                    .badOption, "cannot use", at: "--rpc-secure", because: "it requires a certificate and its key",
                    remedy: "pass --rpc-certificate and --rpc-private-key (PEM files)")
            }
            configuration.certificate = ServicePlace.absolute(certificate)
            configuration.key = ServicePlace.absolute(key)
        }
        if let size = options.number("rpc-max-request-size") { configuration.limits.body = Int(clamping: size) }
    }
}
