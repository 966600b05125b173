/// tinyproxy, an HTTP proxy: plain requests and CONNECT; with a user it requires basic authentication.
package final class TinyproxyServer: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    package init(user: String? = nil, password: String = "") throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let configuration = """
            Port \(port)
            Listen 127.0.0.1
            Timeout 60
            LogFile "\(folder.path("log"))"
            LogLevel Connect
            Allow 127.0.0.1
            MaxClients 50
            \(user.map { "BasicAuth \($0) \(password)" } ?? "")

            """
        try FileSystem.write(Array(configuration.utf8), to: folder.path("tinyproxy.conf"))
        server = Released(
            try ServerProcess("tinyproxy", ["-d", "-c", folder.path("tinyproxy.conf")], in: folder, ports: [port]))
    }

    package func url(_ scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(port)" }

    /// Stops the proxy and returns the request lines that it received.
    package func finish() -> [String] {
        server.release()
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").filter { $0.contains("Request (file descriptor") }.compactMap { line in
            line.firstRange(of: "): ").map { String(line[$0.upperBound...]) }
        }
    }
}
