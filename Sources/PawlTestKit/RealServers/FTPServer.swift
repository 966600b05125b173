import Glibc

/// vsftpd with one login, `anonymous` and a password that it checks.
///
/// Needs root, as vsftpd does.
package final class FTPServer: Sendable {
    package let port: UInt16
    package let password = "s3cret-mail"
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    package static let isAvailable = geteuid() == 0 && ServerProcess.isInstalled("vsftpd")

    package init(_ site: ServedFolder) throws(SystemError) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let empty = folder.path("empty")
        guard unsafe mkdir(empty, 0o755) == 0 else { throw SystemError("mkdir \(empty)") }
        try FileSystem.write(Array("\(password)\n".utf8), to: folder.path("passwords"))
        // A user who is "anonymous" needs no account on this machine, and his password can come from a file.
        let configuration = """
            listen=YES
            background=NO
            listen_address=127.0.0.1
            listen_port=\(port)
            pasv_address=127.0.0.1
            anonymous_enable=YES
            local_enable=NO
            secure_email_list_enable=YES
            email_password_file=\(folder.path("passwords"))
            anon_root=\(site.path)
            secure_chroot_dir=\(empty)
            seccomp_sandbox=NO
            xferlog_enable=YES
            log_ftp_protocol=YES
            vsftpd_log_file=\(folder.path("log"))

            """
        try FileSystem.write(Array(configuration.utf8), to: folder.path("vsftpd.conf"))
        server = Released(
            try ServerProcess("vsftpd", [folder.path("vsftpd.conf")], in: folder, ports: [port])
        )
    }

    package func url(_ path: String) -> String { "ftp://127.0.0.1:\(port)\(path)" }

    /// Stops the server and gives the commands that it got, in order.
    package func finish() -> [String] {
        server.release()
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").filter { $0.contains("FTP command:") }.compactMap { line in
            line.split(separator: "\"").dropFirst().last.map(String.init)
        }
    }
}
