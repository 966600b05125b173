import PawlBase
import PawlSystem
import PawlTestKit

/// The small model hub of `Tests/Hub`, which misbehaves on demand, with files that a test writes.
struct HubServer {
    let folder: TemporaryFolder
    private let server: ServerProcess
    private let port: UInt16

    static let token = "hf_right"

    init() throws {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let other = try FreePort.choose()
        let script = Checkout.root + "/Tests/Hub/hub.py"
        let arguments = ["-u", script, "\(port)", "\(other)", folder.path("files")]
        server = try ServerProcess("python3", arguments, in: folder, ports: [port])
    }

    var endpoint: String { "http://127.0.0.1:\(port)" }

    /// Adds a file to the branch `main` of a model.
    func put(_ path: String, _ bytes: [UInt8], in repository: String = "org/model") throws {
        let file = folder.path("files/models/\(repository)/\(path)")
        try FolderPath.make(FolderPath.parent(of: file))
        try FileSystem.write(bytes, to: file)
    }

    func control(_ json: String) throws {
        _ = try PawlProcess.run("/usr/bin/curl", ["-sS", "-d", json, endpoint + "/_control"])
    }

    func forget() throws { _ = try PawlProcess.run("/usr/bin/curl", ["-sS", endpoint + "/_forget"]) }

    /// Returns when so many bytes of large files were sent.
    func wait(forSent count: Int64) throws {
        _ = try PawlProcess.run("/usr/bin/curl", ["-sS", endpoint + "/_wait?\(count)"])
    }

    /// The requests so far, to the hub and to the other host that large files are at.
    func log() throws -> [JSON] {
        try JSON.parse(try PawlProcess.run("/usr/bin/curl", ["-sS", endpoint + "/_log"]).output).array ?? []
    }
}

/// The libraries of model hubs, in an environment of their own.
enum HubClients {
    static let path = Checkout.root + "/.build/hub-clients/bin/python"

    /// Created on first use, which needs PyPI.
    static let areThere: Bool = {
        let script = Checkout.root + "/Scripts/hub-clients"
        return (try? PawlProcess.run(script, [], atMost: .seconds(300)))?.exit == .code(0)
    }()
}
