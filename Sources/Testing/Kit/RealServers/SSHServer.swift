import Glibc

/// OpenSSH's server with its own host key and one user, `pawl`, who exists only for it.
///
/// The user is in copies of the system's account files that cover the real ones for this process only. So does a
/// hosts file in which `files.pawl.test` is this machine: a name that only the server can resolve. Needs root.
package final class SSHServer: Sendable {
    package let port: UInt16
    package let user = "pawl"
    package let password = "s3cret-word"
    /// A name that only the server resolves, to this machine.
    package static let secretName = "files.pawl.test"
    /// Home folders: one has the host's key in known_hosts, one also has a user key that the server accepts, one has
    /// another key for that host, and one has nothing.
    package var knowing: String { folder.path("knowing") }
    package var withKey: String { folder.path("with-key") }
    package var mistaken: String { folder.path("mistaken") }
    package var unknownHost: String { folder.path("unknownHost") }

    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    package static let isAvailable = geteuid() == 0 && ServerProcess.isInstalled("sshd") && ServerProcess.canCoverFiles

    package init(_ site: ServedFolder) throws(SetupFailure) {
        folder = try TemporaryFolder()
        // sshd accepts authorised keys only below folders that others may read.
        unsafe chmod(folder.path, 0o755)
        port = try FreePort.choose()
        try Self.makeKeys(folder, port: port)
        try Self.makeAccounts(folder, home: site.path, user: user, password: password)
        try Self.writeConfiguration(folder, port: port, user: user)
        let covered = [
            "/etc/passwd": folder.path("passwd"), "/etc/shadow": folder.path("shadow"),
            "/etc/hosts": folder.path("hosts"), "/run": folder.path("run"),
        ]
        server = Released(
            try ServerProcess(
                "/usr/sbin/sshd", ["-D", "-e", "-f", folder.path("sshd_config")], in: folder, ports: [port],
                covering: covered))
    }

    /// The URL of an absolute path.
    package func url(_ path: String) -> String { "sftp://127.0.0.1:\(port)\(path)" }

    /// Stops the server.
    package func finish() { server.release() }

    private static func makeKeys(_ folder: TemporaryFolder, port: UInt16) throws(SetupFailure) {
        for (name, kind) in [
            ("host", ["-t", "ed25519"]), ("other", ["-t", "ed25519"]),
            ("own", ["-t", "rsa", "-b", "2048", "-m", "PEM"]),
        ] {
            let process = try PawlProcess.run(
                "/usr/bin/ssh-keygen", ["-q", "-N", "", "-C", "test", "-f", folder.path(name)] + kind)
            guard process.exit == .code(0) else { throw SetupFailure("ssh-keygen: \(process.errors)", EIO) }
        }
        for (home, known) in [("knowing", "host"), ("with-key", "host"), ("mistaken", "other"), ("unknownHost", nil)] {
            try makeHome(folder.path(home))
            guard let known, let key = FileSystem.contents(folder.path("\(known).pub")) else { continue }
            let line = "[127.0.0.1]:\(port) " + String(decoding: key, as: UTF8.self)
            try FileSystem.write(Array(line.utf8), to: folder.path("\(home)/.ssh/known_hosts"))
        }
        for (source, target) in [
            ("own", "with-key/.ssh/id_rsa"), ("own.pub", "with-key/.ssh/id_rsa.pub"), ("own.pub", "authorized"),
        ] { try FileSystem.write(FileSystem.contents(folder.path(source)) ?? [], to: folder.path(target)) }
        unsafe chmod(folder.path("with-key/.ssh/id_rsa"), 0o600)
    }

    private static func makeHome(_ home: String) throws(SetupFailure) {
        guard unsafe mkdir(home, 0o700) == 0, unsafe mkdir("\(home)/.ssh", 0o700) == 0 else {
            throw SetupFailure("mkdir \(home)")
        }
    }

    private static func makeAccounts(
        _ folder: TemporaryFolder, home: String, user: String, password: String
    ) throws(SetupFailure) {
        let hash = try PawlProcess.run("/usr/bin/openssl", ["passwd", "-6", password]).output.prefix { $0 != "\n" }
        func extend(_ file: String, with line: String) throws(SetupFailure) {
            let old = FileSystem.contents("/etc/\(file)") ?? []
            try FileSystem.write(old + Array("\(line)\n".utf8), to: folder.path(file))
        }
        try extend("passwd", with: "\(user):x:65534:65534::\(home):/bin/sh")
        try extend("shadow", with: "\(user):\(hash):19000:0:99999:7:::")
        try extend("hosts", with: "127.0.0.1 \(secretName)")
        unsafe chmod(folder.path("shadow"), 0o600)
        // The empty folder of sshd's unprivileged process; some machines lack it before the service ran.
        guard unsafe mkdir(folder.path("run"), 0o755) == 0, unsafe mkdir(folder.path("run/sshd"), 0o755) == 0 else {
            throw SetupFailure("mkdir run/sshd")
        }
    }

    private static func writeConfiguration(_ folder: TemporaryFolder, port: UInt16, user: String) throws(SetupFailure) {
        let configuration = """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(folder.path("host"))
            PidFile none
            UsePAM no
            PasswordAuthentication yes
            PubkeyAcceptedAlgorithms +ssh-rsa
            AuthorizedKeysFile \(folder.path("authorized"))
            StrictModes no
            AllowUsers \(user)
            Subsystem sftp internal-sftp
            ForceCommand internal-sftp

            """
        try FileSystem.write(Array(configuration.utf8), to: folder.path("sshd_config"))
    }
}
