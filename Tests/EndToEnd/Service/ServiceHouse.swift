import Glibc
import PawlBase
import PawlTestKit
import Testing

/// A test's own root and socket, an origin, and the commands between them; stops the service at the end.
final class ServiceHouse: Sendable {
    let origin: OriginServer
    let folder: TemporaryFolder
    private let port: String

    /// `port` is the value of `PAWL_PORT`.
    init(port: String = "none") throws {
        self.port = port
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    /// With the service running.
    static func serving() throws -> ServiceHouse {
        let house = try ServiceHouse()
        try house.run("serve", "--background")
        return house
    }

    deinit {
        _ = try? run("stop")
        origin.stop()
    }

    var environment: [String: String] {
        [
            "HOME": folder.path, "PAWL_ROOT": folder.path("root"), "PAWL_SOCKET": folder.path("socket"),
            "PAWL_PORT": port, "XDG_RUNTIME_DIR": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "LC_ALL": "C.UTF-8",
        ]
    }

    func start(_ arguments: String...) throws -> PawlProcess { try start(arguments) }

    func start(_ arguments: [String], more: [String: String] = [:]) throws -> PawlProcess {
        try PawlProcess(PawlBinary.path, arguments, environment: environment.merging(more) { _, new in new })
    }

    /// Runs a command to its end.
    @discardableResult func run(_ arguments: String...) throws -> PawlProcess {
        let process = try start(arguments)
        process.wait()
        return process
    }

    /// The output of a command with `--json`, one value per line.
    func ask(_ arguments: String...) throws -> [JSON] { try ask(arguments) }

    func ask(_ arguments: [String]) throws -> [JSON] {
        let process = try start(arguments + ["--json"])
        process.wait()
        try #require(process.exit == .code(0), "\(arguments): \(process.errors)")
        return try process.lines.map { line in try JSON.parse(line) }
    }

    /// Runs `pawl add`, and returns the ID of the last download.
    func add(_ arguments: String...) throws -> String {
        let added = try ask(["add"] + arguments)
        return try #require(added.last?["id"]?.string)
    }

    /// The process ID of the service.
    func servicePID() throws -> pid_t { pid_t(try #require(try ask("status").first?["pid"]?.integer)) }

    /// Waits until that much of all downloads is on disk: sent bytes may still be in a socket's buffers.
    func waitUntilWritten(_ count: Int64) throws {
        for _ in 1...2000 {
            let written = try ask("list").reduce(0) { $0 + ($1["written"]?.integer ?? 0) }
            if written >= count { return }
        }
        Issue.record("\(count) bytes were not written")
    }

    func difference(_ name: String, from payload: Payload) -> String? {
        FileSystem.difference(of: folder.path("root/\(name)"), from: payload)
    }
}
