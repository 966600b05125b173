import Glibc
import PawlBase
import PawlGet
package import PawlServer
import PawlSystem
package import PawlTerminal

extension Command {
    /// `extend` gives the service its further interfaces.
    package static func serve(_ extend: @escaping @Sendable (inout ServiceConfiguration) -> Void) -> Command {
        Command(
            "serve", "[options]", summary: "run the background service in the foreground",
            details: """
                Keep a queue of downloads for one download root, and serve other commands over a Unix socket that only its \
                owner can open, and programs over HTTP and WebSocket (JSON-RPC, compatible with aria2).
                Ctrl-C, SIGTERM and 'pawl stop' shut it down cleanly; unfinished downloads resume at the next start, as \
                they do after a crash.
                """, taking: ServeOptions.table
        ) { (options, operands) throws(Failure) in
            if let first = operands.first { throw .unexpected(first, in: "serve") }
            if try options.changesUnit() { return 0 }
            var configuration = try options.configuration()
            extend(&configuration)
            let parent = WaitingParent()
            let supervisor = Supervisor()
            if options.isBackground, parent == nil {
                for notice in configuration.notices { printNotice(notice) }
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
                    let isSaid = Latch()
                    // The log may be on the disk that hangs.
                    SystemThread.detached("pawl-fault") {
                        reporter.notify("fault", Restarter.text(finding))
                        isSaid.open()
                    }
                    isSaid.pass(until: SystemClock().now + .milliseconds(500))
                    restarter.end(finding)
                })
            try ServeSession.run(configuration, watchdog: watchdog) { service in
                let port = service.port == 0 ? "" : " and \(known.pageURL(port: service.port))"
                reporter.notify("serving", "serving \(known.root) at \(known.socket)\(port)")
                if let why = service.portRefusal { reporter.notify("noPort", why) }
                for notice in service.notices { reporter.notify("notice", notice) }
                parent?.notify()
                supervisor.notify("READY=1")
            }
            reporter.notify("stopped", "stopped; unfinished downloads resume at the next start")
            return 0
        }
    }
}

/// Reports the start, stop and faults of the service to the user, the log, or both.
private struct ServeReporter: Sendable {
    private let log: ServiceLog?
    private let isPlain: Bool

    init(_ options: ServeOptions, log: ServiceLog?, isDetached: Bool) {
        let hasFile = options.logFile != nil || isDetached
        // If standard error is a log for programs, nothing else is written there.
        let isOnlyLog = !hasFile && options.logFormat == .json && log != nil
        isPlain = !options.isQuiet && !isOnlyLog
        self.log = isOnlyLog || hasFile ? log : nil
    }

    func notify(_ event: String, _ text: String) {
        log?.note(event, text)
        if isPlain { printNotice(text) }
    }
}

extension ServeOptions {
    /// Installs, shows or removes the unit if an option says so; `false` otherwise.
    fileprivate func changesUnit() throws(Failure) -> Bool {
        let needs = [
            ("--print", printsUnit, installs, "--install"), ("--run-as", user != nil, installs, "--install"),
            ("--system", installsForAll, installs || uninstalls, "--install or --uninstall"),
            ("--private-key", key != nil, certificate != nil, "--certificate"),
            ("--certificate", certificate != nil, key != nil, "--private-key"),
        ]
        if let (option, _, _, other) = needs.first(where: { $0.1 && !$0.2 }) {
            throw Failure(.badOption, "cannot use", at: option, because: "it requires \(other)")
        }
        guard installs || uninstalls else { return false }
        let install = try ServeInstall(self, program: try ServiceStarter.ownPath())
        if uninstalls { try install.remove() } else if printsUnit { install.show() } else { try install.run() }
        return true
    }
}
