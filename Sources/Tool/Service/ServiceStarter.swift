import Glibc
import PawlBase
import PawlServer
import PawlSystem
import PawlTerminal

/// Starts a service detached from this terminal, and waits until it is ready.
enum ServiceStarter {
    /// For `pawl add`: starts at most one service, even if several commands try at the same time.
    static func start(_ options: AddOptions, for client: ServiceClient, quietly: Bool) throws(Failure) {
        let socket = client.socket
        guard !options.startsNoService else {
            throw Failure(
                .notFound, "the Pawl service is not running", at: "(socket \(socket))", because: "",
                remedy: "omit --no-start, or start it with 'pawl serve'")
        }
        let turn = try SocketLock.startingTurn(socket)
        defer { close(turn) }
        // Another command may have started it meanwhile.
        guard try !client.isServiceRunning() else { return }
        let root = try ServicePlace.root(options.root)
        var arguments = ["--quiet", "--root", root, "--socket", socket]
        // Downloads must not fail to start because another program has the port.
        if let port = options.port ?? (Environment.value("PAWL_PORT") == nil ? "auto" : nil) {
            arguments += ["--port", port]
        }
        try start(arguments)
        if !quietly { printNotice("started the service for \(root)") }
    }

    /// The environment variable with the number of the descriptor on which a started service reports readiness.
    static let readyVariable = "PAWL_READY_DESCRIPTOR"

    /// A queue of a million downloads is opened in seconds.
    private static let longestStart: Int32 = 120_000

    /// Runs `pawl serve` with these arguments in a new process, which reports its failure on standard error.
    static func start(_ arguments: [String]) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw failure(errno) }
        let reader = ends[0]
        defer { close(reader) }
        _ = fcntl(reader, F_SETFD, FD_CLOEXEC)
        let child = try spawn(arguments, telling: ends[1])
        var ready = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        guard retrying({ unsafe poll(&ready, 1, longestStart) }) > 0 else {
            throw Failure(
                .unfinished, "cannot wait for", at: "the service",
                because: "its process \(child) has not become ready within two minutes",
                remedy: "'pawl status' shows it when it has")
        }
        var byte: [UInt8] = [0]
        do throws(SystemError) { if try BoundedRead.some(reader, into: &byte) == 1 { return } } catch {
            throw failure(error.number)
        }
        throw Failure(
            Failure.Code(rawValue: UInt8(clamping: max(1, ChildProcess.status(of: child)))), "cannot start",
            at: "the service", because: "it exited during startup", remedy: "see its message above")
    }

    /// Leaves the write end open in the child only, so that its exit is seen as end of file.
    private static func spawn(_ arguments: [String], telling writer: Int32) throws(Failure) -> pid_t {
        defer { close(writer) }
        return try ChildProcess.start(
            try ownPath(), ["pawl", "serve"] + arguments,
            environment: ["\(readyVariable)=\(ChildProcess.firstDescriptor)"], passing: writer)
    }

    /// The path of the running executable.
    static func ownPath() throws(Failure) -> String {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { throw failure(errno) }
        let path = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The executable was replaced since it was started; the running one is still reachable by this path.
        return path.hasSuffix(" (deleted)") ? "/proc/self/exe" : path
    }

    private static func failure(_ number: Int32) -> Failure {
        Failure(.unknown, "cannot start", at: "the service", because: SystemError(number: number).text)
    }
}

/// The process that started the service and waits for it to be ready.
struct WaitingParent: Sendable {
    private let descriptor: Int32

    /// Returns `nil` if no process waits; call it before any other thread is started.
    init?() {
        guard let text = Environment.value(ServiceStarter.readyVariable), let descriptor = Int32(text) else {
            return nil
        }
        _ = unsafe unsetenv(ServiceStarter.readyVariable)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
        // Closing the terminal sends SIGHUP to the sessions on it.
        setsid()
    }

    /// Detaches from the terminal and the working directory, and reports readiness.
    func notify() {
        _ = unsafe chdir("/")
        let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        if nothing >= 0 {
            for standard in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { dup2(nothing, standard) }
            close(nothing)
        }
        var byte: UInt8 = 1
        _ = unsafe write(descriptor, &byte, 1)
        close(descriptor)
    }
}
