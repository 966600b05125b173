/// `Scripts/hostile_h2.py`: serves the files of a site over HTTP/2 in hostile ways, which the first part of a path names.
package final class HostileHTTP2Server: Sendable {
    private let port: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    package static let isAvailable =
        ServerProcess.isInstalled("openssl")
        && (try? PawlProcess.run("/usr/bin/python3", ["-c", "import hpack"]))?.exit == .code(0)

    package init(_ site: ServedFolder, _ authority: TestAuthority) throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let script = Checkout.root + "/Scripts/hostile_h2.py"
        let arguments = ["-u", script, "\(port)", authority.certificate, authority.key, site.path]
        server = Released(try ServerProcess("python3", arguments, in: folder, ports: [port]))
    }

    package func url(_ way: String, _ file: String) -> String { "https://127.0.0.1:\(port)/\(way)/\(file)" }

    /// Stops the server; its requests: `h2` or `http/1.1`, the number of the connection, and the path.
    package func finish() -> [String] {
        let process = server.current?.process
        server.release()
        return process?.lines ?? []
    }
}
