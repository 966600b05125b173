import Glibc
import PawlCore
import PawlServer

extension Command {
    static let serve = Command(
        "serve",
        "[options]",
        summary: "the background service, in the foreground",
        details: """
            Keeps a queue of downloads for one download root and answers those who ask about it: other commands over a \
            socket file that only its owner can open, and programs over HTTP and WebSocket (JSON-RPC as aria2 speaks it).
            Ctrl-C, SIGTERM and 'pawl stop' end it in good order: everything unfinished continues at the next start, as \
            it does after a crash.
            """,
        taking: ServeOptions.table
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw .unexpected(first, in: "serve") }
        if options.installs {
            try ServeInstall(options, program: try ServiceStarter.ownPath()).run()
            return 0
        }
        var configuration = try options.configuration()
        let parent = WaitingParent()
        let supervisor = Supervisor()
        if options.isBackground, parent == nil {
            try ServiceStarter.start(Array(CommandLine.arguments.dropFirst(2)))
            return 0
        }
        configuration.log = try options.log(isDetached: parent != nil, root: configuration.root)
        let reporter = ServeReporter(options, log: configuration.log, isDetached: parent != nil)
        let known = configuration
        let restarter = Restarter(isSupervised: supervisor.isThere, isDetached: parent != nil)
        let watchdog = Watchdog(
            onBeat: { supervisor.beat() },
            onFault: { finding in
                reporter.tell("fault", Restarter.text(finding))
                restarter.end(finding)
            }
        )
        try ServeSession.run(configuration, watchdog: watchdog) { service in
            let port = service.port == 0 ? "" : " and \(known.pageURL(port: service.port))"
            reporter.tell("serving", "serving \(known.root) at \(known.socket)\(port)")
            if let why = service.portRefusal { reporter.tell("noPort", why) }
            parent?.tell()
            supervisor.tell("READY=1")
        }
        reporter.tell("stopped", "stopped; everything unfinished continues at the next start")
        return 0
    }
}

/// Tells a person, the log, or both what becomes of the service.
private struct ServeReporter: Sendable {
    private let log: ServiceLog?
    private let isPlain: Bool

    init(_ options: ServeOptions, log: ServiceLog?, isDetached: Bool) {
        let hasFile = options.logFile != nil || isDetached
        // Where standard error is the log and programs read it, nothing else goes there.
        let isOnlyLog = !hasFile && options.logFormat == .json && log != nil
        isPlain = !options.isQuiet && !isOnlyLog
        self.log = isOnlyLog || hasFile ? log : nil
    }

    func tell(_ event: String, _ text: String) {
        log?.note(event, text)
        guard isPlain else { return }
        var errors = OutputFile(descriptor: STDERR_FILENO)
        errors.appendLine(TerminalText.harmless("pawl: \(text)"))
        errors.flush()
    }
}

extension Failure {
    /// An operand where none belongs.
    static func unexpected(_ operand: String, in command: String) -> Failure {
        Failure(
            .badOption,
            "cannot take",
            at: operand,
            because: "'pawl \(command)' takes nothing there",
            remedy: "see 'pawl help \(command)'"
        )
    }
}
