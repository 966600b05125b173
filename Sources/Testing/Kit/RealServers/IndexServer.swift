import Glibc

/// Other people's servers that list folders as pages or JSON, over plain HTTP.
package enum IndexServerKind: String, CaseIterable, Sendable {
    case nginx, nginxJSON, apachePlain, apacheFancy, apacheTable, lighttpd, caddy, python

    package var isAvailable: Bool {
        switch self {
        case .nginx, .nginxJSON: ServerProcess.isInstalled("nginx")
        case .apachePlain, .apacheFancy, .apacheTable: FileSystem.exists("/usr/lib/apache2/modules/mod_autoindex.so")
        case .lighttpd, .caddy: ServerProcess.isInstalled(rawValue)
        case .python: ServerProcess.isInstalled("python3")
        }
    }

    /// Whether its listing has exact sizes and times, so that an unchanged file needs no request.
    package var isExact: Bool { [.nginx, .nginxJSON, .caddy].contains(self) }
}

/// A server with folders to list.
package final class IndexServer: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>
    private let kind: IndexServerKind

    package init(_ kind: IndexServerKind, _ site: ServedFolder) throws(SetupFailure) {
        self.kind = kind
        folder = try TemporaryFolder()
        unsafe chmod(folder.path, 0o755)
        port = try FreePort.choose()
        let (program, arguments, text) = Self.setup(kind, site, folder.path, port)
        try FileSystem.write(Array(text.utf8), to: folder.path("configuration"))
        server = Released(
            try ServerProcess(program, arguments, in: folder, ports: [port], environment: ["HOME": folder.path]))
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Stops the server and returns the requests, `GET /path`, in the order in which they ended.
    package func finish() -> [String] {
        let printed = server.current?.output ?? ""
        server.release()
        let log =
            kind == .python ? printed : String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").compactMap { line in
            guard kind != .caddy else {
                guard let uri = line.firstRange(of: "\"uri\":\"") else { return nil }
                return "GET " + line[uri.upperBound...].prefix { $0 != "\"" }
            }
            let request = line.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first ?? ""
            let words = request.split(separator: " ")
            return words.count >= 2 ? "\(words[0]) \(words[1])" : nil
        }
    }

    private static func setup(
        _ kind: IndexServerKind, _ site: ServedFolder, _ folder: String, _ port: UInt16
    ) -> (program: String, arguments: [String], configuration: String) {
        let file = "\(folder)/configuration"
        switch kind {
        case .nginx, .nginxJSON:
            return (
                "nginx", ["-e", "stderr", "-p", folder, "-c", file],
                """
                daemon off;
                \(geteuid() == 0 ? "user root;" : "")
                pid \(folder)/pid;
                events { worker_connections 512; }
                http {
                    default_type application/octet-stream;
                    log_format facts '"$request"';
                    access_log \(folder)/log facts;
                    server {
                        listen 127.0.0.1:\(port);
                        root \(site.path);
                        autoindex on;
                        autoindex_format \(kind == .nginx ? "html" : "json");
                    }
                }
                """
            )
        case .apachePlain, .apacheFancy, .apacheTable:
            let options =
                kind == .apachePlain
                ? "-FancyIndexing" : "+FancyIndexing" + (kind == .apacheTable ? " +HTMLTable" : "")
            let modules = ["mpm_event", "authz_core", "autoindex", "dir", "mime"]
            return (
                "apache2", ["-D", "FOREGROUND", "-f", file],
                """
                ServerRoot \(folder)
                DefaultRuntimeDir \(folder)
                PidFile pid
                Listen 127.0.0.1:\(port)
                ServerName localhost
                \(geteuid() == 0 ? "User nobody\nGroup nogroup" : "")
                \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
                TypesConfig /dev/null
                ErrorLog errors
                LogFormat "\\"%r\\"" facts
                CustomLog log facts
                DocumentRoot \(site.path)
                <Directory \(site.path)>
                    Options +Indexes
                    IndexOptions \(options)
                    Require all granted
                </Directory>

                """
            )
        case .lighttpd:
            return (
                "lighttpd", ["-D", "-f", file],
                """
                server.modules = ("mod_accesslog", "mod_dirlisting")
                server.document-root = "\(site.path)"
                server.bind = "127.0.0.1"
                server.port = \(port)
                server.upload-dirs = ("\(folder)")
                accesslog.filename = "\(folder)/log"
                accesslog.format = "\\"%r\\""
                dir-listing.activate = "enable"
                server.stat-cache-engine = "disable"
                mimetype.assign = ("" => "application/octet-stream")
                """
            )
        case .caddy:
            return (
                "caddy", ["run", "--adapter", "caddyfile", "--config", file],
                """
                {
                    admin off
                    auto_https off
                    storage file_system \(folder)/storage
                    log {
                        output discard
                    }
                }
                http://127.0.0.1:\(port) {
                    bind 127.0.0.1
                    root * \(site.path)
                    file_server browse
                    log {
                        output file \(folder)/log
                        format json
                    }
                }

                """
            )
        case .python:
            return (
                "python3", ["-u", "-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", site.path], ""
            )
        }
    }
}
