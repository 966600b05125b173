import Glibc

/// Dante, a SOCKS 4 and 5 proxy; with a user it requires SOCKS 5 and a login, checked against the system accounts.
package final class DanteServer: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    package static let isAvailable =
        geteuid() == 0 && ServerProcess.isInstalled("danted") && ServerProcess.canCoverFiles

    package init() throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let hosts = (FileSystem.contents("/etc/hosts") ?? []) + Array("127.0.0.1 \(SSHServer.secretName)\n".utf8)
        try FileSystem.write(hosts, to: folder.path("hosts"))
        guard unsafe mkdir(folder.path("run"), 0o755) == 0 else { throw SetupFailure("mkdir run") }
        let configuration = """
            logoutput: \(folder.path("log"))
            internal: 127.0.0.1 port = \(port)
            external: lo
            clientmethod: none
            socksmethod: none
            user.privileged: root
            user.unprivileged: nobody
            client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
            socks pass {
                from: 0.0.0.0/0 to: 0.0.0.0/0
                log: connect
            }

            """
        try FileSystem.write(Array(configuration.utf8), to: folder.path("danted.conf"))
        server = Released(
            try ServerProcess(
                "danted", ["-f", folder.path("danted.conf")], in: folder, ports: [port],
                covering: ["/etc/hosts": folder.path("hosts"), "/run": folder.path("run")]))
    }

    package func url(_ scheme: String) -> String { "\(scheme)://127.0.0.1:\(port)" }

    /// Stops the proxy; returns the number of connections that it made.
    package func finish() -> Int {
        server.release()
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").filter { $0.contains("tcp/connect [") }.count
    }
}
