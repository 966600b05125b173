import Glibc

/// nginx over HTTP/1.1, and with an authority also over TLS with HTTP/2.
package final class NginxServer: Sendable {
    /// A request in nginx's access log.
    package struct Request: Hashable, Sendable {
        package var version: String
        package var status: Int
        package var bodySent: Int64
        /// The Range field, `-` when there was none.
        package var range: String
        /// The number of its connection.
        package var connection: Int
        package var path: String
        package var cookie: String
        /// Whether the connection resumed an earlier one's TLS session.
        package var isResumed: Bool
    }

    package let port: UInt16
    package let securePort: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    /// Serves `site` under `/`; `locations` is inserted into the server's block, with the folder for `$site`.
    package init(_ site: ServedFolder, locations: String = "", authority: TestAuthority? = nil) throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        securePort = try FreePort.choose()
        let block = locations.replacing("$site", with: site.path)
        let configuration = Self.configuration(
            folder: folder.path, site: site.path, listening: Self.listening(port, securePort, authority), block)
        try FileSystem.write(Array(configuration.utf8), to: folder.path("nginx.conf"))
        let ports = authority == nil ? [port] : [port, securePort]
        let arguments = ["-e", "stderr", "-p", folder.path, "-c", folder.path("nginx.conf")]
        server = Released(try ServerProcess("nginx", arguments, in: folder, ports: ports))
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
    package func secureURL(_ path: String) -> String { "https://127.0.0.1:\(securePort)\(path)" }

    /// Writes a file to the folder to which paths in `locations` are relative.
    package func write(_ name: String, _ text: String) throws(SetupFailure) {
        try FileSystem.write(Array(text.utf8), to: folder.path(name))
    }

    /// New workers take its place; the old ones end what they have begun.
    package func reload() throws(SetupFailure) {
        try ServerProcess.send(SIGHUP, toProcessIn: folder.path("nginx.pid"))
    }

    /// Stops the server, so that its log is complete, and reads it: the requests in the order in which they ended.
    package func finish() -> [Request] {
        server.release()
        return requests
    }

    /// The requests that ended so far, for phases of a test; the last responses may still be missing.
    private var requests: [Request] {
        let log = String(decoding: FileSystem.contents(folder.path("access.log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 8, let status = Int(fields[1]), let bodySent = Int64(fields[2]),
                let connection = Int(fields[4]), fields[0] != ""
            else { return nil }
            return Request(
                version: fields[0], status: status, bodySent: bodySent, range: fields[3], connection: connection,
                path: fields[5], cookie: fields[6], isResumed: fields[7] == "r")
        }
    }

    private static func listening(_ port: UInt16, _ securePort: UInt16, _ authority: TestAuthority?) -> String {
        var lines = ["listen 127.0.0.1:\(port);"]
        if FreePort.hasInternet6 { lines.append("listen [::1]:\(port);") }
        if let authority {
            lines.append("listen 127.0.0.1:\(securePort) ssl http2;")
            lines.append("ssl_certificate \(authority.certificate); ssl_certificate_key \(authority.key);")
        }
        return lines.joined(separator: "\n        ")
    }

    private static func configuration(folder: String, site: String, listening: String, _ block: String) -> String {
        """
        daemon off;
        worker_processes 2;
        \(geteuid() == 0 ? "user root;" : "")
        pid \(folder)/nginx.pid;
        events { worker_connections 512; }
        http {
            client_body_temp_path \(folder)/body;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            default_type application/octet-stream;
            log_format facts '$server_protocol|$status|$body_bytes_sent|$http_range|$connection|$request_uri|$http_cookie|$ssl_session_reused';
            access_log \(folder)/access.log facts;
            server {
                \(listening)
                root \(site);
                \(block)
            }
        }
        """
    }
}
