/// OpenSSH's client as a SOCKS 4, 4a and 5 proxy (`ssh -D`) that leaves through an ``SSHServer`` and resolves names there.
package final class SocksTunnel: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let far: SSHServer

    package init(through far: SSHServer) throws(SetupFailure) {
        self.far = far
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        server = try ServerProcess(
            "ssh",
            [
                "-N", "-D", "127.0.0.1:\(port)", "-p", "\(far.port)", "-i", "\(far.withKey)/.ssh/id_rsa", "-F", "none",
                "-o", "UserKnownHostsFile=\(far.withKey)/.ssh/known_hosts", "-o", "BatchMode=yes",
                "\(far.user)@127.0.0.1",
            ], in: folder, ports: [port])
    }

    package func url(_ scheme: String) -> String { "\(scheme)://127.0.0.1:\(port)" }
}
