import Glibc
import PawlBase
import PawlServer
import PawlSystem
import PawlTerminal

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
                    .badOption, "cannot install", at: "--root \(options.root ?? "")",
                    because: "a system-wide root needs an owner",
                    remedy: "pass --run-as USER, or omit --root to use /var/lib/pawl")
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
            folder = (Environment.configuration ?? home + "/.config") + "/systemd/user"
            socket = try ServicePlace.socket(options.socket)
            root = try ServicePlace.root(options.root)
            unit.sessions = options.sessionsFolder
            unit.folders = [
                root, String(socket[..<(socket.utf8.lastIndex(of: UInt8(ascii: "/")) ?? socket.startIndex)]),
            ]
        }
        let place = unit.sessions.map { ["--sessions", $0] } ?? ["--no-sessions"]
        unit.arguments = ["--root", root, "--socket", socket] + place + options.kept
        self.unit = unit
    }

    /// The path of the unit.
    private var path: String { folder + "/pawl.service" }
    private var manager: [String] { options.installsForAll ? [] : ["--user"] }

    /// Prints the unit that would be installed; nothing is written or started.
    func show() { say("# \(path)\n\(unit.text)") }

    /// Writes the unit, enables and starts it.
    ///
    /// After a failure the unit and its folders are as before.
    func run() throws(Failure) {
        let previous = try AtomicFile.read(path, atMost: 1 << 20)
        var made: [String] = []
        do throws(Failure) {
            try requireSystemctl()
            // Session identifiers are private to the user.
            if let sessions = unit.sessions { try makeFolder(sessions, mode: 0o700, &made) }
            for folder in unit.folders + [folder] { try makeFolder(folder, &made) }
            // The options may contain a secret: only the owner may read the file.
            try AtomicFile.replace(path, with: Array(unit.text.utf8))
            try systemctl("daemon-reload")
            try stopOther()
            try systemctl("enable", "--now", "pawl.service")
        } catch {
            restore(previous, made)
            throw error
        }
        say("pawl: installed \(path); the service is running\n")
        guard !options.installsForAll else { return }
        say("pawl: it starts at login; run 'loginctl enable-linger' to start it at boot\n")
    }

    /// Stops the service and removes its unit.
    ///
    /// The queue, the secret and all files stay.
    func remove() throws(Failure) {
        guard unsafe access(path, F_OK) == 0 else {
            throw Failure(
                .notFound, "cannot uninstall", at: path, because: "there is no such unit",
                remedy: options.installsForAll
                    ? "omit --system for a user service" : "pass --system for a system service")
        }
        try requireSystemctl()
        try systemctl("disable", "--now", "pawl.service")
        guard unsafe unlink(path) == 0 else {
            throw Failure(.inputOutput, "cannot remove", at: path, because: SystemError.last.text)
        }
        try systemctl("daemon-reload")
        say("pawl: stopped the service and removed \(path); the queue and all files stay\n")
    }

    /// Stops a service that was started without systemd.
    private func stopOther() throws(Failure) {
        let client = ServiceClient(socket: socket)
        guard try client.isServiceRunning() else { return }
        try client.call("pawl.stop", to: "stop")
        try SocketLock.waitUntilFree(socket)
    }

    /// Without systemd nothing is written.
    private func requireSystemctl() throws(Failure) {
        let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        guard !folders.contains(where: { unsafe access("\($0)/systemctl", X_OK) == 0 }) else { return }
        throw Failure(
            .notFound, "cannot find", at: "systemctl", because: "systemd is not installed",
            remedy: "run 'pawl serve' from another supervisor; '--install --print' shows the unit")
    }

    private func systemctl(_ words: String...) throws(Failure) {
        let arguments = manager + words
        let code = try ChildProcess.run("systemctl", arguments)
        guard code != 0 else { return }
        throw Failure(
            .unknown, "cannot start or stop", at: path,
            because: "'systemctl \(arguments.joined(separator: " "))' failed with exit code \(code)",
            remedy: "run that command where systemd is running")
    }

    /// Undoes what `run` wrote.
    private func restore(_ previous: [UInt8]?, _ made: [String]) {
        if let previous {
            try? AtomicFile.replace(path, with: previous)
        } else if unsafe access(path, F_OK) == 0 {
            // A link to the unit may have been made.
            _ = try? ChildProcess.run("systemctl", manager + ["disable", "pawl.service"])
            _ = unsafe unlink(path)
        }
        // Only empty folders are removed.
        for folder in made.reversed() { _ = unsafe rmdir(folder) }
    }

    private func makeFolder(_ path: String, mode: mode_t = 0o755, _ made: inout [String]) throws(Failure) {
        var folder = ""
        for part in path.pathParts() {
            folder += "/" + part
            if unsafe mkdir(folder, mode) == 0 {
                made.append(folder)
            } else if errno != EEXIST {
                throw Failure(.cannotMakeFolder, "cannot create", at: folder, because: SystemError.last.text)
            }
        }
    }
}
