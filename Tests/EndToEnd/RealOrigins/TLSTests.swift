import PawlTestKit
import Testing

@Suite(
    .ownThreads,
    .enabled(if: ServerProcess.isInstalled("nginx") && ServerProcess.isInstalled("openssl"), "needs nginx and openssl"))
struct `TLS with nginx` {
    @Test func `an unknown authority is code 33, named in the error, and nothing is written`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, authority: TestAuthority())
        let run = try site.run(nginx.secureURL("/\(site.name)"))
        #expect(site.complaint(run, code: 33, saying: "certificate", "--cacert") == nil)
        #expect(nginx.finish().isEmpty)
    }

    @Test func `the right authority is accepted`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let nginx = try NginxServer(site.served, authority: authority)
        let run = try site.run("--cacert", authority.authority, nginx.secureURL("/\(site.name)"))
        #expect(site.complaint(run) == nil)
    }

    @Test func `another authority is not`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, authority: TestAuthority())
        let other = try TestAuthority()
        let run = try site.run("--cacert", other.authority, nginx.secureURL("/\(site.name)"))
        #expect(site.complaint(run, code: 33, saying: "certificate") == nil)
    }

    @Test(.enabled(if: ServerProcess.canCoverFiles, "needs to cover the system's authorities"))
    func `the system's authorities do not count beside a named one`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let nginx = try NginxServer(site.served, authority: authority)
        let system = try TemporaryFolder()
        let trusted = try #require(FileSystem.contents(authority.authority))
        try FileSystem.write(trusted, to: system.path("ca-certificates.crt"))
        let hashed = try PawlProcess.run("/usr/bin/openssl", ["rehash", system.path])
        #expect(hashed.exit == .code(0) && system.names.contains { $0.hasSuffix(".0") }, "\(hashed.errors)")
        let cover = "mount --make-rprivate / && mount --bind '\(system.path)' /etc/ssl/certs && exec \"$@\""
        let get = [PawlBinary.path, "get", "-d", site.downloads.path, nginx.secureURL("/\(site.name)")]
        func run(_ options: String...) throws -> PawlProcess {
            try PawlProcess.run("/usr/bin/unshare", ["-m", "/bin/sh", "-c", cover, "sh"] + get + options)
        }
        let other = try TestAuthority()
        let refused = try run("--cacert", other.authority)
        #expect(site.complaint(refused, code: 33, saying: "certificate") == nil)
        #expect(try site.complaint(run()) == nil)
    }

    @Test func `a certificate for another name is refused`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority(names: "DNS:elsewhere.example")
        let nginx = try NginxServer(site.served, authority: authority)
        let run = try site.run("--cacert", authority.authority, nginx.secureURL("/\(site.name)"))
        #expect(site.complaint(run, code: 33) == nil)
    }

    /// nginx responds to a request without TLS on its port for TLS with 400: a file that arrives came over TLS.
    @Test func `a host that sent HSTS, in this run or an earlier one, is contacted over TLS`() throws {
        let site = try RealOriginSite()
        try site.served.add("first.bin", Payload(seed: 7, length: 1000))
        let authority = try TestAuthority(names: "DNS:kept.localhost")
        let policy = "add_header Strict-Transport-Security 'max-age=1000';"
        let nginx = try NginxServer(site.served, locations: policy, authority: authority)
        let secure = "https://kept.localhost:\(nginx.securePort)/first.bin"
        let plain = "http://kept.localhost:\(nginx.securePort)/\(site.name)"
        func run(_ options: String..., state: TemporaryFolder) throws -> PawlProcess {
            try site.run(
                ["--cacert", authority.authority, "--retries", "0", "-x", "1"] + options,
                environment: ["XDG_STATE_HOME": state.path])
        }
        let state = try TemporaryFolder()
        let unknown = try run(plain, state: state)
        #expect(site.complaint(unknown, code: 22, saying: "400") == nil)
        let both = try run("-j", "1", secure, plain, state: state)
        #expect(both.exit == .code(0), "\(both.errors)")
        #expect(site.downloads.difference(site.name, from: site.content) == nil)

        let known = try TemporaryFolder()
        _ = try PawlProcess.run("/bin/mkdir", [known.path("pawl")])
        try FileSystem.write(Array("kept.localhost \"unlimited\"\n".utf8), to: known.path("pawl/hsts"))
        let later = try run("--if-exists", "overwrite", plain, state: known)
        #expect(later.exit == .code(0), "\(later.errors)")
        #expect(nginx.finish().map(\.status).sorted() == [200, 200, 200, 400])
    }

    @Test func `insecure accepts any certificate`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, authority: TestAuthority(names: "DNS:elsewhere.example"))
        let run = try site.run("-k", "-x", "4", nginx.secureURL("/\(site.name)"))
        #expect(site.complaint(run) == nil)
    }

    @Test(arguments: ["1", "4"]) func `a server that requests a client certificate gets it`(connections: String) throws
    {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let nginx = try NginxServer(
            site.served, locations: "ssl_client_certificate \(authority.authority); ssl_verify_client on;",
            authority: authority)
        let url = nginx.secureURL("/\(site.name)")
        let trust = ["--cacert", authority.authority]
        let unknown = try site.run(trust + [url])
        #expect(unknown.exit != .code(0))
        #expect(site.downloads.names.filter { !$0.hasPrefix(".") }.isEmpty)
        let known = ["--cert", authority.clientCertificate, "--key", authority.clientKey]
        let run = try site.run(["-x", connections, url] + trust + known)
        #expect(site.complaint(run) == nil)
    }

    @Test func `A4 killed in the middle over TLS, the next run continues`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let nginx = try NginxServer(site.served, locations: "limit_rate $http_x_slow;", authority: authority)
        let url = nginx.secureURL("/\(site.name)")
        let said = try #require(
            try site.runAndKillInTheMiddle("-x", "1", "-H", "X-Slow: 500k", "--cacert", authority.authority, url))
        let run = try site.run("-x", "1", "--json", "--cacert", authority.authority, url)
        #expect(site.complaint(run) == nil)
        #expect(try #require(run.resumedAt) >= said)
    }

    @Test func `segments of one file use separate connections`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let nginx = try NginxServer(site.served, locations: "limit_rate 2m;", authority: authority)
        let run = try site.run("-x", "4", "--cacert", authority.authority, nginx.secureURL("/\(site.name)"))
        #expect(site.complaint(run) == nil)
        #expect(Set(nginx.finish().map(\.connection)).count >= 4)
    }

    @Test func `a connection resumes the session of the one before it`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let block = "ssl_protocols TLSv1.2; keepalive_timeout 0;"
        let nginx = try NginxServer(site.served, locations: block, authority: authority)
        let urls = try (0..<3).map { index in
            try site.served.add("small-\(index).bin", Payload(seed: UInt64(index), length: 3000))
            return nginx.secureURL("/small-\(index).bin")
        }
        let list = site.downloads.path(".list")
        try FileSystem.write(Array(urls.joined(separator: "\n").utf8), to: list)
        let run = try site.run("-j", "1", "--cacert", authority.authority, "-i", list)
        #expect(run.exit == .code(0), "\(run.errors)")
        let requests = nginx.finish()
        #expect(Set(requests.map(\.connection)).count == 3)
        // Each loop has its own cache.
        #expect(requests.map(\.isResumed).first == false && requests.contains { $0.isResumed })
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/2.0"]) func `many small files reuse their connections`(
        version: String
    ) throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let nginx = try NginxServer(site.served, authority: authority)
        let files = try (0..<60).map { index in
            let file = (
                name: "small-\(index).bin", content: Payload(seed: UInt64(index) + 1, length: 2000 + Int64(index))
            )
            try site.served.add(file.name, file.content)
            return file
        }
        let list = site.downloads.path(".list")
        let lines = files.map { nginx.secureURL("/\($0.name)") }.joined(separator: "\n")
        try FileSystem.write(Array("# sixty\n\(lines)\n".utf8), to: list)
        let options = version == "HTTP/1.1" ? ["--http1.1"] : []
        let run = try site.run(options + ["-j", "10", "--cacert", authority.authority, "-i", list])
        #expect(run.exit == .code(0), "\(run.errors)")
        for file in files { #expect(site.downloads.difference(file.name, from: file.content) == nil) }
        #expect(site.downloads.names.count == files.count + 1)
        let requests = nginx.finish()
        #expect(requests.count == files.count)
        #expect(requests.allSatisfy { $0.version == version })
        // Each loop keeps its own, and a slot may move between loops; over HTTP/2 four, on at most four.
        let most = version == "HTTP/1.1" ? files.count / 2 : 16
        #expect(Set(requests.map(\.connection)).count <= most)
    }
}
