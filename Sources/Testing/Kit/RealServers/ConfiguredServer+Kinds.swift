import Glibc

extension ConfiguredServer {
    /// Apache with mod_http2.
    static func apache(
        _ site: ServedFolder, _ authority: TestAuthority, _ streams: Int?, _ extra: String
    ) throws(SetupFailure) -> ConfiguredServer {
        let (user, password) = (HTTP2ServerKind.user, HTTP2ServerKind.password)
        let modules = [
            "mpm_event", "authn_core", "authz_core", "authz_user", "authn_file", "auth_basic", "auth_digest", "alias",
            "ssl", "http2",
        ]
        let hash = try PawlProcess.run("/usr/bin/openssl", ["passwd", "-apr1", password]).output
        return try ConfiguredServer { folder, port in
            let configuration = """
                ServerRoot \(folder)
                DefaultRuntimeDir \(folder)
                PidFile pid
                Listen 127.0.0.1:\(port)
                ServerName localhost
                \(geteuid() == 0 ? "User nobody\nGroup nogroup" : "")
                \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
                ErrorLog errors
                LogFormat "%H|%>s|%{Range}i|%{remote}p|%U" facts
                CustomLog log facts
                Protocols h2 http/1.1
                \(streams.map { "H2MaxSessionStreams \($0)" } ?? "")
                SSLEngine on
                SSLCertificateFile \(authority.certificate)
                SSLCertificateKeyFile \(authority.key)
                DocumentRoot \(site.path)
                <Directory \(site.path)>
                    Require all granted
                </Directory>
                Redirect 301 /moved/ /
                Alias /basic/ \(site.path)/
                Alias /digest/ \(site.path)/
                <Location /basic/>
                    AuthType Basic
                    AuthName pawl
                    AuthUserFile users
                    Require valid-user
                </Location>
                <Location /digest/>
                    AuthType Digest
                    AuthName pawl
                    AuthUserFile digests
                    Require valid-user
                </Location>
                \(extra)

                """
            let digest = MessageDigest5.hex("\(user):pawl:\(password)")
            return Setup(
                program: "apache2", arguments: ["-D", "FOREGROUND", "-f", "\(folder)/configuration"],
                files: [
                    "configuration": configuration, "users": "\(user):\(hash)", "digests": "\(user):pawl:\(digest)\n",
                ], reloading: ("pid", SIGUSR1))
        }
    }

    /// nghttpd, the server of nghttp2's tools: without ranges, and the log is what it prints about frames.
    static func nghttpd(
        _ site: ServedFolder, _ authority: TestAuthority, _ streams: Int?, _ extra: String
    ) throws(SetupFailure) -> ConfiguredServer {
        try ConfiguredServer { _, port in
            let limit = streams.map { ["-m", "\($0)"] } ?? []
            let options =
                ["-v", "-a", "127.0.0.1", "-d", site.path] + limit + extra.split(separator: " ").map(String.init)
            return Setup(
                program: "nghttpd", arguments: options + ["\(port)", authority.key, authority.certificate],
                read: { _, output in
                    output.split(separator: "\n").compactMap { line in
                        guard line.hasPrefix("[id="), let path = line.firstRange(of: ") :path: ") else { return nil }
                        var request = ServedRequest()
                        request.connection = String(line.prefix { $0 != "]" })
                        request.path = String(line[path.upperBound...])
                        return request
                    }
                })
        }
    }

    static func h2o(
        _ site: ServedFolder, _ authority: TestAuthority, _ streams: Int?
    ) throws(SetupFailure) -> ConfiguredServer {
        try ConfiguredServer { folder, port in
            let configuration = """
                listen:
                  host: 127.0.0.1
                  port: \(port)
                  ssl:
                    certificate-file: \(authority.certificate)
                    key-file: \(authority.key)
                    ocsp-update-interval: 0
                \(geteuid() == 0 ? "user: root" : "")
                num-threads: 2
                \(streams.map { "http2-max-concurrent-requests-per-connection: \($0)" } ?? "")
                access-log:
                  path: \(folder)/log
                  format: "%H|%s|%{range}i|%{connection-id}x|%U"
                hosts:
                  default:
                    paths:
                      /:
                        file.dir: \(site.path)
                      /moved/:
                        redirect:
                          status: 301
                          url: /

                """
            return Setup(
                program: "h2o", arguments: ["-c", "\(folder)/configuration"], files: ["configuration": configuration])
        }
    }

    /// HAProxy before nginx, which it reaches over HTTP/1.1.
    static func haproxy(
        _ site: ServedFolder, _ authority: TestAuthority, _ streams: Int?
    ) throws(SetupFailure) -> ConfiguredServer {
        let behind = try NginxServer(site, locations: HTTP2ServerKind.nginxLocations)
        try behind.allow(user: HTTP2ServerKind.user, password: HTTP2ServerKind.password)
        return try ConfiguredServer { folder, port in
            let configuration = """
                global
                    log stdout format raw daemon
                    \(streams.map { "tune.h2.max-concurrent-streams \($0)" } ?? "")
                defaults
                    mode http
                    log global
                    timeout connect 60s
                    timeout client 60s
                    timeout server 60s
                frontend secure
                    bind 127.0.0.1:\(port) ssl crt \(folder)/both.pem alpn h2,http/1.1
                    http-request capture req.hdr(Range) len 40
                    http-request capture path len 200
                    log-format "%HV|%ST|%[capture.req.hdr(0)]|%cp|%[capture.req.hdr(1)]"
                    default_backend site
                backend site
                    server nginx 127.0.0.1:\(behind.port)

                """
            let pem = [authority.certificate, authority.key].flatMap { FileSystem.contents($0) ?? [] }
            return Setup(
                program: "haproxy", arguments: ["-W", "-db", "-p", "\(folder)/pid", "-f", "\(folder)/configuration"],
                files: ["configuration": configuration, "both.pem": String(decoding: pem, as: UTF8.self)],
                reloading: ("pid", SIGUSR2), finishing: SIGUSR1, behind: behind,
                read: { _, output in output.split(separator: "\n").compactMap { ServedRequest(line: $0) } })
        }
    }

    static func caddy(_ site: ServedFolder, _ authority: TestAuthority) throws(SetupFailure) -> ConfiguredServer {
        let hashing = try PawlProcess.run("/usr/bin/caddy", ["hash-password", "--plaintext", HTTP2ServerKind.password])
        return try ConfiguredServer { folder, port in
            let configuration = """
                {
                    admin off
                    auto_https off
                    storage file_system \(folder)/storage
                    log {
                        output discard
                    }
                }
                https://127.0.0.1:\(port) {
                    bind 127.0.0.1
                    tls \(authority.certificate) \(authority.key)
                    root * \(site.path)
                    file_server
                    @moved path_regexp moved ^/moved/(.*)
                    redir @moved /{re.moved.1} 301
                    handle_path /basic/* {
                        basicauth {
                            \(HTTP2ServerKind.user) \(hashing.output)
                        }
                        file_server
                    }
                    log {
                        output file \(folder)/log
                        format json
                    }
                }

                """
            return Setup(
                program: "caddy", arguments: ["run", "--config", "\(folder)/Caddyfile"],
                files: ["Caddyfile": configuration], environment: ["HOME": folder],
                read: { log, _ in log.split(separator: "\n").map(Self.caddyRequest) })
        }
    }

    private static func caddyRequest(_ line: Substring) -> ServedRequest {
        func value(_ name: String) -> String {
            guard let start = line.firstRange(of: "\"\(name)\":") else { return "" }
            return String(line[start.upperBound...].drop { "[\"".contains($0) }.prefix { !"\",]}".contains($0) })
        }
        var request = ServedRequest()
        (request.version, request.status, request.range) = (value("proto"), value("status"), value("Range"))
        (request.connection, request.path) = (value("remote_port"), value("uri"))
        return request
    }
}
