import Glibc

/// A request in a server's log; what the server does not log is empty.
package struct ServedRequest: Hashable, Sendable {
    package var version = ""
    package var status = ""
    package var range = ""
    /// Equal for requests of one connection.
    package var connection = ""
    package var path = ""

    package init() {}

    /// `version|status|range|connection|path`.
    init?(line: Substring) {
        let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 5, !fields[0].isEmpty else { return nil }
        (version, status, range, connection, path) = (fields[0], fields[1], fields[2], fields[3], fields[4])
    }
}

/// A server with HTTP/2 over TLS, started for one test.
package protocol HTTP2Server: Sendable {
    func secureURL(_ path: String) -> String
    /// Replaces its processes: the old ones finish what they have begun, and say GOAWAY.
    func reload() throws(SetupFailure)
    /// Stops the server, so that its log is complete, and reads it.
    func stop() -> [ServedRequest]
}

/// Other people's servers that have HTTP/2.
///
/// `/NAME` is a file of the site, and `/moved/NAME` leads there with 301, except at nghttpd. With a login it is also `/basic/NAME`
/// and `/digest/NAME` (``logins``); at nginx, alone or behind HAProxy, `/unsized/NAME` without a length and `/long/NAME` with a
/// head of 100 KiB.
package enum HTTP2ServerKind: String, CaseIterable, Sendable {
    case nginx, apache, nghttpd, h2o, haproxy, caddy

    package static let (user, password) = ("pawl", "s3cret")

    package var isAvailable: Bool {
        switch self {
        case .nginx, .nghttpd, .h2o, .caddy: ServerProcess.isInstalled(rawValue)
        case .apache: FileSystem.exists("/usr/lib/apache2/modules/mod_http2.so")
        case .haproxy: ServerProcess.isInstalled("haproxy") && ServerProcess.isInstalled("nginx")
        }
    }

    /// The schemes of login.
    package var logins: [String] {
        switch self {
        case .nginx, .haproxy, .caddy: ["basic"]
        case .apache: ["basic", "digest"]
        case .nghttpd, .h2o: []
        }
    }

    /// Starts it; `streams` limits how many requests a connection may have at once, where that can be set.
    package func start(
        _ site: ServedFolder, _ authority: TestAuthority, streams: Int? = nil, extra: String = ""
    ) throws(SetupFailure) -> any HTTP2Server {
        switch self {
        case .nginx:
            let limit = streams.map { "http2_max_concurrent_streams \($0);" } ?? ""
            let nginx = try NginxServer(
                site, locations: Self.nginxLocations + limit + extra, authority: authority)
            try nginx.allow(user: Self.user, password: Self.password)
            return nginx
        case .apache: return try ConfiguredServer.apache(site, authority, streams, extra)
        case .nghttpd: return try ConfiguredServer.nghttpd(site, authority, streams, extra)
        case .h2o: return try ConfiguredServer.h2o(site, authority, streams)
        case .haproxy: return try ConfiguredServer.haproxy(site, authority, streams)
        case .caddy: return try ConfiguredServer.caddy(site, authority)
        }
    }

    static let nginxLocations: String = {
        let long = (0..<25).map { "add_header X-Long-\($0) \(String(repeating: "x", count: 4000));" }.joined()
        return """
            absolute_redirect off;
            rewrite ^/moved/(.*) /$1 permanent;
            location /basic/ { alias $site/; auth_basic "pawl"; auth_basic_user_file users; }
            location /unsized/ { alias $site/; ssi on; ssi_types *; }
            location /long/ { alias $site/; \(long) }

            """
    }()
}

extension NginxServer: HTTP2Server {
    package func stop() -> [ServedRequest] {
        finish().map { request in
            var served = ServedRequest()
            (served.version, served.status) = (request.version, String(request.status))
            (served.range, served.connection, served.path) = (request.range, String(request.connection), request.path)
            return served
        }
    }
}

/// A server that a configuration in a folder of its own describes.
final class ConfiguredServer: HTTP2Server {
    /// What makes up the server; paths are relative to its folder.
    struct Setup: Sendable {
        var program: String
        var arguments: [String]
        var files: [String: String] = [:]
        var environment: [String: String] = [:]
        /// Where it writes the number of its process, and the signal for `reload`.
        var reloading: (file: String, signal: Int32)?
        /// The signal upon which it still logs what it has begun, where SIGTERM loses that; to the process as in `reloading`.
        var finishing: Int32?
        /// What it serves, if it is a proxy.
        var behind: NginxServer?
        /// Reads the log: the file `log`, or what the server has printed.
        var read: @Sendable (_ log: String, _ output: String) -> [ServedRequest] = { log, _ in
            log.split(separator: "\n").compactMap { ServedRequest(line: $0) }
        }
    }

    private let folder: TemporaryFolder
    private let port: UInt16
    private let server: Released<ServerProcess>
    private let setup: Setup

    init(_ configure: (_ folder: String, _ port: UInt16) throws(SetupFailure) -> Setup) throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        // Some servers read their files as another user.
        unsafe chmod(folder.path, 0o755)
        setup = try configure(folder.path, port)
        for (name, text) in setup.files { try FileSystem.write(Array(text.utf8), to: folder.path(name)) }
        server = Released(
            try ServerProcess(
                setup.program, setup.arguments, in: folder, ports: [port], environment: setup.environment))
    }

    func secureURL(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    func reload() throws(SetupFailure) {
        guard let reloading = setup.reloading else { throw SetupFailure("reloading it", ENOTSUP) }
        try ServerProcess.send(reloading.signal, toProcessIn: folder.path(reloading.file))
    }

    func stop() -> [ServedRequest] {
        let process = server.current?.process
        if let signal = setup.finishing, let reloading = setup.reloading,
            (try? ServerProcess.send(signal, toProcessIn: folder.path(reloading.file))) != nil
        {
            process?.wait()
        }
        server.release()
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        return setup.read(log, process.map { $0.output + $0.errors } ?? "")
    }
}
