/// Python's `http.server`: HTTP/1.0, no ranges, one thread a request.
package final class PythonServer: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    package init(_ site: ServedFolder) throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let arguments = ["-u", "-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", site.path]
        server = Released(try ServerProcess("python3", arguments, in: folder, ports: [port]))
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Its log so far.
    package var log: String { server.current?.output ?? "" }
}
