import Glibc

/// Other people's servers that list folders as pages, JSON or by WebDAV, over plain HTTP.
package enum IndexServerKind: String, CaseIterable, Sendable {
    case nginx, nginxJSON, apachePlain, apacheFancy, apacheTable, lighttpd, caddy, python, rclone
    case nginxDAV, apacheDAV, rcloneDAV

    package var isAvailable: Bool {
        switch self {
        case .nginx, .nginxJSON: ServerProcess.isInstalled("nginx")
        case .apachePlain, .apacheFancy, .apacheTable: FileSystem.exists("/usr/lib/apache2/modules/mod_autoindex.so")
        case .lighttpd, .caddy: ServerProcess.isInstalled(rawValue)
        case .python: ServerProcess.isInstalled("python3")
        case .nginxDAV: FileSystem.exists("/usr/lib/nginx/modules/ngx_http_dav_ext_module.so")
        case .apacheDAV: FileSystem.exists("/usr/lib/apache2/modules/mod_dav_fs.so")
        case .rclone, .rcloneDAV: ServerProcess.isInstalled("rclone")
        }
    }

    /// Whether its listing has exact sizes and times, so that an unchanged file needs no request.
    package var isExact: Bool { [.nginx, .nginxJSON, .caddy].contains(self) || isWebDAV }

    package var isWebDAV: Bool { [.nginxDAV, .apacheDAV, .rcloneDAV].contains(self) }

    /// Whether it answers PROPFIND with its page: then that is read.
    package var sendsPageAnyway: Bool { self == .caddy }

    /// Whether its log has a line for each request.
    package var logsRequests: Bool { self != .rclone }
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
            [.python, .rcloneDAV].contains(kind)
            ? printed : String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").compactMap { line in
            guard kind != .caddy else {
                guard let uri = line.firstRange(of: "\"uri\":\"") else { return nil }
                return "GET " + line[uri.upperBound...].prefix { $0 != "\"" }
            }
            if kind == .rcloneDAV {
                // `INFO  : /path: METHOD from ADDRESS`
                guard let start = line.firstRange(of: "INFO  : "), let end = line.firstRange(of: " from ") else {
                    return nil
                }
                let parts = line[start.upperBound..<end.lowerBound].split(separator: ": ")
                return parts.count == 2 ? "\(parts[1]) \(parts[0])" : nil
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
        case .nginx, .nginxJSON, .nginxDAV:
            let listing =
                kind == .nginxDAV
                ? "dav_ext_methods PROPFIND OPTIONS;"
                : "autoindex on; autoindex_format \(kind == .nginx ? "html" : "json");"
            return (
                "nginx", ["-e", "stderr", "-p", folder, "-c", file],
                """
                daemon off;
                \(kind == .nginxDAV ? "load_module /usr/lib/nginx/modules/ngx_http_dav_ext_module.so;" : "")
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
                        \(listing)
                    }
                }
                """
            )
        case .apachePlain, .apacheFancy, .apacheTable, .apacheDAV:
            let options =
                kind == .apachePlain
                ? "-FancyIndexing" : "+FancyIndexing" + (kind == .apacheTable ? " +HTMLTable" : "")
            let modules =
                ["mpm_event", "authz_core", "autoindex", "dir", "mime"] + (kind == .apacheDAV ? ["dav", "dav_fs"] : [])
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
                \(kind == .apacheDAV ? "DavLockDB \(folder)/locks" : "")
                <Directory \(site.path)>
                    Options +Indexes
                    IndexOptions \(options)
                    Require all granted
                    \(kind == .apacheDAV ? "Dav On" : "")
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
        case .rclone, .rcloneDAV:
            let options = ["--addr", "127.0.0.1:\(port)", "-v", "--dir-cache-time", "0s", "--config", "/dev/null"]
            return ("rclone", ["serve", kind == .rclone ? "http" : "webdav", site.path] + options, "")
        }
    }
}
