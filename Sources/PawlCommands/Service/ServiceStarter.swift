import Glibc
import PawlCore
import PawlServer

/// Starts a service that has nothing to do with this terminal, and waits until it answers.
enum ServiceStarter {
    /// For `pawl add`: one at most, however many want it at once.
    static func start(_ options: AddOptions, at socket: String, quietly: Bool) throws(Failure) {
        guard !options.startsNoService else {
            throw Failure(
                .notFound,
                "cannot ask",
                at: socket,
                because: "no service runs there",
                remedy: "leave --no-start out, or start one with 'pawl serve'"
            )
        }
        let turn = try SocketLock.startingTurn(socket)
        defer { close(turn) }
        // Another command may have been quicker.
        guard try !ServiceClient(socket: socket).isAnswered() else { return }
        let root = try ServicePlace.root(options.root)
        var arguments = ["--quiet", "--root", root, "--socket", socket]
        // Downloads must not wait because another program has the port.
        if let port = options.port ?? (ServicePlace.variable("PAWL_PORT") == nil ? "auto" : nil) {
            arguments += ["--port", port]
        }
        try start(arguments)
        guard !quietly else { return }
        var errors = OutputFile(descriptor: STDERR_FILENO)
        errors.appendLine(TerminalText.harmless("pawl: started the service for \(root)"))
        errors.flush()
    }

    /// The environment variable that holds the number of the descriptor on which a started service says that it answers.
    static let readyVariable = "PAWL_READY_DESCRIPTOR"

    /// Runs `pawl serve` with these arguments as a process of its own; it tells on standard error why it cannot.
    static func start(_ arguments: [String]) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw failure(errno) }
        let reader = ends[0]
        defer { close(reader) }
        _ = fcntl(reader, F_SETFD, FD_CLOEXEC)
        let child = try spawn(arguments, telling: ends[1])
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(reader, &byte, 1)
            if count == 1 { return }
            if count == 0 { break }
            guard errno == EINTR else { throw failure(errno) }
        }
        throw Failure(
            Failure.Code(rawValue: UInt8(clamping: max(1, ChildProcess.status(of: child)))),
            "cannot start",
            at: "the service",
            because: "it ended at once",
            remedy: "its own words are above"
        )
    }

    /// The write end is the child's alone afterwards, so that its end is seen.
    private static func spawn(_ arguments: [String], telling writer: Int32) throws(Failure) -> pid_t {
        defer { close(writer) }
        return try ChildProcess.start(
            try ownPath(),
            ["pawl", "serve"] + arguments,
            environment: ["\(readyVariable)=\(writer)"]
        )
    }

    /// The program that runs.
    static func ownPath() throws(Failure) -> String {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { throw failure(errno) }
        let path = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The program was replaced since it was started: what runs is still there under this name.
        return path.hasSuffix(" (deleted)") ? "/proc/self/exe" : path
    }

    private static func failure(_ number: Int32) -> Failure {
        Failure(.unknown, "cannot start", at: "the service", because: systemMessage(number))
    }
}

/// What a service knows of the process that started it and waits for it to answer.
struct WaitingParent: Sendable {
    private let descriptor: Int32

    /// `nil` when nobody waits; call it before any other thread is started.
    init?() {
        guard let text = environmentVariable(ServiceStarter.readyVariable), let descriptor = Int32(text)
        else {
            return nil
        }
        _ = unsafe unsetenv(ServiceStarter.readyVariable)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
        // Closing the terminal sends SIGHUP to the sessions on it.
        setsid()
    }

    /// Lets go of the terminal and of the folder, and says that calls are answered.
    func tell() {
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
