import Glibc
import PawlTestKit
import Testing

/// Signals while a command waits before it has anything to stop: for a server, for its input, or for the service.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct InterruptionTests
{
    private let bench: Bench

    init() throws {
        bench = try Bench()
        try FileSystem.write(Array("content".utf8), to: bench.folder.path("file"))
    }

    private func start(_ arguments: [String], _ environment: [String: String] = [:]) throws -> PawlProcess {
        try PawlProcess(
            PawlBinary.path, arguments, environment: ["HOME": bench.folder.path].merging(environment) { $1 },
            folder: bench.folder.path)
    }

    /// It ends with exit code 7 and one sentence.
    private func expectEnd(of process: PawlProcess, after signal: Int32) {
        process.send(signal)
        #expect(process.wait() == .code(7), "\(process.errors)")
        #expect(process.errors.hasPrefix("pawl: interrupted"), "\(process.errors)")
        #expect(process.errors.split(separator: "\n").count == 1 && process.output.isEmpty)
    }

    @Test(arguments: [
        ["get", "--dry-run", "URL"], ["get", "--zsync", "URL"], ["verify", "--from", "URL", "file"],
        ["verify", "--sums", "URL", "file"], ["verify", "--metalink", "URL", "file"],
        ["repair", "--metalink", "URL", "file"], ["repair", "--zsync", "URL", "file"],
        ["repair", "--from", "URL", "file"],
    ]) func `while a server does not respond`(arguments: [String]) throws {
        let url = bench.origin.serve("/f", Payload(text: "content")) { $0.delay = .untilReleased }
        let process = try start(arguments.map { $0 == "URL" ? url : $0 })
        #expect(bench.origin.wait(requests: 1, of: "/f"))
        expectEnd(of: process, after: SIGTERM)
        #expect(bench.folder.names.filter { !$0.hasPrefix(".") } == ["file"])
    }

    @Test(arguments: [
        ("List", ["get", "--recursive", "s3://bucket/prefix/"]), ("List", ["get", "s3://bucket/prefix/"]),
        ("HeadBucket", ["pipe", "--robots", "ignore", "--to", "s3://bucket/set"]),
        ("Head", ["pipe", "--robots", "ignore", "--to", "s3://bucket/set", "--format", "tar", "--shard", "one"]),
    ]) func `while an object store does not respond`(operation: String, arguments: [String]) throws {
        let store = try ObjectStoreServer()
        try store.control("{\"faults\": [{\"op\": \"\(operation)\", \"do\": \"hang\"}]}")
        let process = try start(arguments, store.environment)
        try store.wait(for: operation, count: 1)
        expectEnd(of: process, after: SIGINT)
    }

    @Test(arguments: [
        ["get", "--input-file", "input"], ["get", "--metalink", "input"], ["verify", "--sums", "input", "file"],
        ["pipe", "--robots", "ignore", "--input-file", "input"],
    ]) func `while its input does not end`(arguments: [String]) throws {
        try #require(unsafe mkfifo(bench.folder.path("input"), 0o600) == 0)
        let process = try start(arguments)
        // Opening it waits for the reader.
        let writer = unsafe open(bench.folder.path("input"), O_WRONLY | O_CLOEXEC)
        defer { close(writer) }
        expectEnd(of: process, after: SIGTERM)
    }

    /// A service that accepts requests and responds to none.
    private static let service = """
        import socket, sys
        server = socket.socket(socket.AF_UNIX)
        server.bind(sys.argv[1])
        server.listen()
        print("ready", flush=True)
        # The first connection may be a look at whether there is a service.
        client = server.accept()[0]
        while not client.recv(1): client = server.accept()[0]
        print("request", flush=True)
        client.recv(1 << 20)
        server.accept()
        """

    @Test(arguments: [
        ["list"], ["list", "--watch"], ["status"], ["wait", "--all"], ["add", "http://127.0.0.1:1/f"], ["pause", "ab"],
        ["stop"],
    ]) func `while the service does not respond`(arguments: [String]) throws {
        let socket = bench.folder.path("socket")
        let service = try PawlProcess("/usr/bin/env", ["python3", "-c", Self.service, socket])
        #expect(service.line { $0 == "ready" } != nil)
        let process = try start(arguments, ["PAWL_SOCKET": socket])
        #expect(service.line { $0 == "request" } != nil)
        expectEnd(of: process, after: SIGINT)
        service.send(SIGKILL)
    }
}
