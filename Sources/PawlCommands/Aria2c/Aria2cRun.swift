import Glibc
import Pawl
import PawlCore
import PawlServer
import PawlSystem

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
        let passedOver =
            options.passedOver + (isService ? [] : Aria2cRun.ofServices.filter { options[$0] != nil })
        if !passedOver.isEmpty, !options.flag("quiet") {
            let names = Set(passedOver).sorted().map { "--" + $0 }.joined(separator: ", ")
            var errors = OutputFile(descriptor: STDERR_FILENO)
            errors.appendLine(
                TerminalText.harmless("pawl: ignored options without effect: \(names)")
            )
            errors.flush()
        }
        let entries = try entries()
        guard isService else { return try GetSession(try plan(entries)).run() }
        let configuration = try configuration(entries)
        // Before the first thread: only the calling thread survives daemon(3).
        if options.flag("daemon"), daemon(1, 0) != 0 {
            throw Failure(.unknown, "cannot detach from", at: "the terminal", because: SystemError.last.text)
        }
        let seconds = options.number("stop") ?? 0
        let supervisor = Supervisor()
        let restarter = Restarter(isSupervised: supervisor.isThere, isDetached: false)
        let log = configuration.log
        let watchdog = Watchdog(
            onBeat: { supervisor.beat() },
            onFault: { finding in
                log?.note("fault", Restarter.text(finding))
                restarter.end(finding)
            }
        )
        try ServeSession.run(configuration, watchdog: watchdog) { service in
            supervisor.notify("READY=1")
            guard seconds > 0 else { return }
            Task {
                try? await Task.sleep(for: .seconds(min(seconds, Int64(Int32.max))))
                service.ask()
            }
        }
        return 0
    }

    /// Options that apply to the service only.
    private static let ofServices = hooks.map(\.name) + ["log", "stop"]

    private static let hooks = Hooks.Occasion.allCases.map { occasion in
        (occasion: occasion, name: "on-download-\(occasion.rawValue)")
    }

    /// The downloads of the command line, input files and Metalinks.
    private func entries() throws(Failure) -> [InputEntry] {
        var entries: [InputEntry] = []
        if options.flag("force-sequential") {
            entries = addresses.map { InputEntry(addresses: [$0], line: 0) }
        } else if !addresses.isEmpty {
            entries = [InputEntry(addresses: addresses, line: 0)]
        }
        if let path = options["input-file"] {
            entries += try InputFile.parse(
                try readText(at: path),
                name: path == "-" ? "standard input" : path
            )
        }
        if let path = options["metalink-file"] {
            for item in try GetPlan.Item.items(ofMetalink: try readText(at: path), at: path) {
                let lines = item.lines.map { line in
                    InputOption(name: line.name == "output" ? "out" : line.name, value: line.value, line: 0)
                }
                entries.append(InputEntry(addresses: [item.source] + item.mirrors, options: lines, line: 0))
            }
        }
        return entries
    }

    // MARK: as a service

    private func configuration(_ entries: [InputEntry]) throws(Failure) -> ServiceConfiguration {
        let root = ServicePlace.absolute(options["dir"] ?? ".")
        // In the root, so that several services do not collide, unless the path is too long for a socket address.
        let socket = root + "/.pawl/socket"
        var configuration = ServiceConfiguration(
            root: root,
            socket: socket.utf8.count < 90 ? socket : try ServicePlace.socket(nil)
        )
        configuration.port = Int(options.number("rpc-listen-port") ?? 6800)
        if options.flag("rpc-listen-all") { configuration.address = "0.0.0.0" }
        configuration.secret = options["rpc-secret"]
        configuration.login = options["rpc-user"].map { "\($0):\(options["rpc-passwd"] ?? "")" }
        configuration.needsNoSecret = options["rpc-secret"] == nil
        configuration.allowsEveryOrigin = options.flag("rpc-allow-origin-all")
        if options.flag("rpc-secure") {
            guard let certificate = options["rpc-certificate"], let key = options["rpc-private-key"] else {
                throw Failure(
                    .badOption,
                    "cannot use",
                    at: "--rpc-secure",
                    because: "it requires a certificate and its key",
                    remedy: "pass --rpc-certificate and --rpc-private-key (PEM files)"
                )
            }
            configuration.certificate = ServicePlace.absolute(certificate)
            configuration.key = ServicePlace.absolute(key)
        }
        if let size = options.number("rpc-max-request-size") {
            configuration.limits.body = Int(clamping: size)
        }
        configuration.manager.stateFolder = StateFolder.usual
        configuration.manager.slots = Int(clamping: options.number("max-concurrent-downloads") ?? 5)
        if let limit = options.number("max-overall-download-limit"), limit > 0 {
            configuration.manager.rateLimit = limit
        }
        configuration.sessionFile = options["save-session"].map(ServicePlace.absolute)
        configuration.sessionInterval = Int(clamping: options.number("save-session-interval") ?? 0)
        configuration.entries = entries
        for (occasion, name) in Aria2cRun.hooks {
            if let program = options[name], !program.isEmpty {
                configuration.hooks.programs[occasion] = ServicePlace.program(program)
            }
        }
        if let path = options["log"], !path.isEmpty {
            // aria2's name for standard output; Pawl's own log goes to standard error.
            configuration.log = try ServiceLog(
                path: path == "-" ? nil : ServicePlace.absolute(path),
                format: .text
            )
        }
        var values = options.values.filter { Aria2Option.table[$0.key] != nil }
        values["dir"] = root
        values["out"] = nil
        values["checksum"] = nil
        configuration.options = Aria2Options(values)
        return configuration
    }

    // MARK: as plain downloads

    private func plan(_ entries: [InputEntry]) throws(Failure) -> GetPlan {
        var common = GetOptions()
        common.jobs = Int(clamping: min(1_000, options.number("max-concurrent-downloads") ?? 5))
        common.rateLimit = options.number("max-overall-download-limit").flatMap { $0 == 0 ? nil : $0 }
        common.isQuiet = options.flag("quiet")
        try options.apply(to: &common, of: "*")
        var items: [GetPlan.Item] = []
        for entry in entries {
            items.append(
                GetPlan.Item(
                    source: entry.addresses.first ?? "",
                    mirrors: Array(entry.addresses.dropFirst()),
                    lines: entry.options
                )
            )
        }
        return try GetPlan(common, items: items) { (item, options) throws(Failure) in
            try Aria2cOptions(item.lines).apply(to: &options, of: item.source)
        }
    }
}
