import Glibc
import PawlBase
import PawlTestKit
import Testing

/// `pawl get` with several files over HTTP/2.
@Suite(.ownThreads, .enabled(if: ServerProcess.isInstalled("openssl"), "needs openssl"))
struct `HTTP2 with real servers` {
    @Test(arguments: HTTP2ServerKind.allCases) func `many small files share a connection`(kind: HTTP2ServerKind) throws
    {
        let bench = try HTTP2Bench(kind, files: 200, length: 3000)
        let run = try bench.run("-j", "32")
        #expect(bench.complaint(run) == nil)
        bench.expectFewConnections(bench.server.stop())
    }

    @Test(arguments: HTTP2ServerKind.allCases) func `fewer streams than files at once are no reason to fail`(
        kind: HTTP2ServerKind
    ) throws {
        if kind == .caddy { try Test.cancel("Caddy has no option for it") }
        let bench = try HTTP2Bench(kind, files: 100, length: 20_000, streams: 3)
        let run = try bench.run("-j", "32", "--retries", "0")
        #expect(bench.complaint(run) == nil)
    }

    @Test(.enabled(if: HTTP2ServerKind.nghttpd.isAvailable, "needs nghttpd"))
    func `a server that has nothing else gives a single file too, unless only HTTP/1.1 is allowed`() throws {
        let bench = try HTTP2Bench(.nghttpd, files: 1, length: 5_000_000)
        let refused = try bench.run("--http1.1", "--retries", "0")
        #expect(refused.exit != .code(0) && refused.errors.contains("without a response"), "\(refused.errors)")
        #expect(bench.complaint(try bench.run()) == nil)
    }

    /// Servers that end a connection without HTTP/2 in other ways than nghttpd.
    @Test(
        .enabled(if: HTTP2ServerKind.nghttpd.isAvailable, "needs nghttpd"),
        arguments: [
            "closes in the handshake", "resets in the handshake", "resets after the handshake", "sends SETTINGS",
        ])
    func `a server that has nothing else gives a single file however it says so`(way: String) throws {
        let authority = try TestAuthority()
        let bench = try HTTP2Bench(.nghttpd, files: 1, length: 300_000, authority: authority)
        let front = try PawlProcess(
            "/usr/bin/python3",
            ["-c", Self.front, way, bench.server.secureURL(""), authority.certificate, authority.key],
            folder: bench.site.downloads.path)
        defer {
            front.send(SIGKILL)
            front.wait()
        }
        let port = try #require(front.line(in: .out, where: { !$0.isEmpty }))
        let run = try bench.site.run(
            "--cacert", authority.authority, "--retries", "0", "https://127.0.0.1:\(port)/file-0")
        #expect(bench.complaint(run) == nil)
        let refused = try bench.site.run(
            "--cacert", authority.authority, "--retries", "0", "--http1.1", "https://127.0.0.1:\(port)/file-0")
        #expect(refused.exit != .code(0))
        if way == "sends SETTINGS" { #expect(refused.errors.contains("HTTP/2 only"), "\(refused.errors)") }
    }

    /// Leads connections that offer HTTP/2 to a server, and ends others in some way.
    private static let front = """
        import socket,ssl,struct,sys,threading
        way,url,certificate,key=sys.argv[1:5]; port=int(url.split(':')[2].strip('/'))
        context=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain(certificate,key)
        def copy(a,b):
            try:
                while data:=a.recv(65536): b.sendall(data)
            except OSError: pass
            for s in a,b:
                try: s.shutdown(socket.SHUT_RDWR)
                except OSError: pass
        def reset(s): s.setsockopt(socket.SOL_SOCKET,socket.SO_LINGER,struct.pack('ii',1,0)); s.close()
        def serve(c):
            hello=c.recv(65536,socket.MSG_PEEK)
            if b'\\x02h2' in hello:
                s=socket.create_connection(('127.0.0.1',port))
                threading.Thread(target=copy,args=(s,c),daemon=True).start(); copy(c,s); return
            if way.startswith('closes in'): c.recv(65536); c.close(); return
            if way.startswith('resets in'): reset(c); return
            t=context.wrap_socket(c,server_side=True)
            if way.startswith('resets after'): t.recv(65536); reset(t); return
            t.sendall(b'\\0\\0\\6\\4\\0\\0\\0\\0\\0\\0\\3\\0\\0\\0\\x64'); t.recv(65536); t.close()
        def safe(c):
            try: serve(c)
            except OSError: pass
        s=socket.create_server(('127.0.0.1',0)); print(s.getsockname()[1],flush=True)
        while True:
            c,_=s.accept(); threading.Thread(target=safe,args=(c,),daemon=True).start()
        """

    /// nghttpd ignores Range.
    @Test(arguments: HTTP2ServerKind.allCases.filter { $0 != .nghttpd })
    func `A4 killed in the middle, the next run continues`(
        kind: HTTP2ServerKind
    ) throws {
        let bench = try HTTP2Bench(kind, files: 3, length: 3_000_001)
        let process = try bench.start("-x", "1", "--json", "--limit-rate", "2M")
        let progress = process.line { line in
            line.contains("\"event\":\"progress\"") && (RealOriginSite.number("written", in: line) ?? 0) > 0
        }
        process.send(SIGKILL)
        #expect(process.wait() == .signal(SIGKILL))
        try #require(progress != nil)
        let run = try bench.run("-x", "1")
        #expect(bench.complaint(run) == nil)
        let requests = bench.server.stop()
        #expect(requests.contains { $0.status == "206" && $0.range.hasPrefix("bytes=") })
    }

    @Test(arguments: HTTP2ServerKind.allCases) func `redirects are followed, and a missing file hinders no other`(
        kind: HTTP2ServerKind
    ) throws {
        let bench = try HTTP2Bench(kind, files: 10, length: 5000)
        // nghttpd redirects nothing.
        let prefix = kind == .nghttpd ? "/" : "/moved/"
        let run = try bench.run(prefix: prefix, urls: ["/none.bin"])
        #expect(run.exit == .code(3) && run.errors.contains("404"), "\(run.errors)")
        #expect(bench.difference == nil)
        bench.expectFewConnections(bench.server.stop())
    }

    @Test(arguments: HTTP2ServerKind.allCases) func `empty files and ranges`(kind: HTTP2ServerKind) throws {
        let bench = try HTTP2Bench(kind, files: 3, length: 0)
        #expect(bench.complaint(try bench.run()) == nil)
        if kind == .nghttpd { return }
        let content = Payload(seed: 77, length: 10_000)
        for name in ["a", "b", "c"] { try bench.site.served.add(name, content) }
        let urls = ["/a", "/b", "/c"]
        let run = try bench.run(prefix: nil, urls: urls, "--range", "100-199")
        #expect(run.exit == .code(0), "\(run.errors)")
        for name in ["a", "b", "c"] {
            let part = FileSystem.contents(bench.site.downloads.path(name))
            #expect(part == content.bytes(in: ByteRange(100, 200)))
        }
        let beyond = try bench.run(prefix: nil, urls: urls, "--range", "20000-", "--if-exists", "overwrite")
        #expect(beyond.exit == .code(22) && beyond.errors.contains("416"), "\(beyond.errors)")
        #expect(bench.server.stop().contains { $0.status == "416" })
    }

    @Test(arguments: HTTP2ServerKind.allCases) func `a login`(kind: HTTP2ServerKind) throws {
        if kind.logins.isEmpty { try Test.cancel("\(kind) has no logins") }
        for scheme in kind.logins {
            let bench = try HTTP2Bench(kind, files: 10, length: 5000)
            let login = "\(HTTP2ServerKind.user):\(HTTP2ServerKind.password)"
            let wrong = try bench.run(prefix: "/\(scheme)/", "--user", "pawl:wrong")
            #expect(wrong.exit == .code(24) && wrong.errors.contains("401"), "\(wrong.errors)")
            let run = try bench.run(prefix: "/\(scheme)/", "--user", login)
            #expect(bench.complaint(run) == nil)
            bench.expectFewConnections(bench.server.stop(), runs: 2)
        }
    }

    @Test(arguments: [HTTP2ServerKind.nginx, .nghttpd, .haproxy])
    func `without a length the stream's end counts`(
        kind: HTTP2ServerKind
    ) throws {
        let bench = try HTTP2Bench(
            kind, files: 10, length: 300_000, extra: kind == .nghttpd ? "--no-content-length" : "")
        let run = try bench.run(prefix: kind == .nghttpd ? "/" : "/unsized/", "--json", "-x", "1")
        #expect(bench.complaint(run) == nil)
        let started = run.lines.filter { $0.contains("\"event\":\"started\"") }
        #expect(started.count == 10 && started.allSatisfy { $0.contains("\"total\":null") }, "\(started)")
        bench.expectFewConnections(bench.server.stop())
    }

    @Test(arguments: [HTTP2ServerKind.nginx, .apache, .haproxy])
    func `a server that is reloaded in the middle costs no file`(kind: HTTP2ServerKind) throws {
        let bench = try HTTP2Bench(kind, files: 150, length: 40_000)
        // Apache may close a connection that it has just accepted.
        let retries = kind == .apache ? "3" : "0"
        let process = try bench.start("-j", "8", "--retries", retries, "--json", "--limit-rate", "4M")
        for count in [20, 60] {
            let isThere = process.hasShown { $0.ranges(of: "\"event\":\"finished\"").count >= count }
            try #require(isThere, "\(process.errors)")
            try bench.server.reload()
        }
        process.wait()
        #expect(bench.complaint(process) == nil)
        let requests = bench.server.stop()
        #expect(Set(requests.map(\.connection)).count > 1)
    }
}

/// What only nginx can be made to do.
@Suite(
    .ownThreads,
    .enabled(if: ServerProcess.isInstalled("openssl") && HTTP2ServerKind.nginx.isAvailable, "needs nginx and openssl"))
struct `HTTP2 with nginx` {
    @Test func `a head of 100 KiB is read`() throws {
        let bench = try HTTP2Bench(.nginx, files: 5, length: 5000)
        let run = try bench.run(prefix: "/long/")
        #expect(bench.complaint(run) == nil)
        bench.expectFewConnections(bench.server.stop())
    }

    @Test func `a connection that is closed after three requests is followed by another`() throws {
        let bench = try HTTP2Bench(.nginx, files: 60, length: 5000, extra: "keepalive_requests 3;")
        let run = try bench.run("-j", "16", "--retries", "0")
        #expect(bench.complaint(run) == nil)
        let requests = bench.server.stop()
        #expect(Set(requests.map(\.connection)).count >= 15)
        #expect(requests.filter { $0.status == "200" }.count == 60)
    }

    /// Each file takes longer than the timeout, in which nothing is heard of a request that was not sent.
    @Test func `a file for which both connections are full does not wait until its timeout`() throws {
        let bench = try HTTP2Bench(.nginx, files: 12, length: 120_000, streams: 1, extra: "limit_rate 20k;")
        let run = try bench.run("-j", "12", "-x", "1", "--timeout", "4", "--retries", "0")
        #expect(bench.complaint(run) == nil)
        let versions = Set(bench.server.stop().map(\.version))
        #expect(versions == ["HTTP/1.1", "HTTP/2.0"])
    }

    /// One file is not there yet: the connection is idle until it is requested again, and was closed meanwhile.
    @Test func `a connection that the server closed because it was idle is replaced`() throws {
        let extra = """
            keepalive_timeout 1s;
            location = /file-0 { if (-f $site/absent) { return 503; } }
            add_header Retry-After 2 always;
            """
        let bench = try HTTP2Bench(.nginx, files: 3, length: 5000, extra: extra)
        let flag = bench.site.served.path + "/absent"
        try FileSystem.write([], to: flag)
        let process = try bench.start("-v", "--retries", "20")
        let isRefused = process.line(in: .err) { $0.hasPrefix("<") && $0.contains("503") } != nil
        unsafe unlink(flag)
        process.wait()
        try #require(isRefused, "\(process.errors)")
        #expect(bench.complaint(process) == nil)
        let requests = bench.server.stop()
        let early = requests.filter { $0.status == "503" }.map(\.connection)
        let late = try #require(requests.last { $0.path == "/file-0" })
        #expect(late.status == "200" && late.version == "HTTP/2.0" && !early.contains(late.connection))
    }

    @Test func `a client certificate is sent, and its absence is said`() throws {
        let authority = try TestAuthority()
        let extra = "ssl_client_certificate \(authority.authority); ssl_verify_client on;"
        let bench = try HTTP2Bench(.nginx, files: 10, length: 5000, extra: extra, authority: authority)
        let unknown = try bench.run("--retries", "0")
        #expect(unknown.exit != .code(0))
        #expect(bench.site.downloads.names.filter { !$0.hasPrefix(".") }.isEmpty)
        let run = try bench.run("--cert", authority.clientCertificate, "--key", authority.clientKey)
        #expect(bench.complaint(run) == nil)
        bench.expectFewConnections(bench.server.stop().filter { $0.status == "200" })
    }

    @Test func `a large file has connections of its own beside small ones`() throws {
        let bench = try HTTP2Bench(.nginx, files: 60, length: 5000, extra: "limit_rate 4m;")
        let large = Payload(seed: 99, length: 24_000_000)
        try bench.site.served.add("large", large)
        let run = try bench.run(urls: ["/large"], "-j", "16", "-x", "4")
        #expect(bench.site.downloads.difference("large", from: large) == nil)
        unsafe unlink(bench.site.downloads.path("large"))
        #expect(bench.complaint(run) == nil)
        let requests = bench.server.stop()
        #expect(Set(requests.filter { $0.version == "HTTP/1.1" }.map(\.connection)).count >= 3)
        #expect(requests.filter { $0.path != "/large" }.allSatisfy { $0.version == "HTTP/2.0" })
    }
}

/// One server with files `file-0`, `file-1`…, and a folder to download into.
private struct HTTP2Bench {
    let site: RealOriginSite
    let server: any HTTP2Server
    private let authority: TestAuthority
    private let files: [(name: String, content: Payload)]

    /// Cancels the test where the server is not installed.
    init(
        _ kind: HTTP2ServerKind, files count: Int, length: Int64, streams: Int? = nil, extra: String = "",
        authority: TestAuthority? = nil
    ) throws {
        guard kind.isAvailable else { try Test.cancel("needs \(kind)") }
        site = try RealOriginSite()
        self.authority = try authority ?? TestAuthority()
        files = (0..<count).map { ("file-\($0)", Payload(seed: UInt64($0) + 1, length: length)) }
        for file in files { try site.served.add(file.name, file.content) }
        server = try kind.start(site.served, self.authority, streams: streams, extra: extra)
    }

    /// Starts `pawl get` for all files below `prefix`, unless it is `nil`, and for further paths.
    func start(_ options: [String], prefix: String? = "/", urls: [String] = []) throws -> PawlProcess {
        let paths = urls + (prefix.map { prefix in files.map { prefix + $0.name } } ?? [])
        let list = site.downloads.path(".list")
        try FileSystem.write(Array(paths.map(server.secureURL).joined(separator: "\n").utf8), to: list)
        return try site.start(["--cacert", authority.authority, "-i", list] + options)
    }

    func start(_ options: String...) throws -> PawlProcess { try start(options) }

    func run(prefix: String? = "/", urls: [String] = [], _ options: String...) throws -> PawlProcess {
        let process = try start(options, prefix: prefix, urls: urls)
        process.wait()
        return process
    }

    /// The first file that is not as it was served.
    var difference: String? { files.lazy.compactMap { site.downloads.difference($0.name, from: $0.content) }.first }

    /// What is wrong with a run that was to download all files and nothing else.
    func complaint(_ run: PawlProcess) -> String? {
        guard run.exit == .code(0) else { return "exit \(String(describing: run.exit)): \(run.errors)" }
        if let difference { return difference }
        let names = Set(site.downloads.names.filter { !$0.hasPrefix(".") })
        return names == Set(files.map(\.name)) ? nil : "in the folder: \(names.sorted())"
    }

    /// All requests were sent over HTTP/2, on a connection for each thread.
    func expectFewConnections(_ requests: [ServedRequest], runs: Int = 1) {
        let connections = Set(requests.map(\.connection))
        #expect(
            !connections.isEmpty && connections.count <= 16 * runs, "\(connections.count) connections")
        let versions = Set(requests.map(\.version))
        #expect(versions.isSubset(of: ["HTTP/2.0", "HTTP/2", ""]), "\(versions)")
        #expect(requests.count >= files.count)
    }
}
