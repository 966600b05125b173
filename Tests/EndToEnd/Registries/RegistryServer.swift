import PawlBase
import PawlTestKit

/// The small registry of `Tests/Registry`, with tokens, which misbehaves on demand.
struct RegistryServer {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    let port: UInt16
    /// The port of the other host, where blobs are.
    let blobPort: UInt16

    init() throws {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        blobPort = try FreePort.choose()
        let script = Checkout.root + "/Tests/Registry/registry.py"
        server = try ServerProcess("python3", ["-u", script, "\(port)", "\(blobPort)"], in: folder, ports: [port])
    }

    var name: String { "127.0.0.1:\(port)" }

    func control(_ json: String) throws {
        _ = try PawlProcess.run("/usr/bin/curl", ["-sS", "-d", json, "http://\(name)/_control"])
    }

    func forget() throws { _ = try PawlProcess.run("/usr/bin/curl", ["-sS", "http://\(name)/_forget"]) }

    func log() throws -> [JSON] {
        try JSON.parse(try PawlProcess.run("/usr/bin/curl", ["-sS", "http://\(name)/_log"]).output).array ?? []
    }
}

/// Debian's docker-registry on loopback.
struct DebianRegistry {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    let name: String

    static let isThere = ServerProcess.isInstalled("docker-registry") && ServerProcess.isInstalled("skopeo")

    init() throws {
        folder = try TemporaryFolder()
        let port = try FreePort.choose()
        name = "127.0.0.1:\(port)"
        let configuration = """
            version: 0.1
            storage:
              filesystem:
                rootdirectory: \(folder.path("data"))
            http:
              addr: \(name)
            """
        try FileSystem.write(Array(configuration.utf8), to: folder.path("config.yml"))
        server = try ServerProcess("docker-registry", ["serve", folder.path("config.yml")], in: folder, ports: [port])
    }
}
