import Glibc
import PawlCore
import PawlServer
import PawlSystem

/// `pawl serve --install`: installs the service as a systemd unit.
struct ServeInstall {
    private let options: ServeOptions
    private let unit: SystemdUnit
    private let folder: String
    private let socket: String
    init(_ options: ServeOptions, program: String) throws(Failure) {
        self.options = options
        var unit = SystemdUnit(program: program, arguments: [], folders: [], isSystem: options.installsForAll)
        let root: String
        if options.installsForAll {
            guard options.root == nil || options.user != nil else {
                throw Failure(
                    .badOption,
                    "cannot install",
                    at: "--root \(options.root ?? "")",
                    because: "a system-wide root needs an owner",
                    remedy: "pass --run-as USER, or omit --root to use /var/lib/pawl"
                )
            }
            guard options.user == nil || options.root != nil else {
                throw Failure(.badOption, "cannot install", at: "--run-as", because: "it requires --root")
            }
            folder = "/etc/systemd/system"
            socket = options.socket.map(ServicePlace.absolute) ?? "/run/pawl/socket"
            root = options.root.map(ServicePlace.absolute) ?? "/var/lib/pawl"
            // A system service resumes a user's sessions only if requested.
            unit.sessions = options.sessions == nil ? nil : options.sessionsFolder
            unit.user = options.user
            if options.user != nil { unit.folders = [root] }
        } else {
            let home = try ServicePlace.home(for: "--system")
            folder = (ServicePlace.variable("XDG_CONFIG_HOME") ?? home + "/.config") + "/systemd/user"
            socket = try ServicePlace.socket(options.socket)
            root = try ServicePlace.root(options.root)
            unit.sessions = options.sessionsFolder
            unit.folders = [root, String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)])]
        }
        let place = unit.sessions.map { ["--sessions", $0] } ?? ["--no-sessions"]
        unit.arguments = ["--root", root, "--socket", socket] + place + options.kept
        self.unit = unit
    }

    /// Writes the unit, enables and starts it.
    func run() throws(Failure) {
        // Session identifiers are private to the user.
        if let sessions = unit.sessions { try makeFolder(sessions, mode: 0o700) }
        for path in unit.folders + [folder] { try makeFolder(path) }
        let path = folder + "/pawl.service"
        // The options may contain a secret: only the owner may read the file.
        try AtomicFile.write(Array(unit.text.utf8), to: path)
        // Stop a service that was started without systemd.
        let client = ServiceClient(socket: socket)
        if try client.isServiceRunning() {
            try client.call("pawl.stop", to: "stop")
            try SocketLock.waitUntilFree(socket)
        }
        let manager = options.installsForAll ? [] : ["--user"]
        for words in [["daemon-reload"], ["enable", "--now", "pawl.service"]] {
            let code = try ChildProcess.run("systemctl", manager + words)
            guard code == 0 else {
                throw Failure(
                    .unknown,
                    "wrote \(path) but could not start",
                    at: "it",
                    because:
                        "'systemctl \((manager + words).joined(separator: " "))' failed with exit code \(code)",
                    remedy: "run that command where systemd is running"
                )
            }
        }
        say("pawl: installed \(path); the service is running\n")
        guard !options.installsForAll else { return }
        say("pawl: it starts at login; run 'loginctl enable-linger' to start it at boot\n")
    }

    private func makeFolder(_ path: String, mode: mode_t = 0o755) throws(Failure) {
        var folder = ""
        for part in path.split(separator: "/") {
            folder += "/" + part
            guard unsafe mkdir(folder, mode) != 0, errno != EEXIST else { continue }
            throw Failure(.cannotMakeFolder, "cannot create", at: folder, because: SystemError.last.text)
        }
    }
}
