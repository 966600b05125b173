import Glibc

/// pure-ftpd with one login, which sees the site's folder only.
///
/// It cannot be installed beside vsftpd, and is unpacked for the tests alone. Needs root.
package final class PureFTPServer: Sendable {
    package let port: UInt16
    package let user = "reader"
    package let password = "s3cret"
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    private static let root = "/usr/local/lib/pawl-tests/pure-ftpd/usr"

    package static let isAvailable = geteuid() == 0 && FileSystem.exists("\(root)/sbin/pure-ftpd")

    package init(_ site: ServedFolder) throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let hash = try PawlProcess.run("/usr/bin/openssl", ["passwd", "-6", password]).output.filter { $0 != "\n" }
        let nobody = 65_534
        let account = "\(user):\(hash):\(nobody):\(nobody)::\(site.path)/./::::::::::::\n"
        try FileSystem.write(Array(account.utf8), to: folder.path("accounts"))
        let making = try PawlProcess.run(
            "\(Self.root)/bin/pure-pw", ["mkdb", folder.path("database"), "-f", folder.path("accounts")])
        guard making.exit == .code(0) else { throw SetupFailure("pure-pw mkdb: \(making.errors)") }
        let arguments = [
            "--bind", "127.0.0.1,\(port)", "--ipv4only", "--dontresolve", "--noanonymous", "--chrooteveryone",
            "--login", "puredb:\(folder.path("database"))", "--altlog", "clf:\(folder.path("log"))",
            "--pidfile", folder.path("pid"),
        ]
        server = Released(try ServerProcess("\(Self.root)/sbin/pure-ftpd", arguments, in: folder, ports: [port]))
    }

    package func url(_ path: String) -> String { "ftp://\(user):\(password)@127.0.0.1:\(port)\(path)" }

    /// Stops the server and returns the paths of the files that it sent.
    package func finish() -> [String] {
        server.release()
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").compactMap { line in
            let request = line.split(separator: "\"").dropFirst().first
            return request?.hasPrefix("GET ") == true ? request.map { String($0.dropFirst(4)) } : nil
        }
    }
}
