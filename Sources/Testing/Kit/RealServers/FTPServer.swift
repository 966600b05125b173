import Glibc

/// vsftpd with one login, `anonymous` and a password that it checks.
///
/// With an authority it uses TLS from the first byte on, for data too. Needs root, as vsftpd does.
package final class FTPServer: Sendable {
    package let port: UInt16
    package let password = "s3cret-mail"
    private let isSecure: Bool
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    package static let isAvailable = geteuid() == 0 && ServerProcess.isInstalled("vsftpd")

    package init(_ site: ServedFolder, authority: TestAuthority? = nil) throws(SetupFailure) {
        isSecure = authority != nil
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let empty = folder.path("empty")
        guard unsafe mkdir(empty, 0o755) == 0 else { throw SetupFailure("mkdir \(empty)") }
        try FileSystem.write(Array("\(password)\n".utf8), to: folder.path("passwords"))
        // The user "anonymous" needs no account on this machine, and the password can come from a file.
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
            \(authority.map(Self.securing) ?? "")

            """
        try FileSystem.write(Array(configuration.utf8), to: folder.path("vsftpd.conf"))
        server = Released(try ServerProcess("vsftpd", [folder.path("vsftpd.conf")], in: folder, ports: [port]))
    }

    private static func securing(_ authority: TestAuthority) -> String {
        """
        ssl_enable=YES
        implicit_ssl=YES
        allow_anon_ssl=YES
        force_anon_logins_ssl=YES
        force_anon_data_ssl=YES
        require_ssl_reuse=NO
        ssl_ciphers=HIGH
        rsa_cert_file=\(authority.certificate)
        rsa_private_key_file=\(authority.key)
        """
    }

    package func url(_ path: String) -> String { "\(isSecure ? "ftps" : "ftp")://127.0.0.1:\(port)\(path)" }

    /// Stops the server and returns the commands that it received, in order.
    package func finish() -> [String] {
        server.release()
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").filter { $0.contains("FTP command:") }.compactMap { line in
            line.split(separator: "\"").dropFirst().last.map(String.init)
        }
    }
}
