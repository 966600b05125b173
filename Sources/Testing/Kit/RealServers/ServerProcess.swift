import Glibc

/// A third-party server in a separate process group, which is stopped when this is deallocated and also when the test
/// process dies.
package final class ServerProcess: Sendable {
    let process: PawlProcess
    /// Open for writing while the server has to run; the kernel closes it for a test process that was killed.
    private let lifeline: CInt

    /// Starts `program` (found in the search path) and returns when it accepts connections on all of `ports`.
    ///
    /// System files are replaced for this server alone by `files` (root only): the key is the path.
    package init(
        _ program: String, _ arguments: [String], in folder: TemporaryFolder, ports: [UInt16],
        covering files: [String: String] = [:], environment: [String: String] = [:]
    ) throws(SetupFailure) {
        let pipe = folder.path("lifeline-\(ports.first ?? 0)")
        guard unsafe mkfifo(pipe, 0o600) == 0 else { throw SetupFailure("mkfifo \(pipe)") }
        lifeline = unsafe open(pipe, O_RDWR | O_CLOEXEC)
        guard lifeline >= 0 else { throw SetupFailure("open \(pipe)") }
        do throws(SetupFailure) {
            process = try PawlProcess(
                "/bin/sh", ["-c", Self.launcher, "launcher", pipe, Self.cover(files), program] + arguments,
                environment: environment.merging(["PATH": Self.searchPath]) { given, _ in given }, folder: folder.path)
        } catch {
            close(lifeline)
            throw error
        }
        for port in ports { try awaitReady(program, port) }
    }

    deinit {
        close(lifeline)
        process.wait()
    }

    /// The server's output so far.
    package var output: String { process.output + process.errors }

    /// Sends a signal to the process whose number a server has written to a file.
    static func send(_ signal: Int32, toProcessIn file: String) throws(SetupFailure) {
        let text = String(decoding: FileSystem.contents(file) ?? [], as: UTF8.self)
        guard let number = pid_t(text.prefix { $0.isNumber }), kill(number, signal) == 0 else {
            throw SetupFailure("a signal to the process in \(file)", errno)
        }
    }

    package static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// Whether `program` is installed.
    package static func isInstalled(_ program: String) -> Bool {
        searchPath.split(separator: ":").contains { FileSystem.exists("\($0)/\(program)") }
    }

    /// Whether system files can be replaced for one process here.
    package static let canCoverFiles: Bool = {
        let script = "mount --make-rprivate / && mount --bind /etc/hosts /etc/hosts"
        let process = try? PawlProcess.run("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script])
        return process?.exit == .code(0)
    }()

    /// Starts the server in a new session (and so a process group) and ends the group when the lifeline is closed.
    ///
    /// The lifeline is opened before the server starts: opened afterwards, it may be closed already, and wait for a writer.
    /// A server may miss the request to end, when it comes just before it waits for connections.
    private static let launcher = """
        exec 3<"$1"; cover=$2; shift 2
        if [ -n "$cover" ]; then
            setsid unshare -m /bin/sh -c "$cover"' && exec "$@"' cover "$@" 3<&- &
        else
            setsid "$@" 3<&- &
        fi
        server=$!
        (
            cat <&3
            kill -s TERM -- "-$server" || kill "$server"
            for tenth in $(seq 100); do kill -0 -- "-$server" || exit; sleep 0.1; done
            kill -s KILL -- "-$server"
        ) >/dev/null 2>&1 &
        exec 3<&-
        wait "$server"
        """

    private static func cover(_ files: [String: String]) -> String {
        if files.isEmpty { return "" }
        return (["mount --make-rprivate /"] + files.map { "mount --bind '\($1)' '\($0)'" }).joined(separator: " && ")
    }

    /// Tries to connect until the server accepts or has exited.
    ///
    /// Between two attempts it waits for the server's exit.
    private func awaitReady(_ program: String, _ port: UInt16) throws(SetupFailure) {
        for _ in 0..<1000 {
            if FreePort.isServed(port) { return }
            process.line(atMost: .milliseconds(20)) { _ in false }
            if process.exit != nil { break }
        }
        throw SetupFailure("\(program) does not listen on port \(port); output: \(output)", ECONNREFUSED)
    }
}
