import PawlBase
import PawlTestKit
import Testing

@Suite(.ownThreads, .enabled(if: SSHServer.isAvailable, "needs root, mount namespaces and OpenSSH")) struct `OpenSSH` {
    private func url(_ server: SSHServer, _ site: RealOriginSite) -> String {
        server.url("\(site.served.path)/\(site.name)")
    }

    private func login(_ server: SSHServer) -> String { "\(server.user):\(server.password)" }

    /// A run that knows the server's key and logs in.
    private func run(_ site: RealOriginSite, _ server: SSHServer, _ arguments: String...) throws -> PawlProcess {
        try site.run(["--user", login(server)] + arguments, environment: ["HOME": server.knowing])
    }

    @Test func `the whole file arrives`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let run = try run(site, server, url(server, site))
        #expect(site.complaint(run) == nil)
    }

    @Test func `a key in the user's own folder authenticates`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let run = try site.run("--user", "\(server.user):", url(server, site), environment: ["HOME": server.withKey])
        #expect(site.complaint(run) == nil)
    }

    @Test func `A4 killed in the middle, the next run continues`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let home = ["HOME": server.knowing]
        let said = try #require(
            try site.runAndKillInTheMiddle(
                "--user", login(server), "--limit-rate", "1M", url(server, site), environment: home))
        let run = try site.run("--json", "--user", login(server), url(server, site), environment: home)
        #expect(site.complaint(run) == nil)
        #expect(try #require(run.resumedAt) >= said)
        #expect(try #require(run.received) <= site.content.length - said + 256 * 1024)
    }

    @Test func `C6 a file that became shorter than the partial starts over`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let arguments = ["--user", login(server), url(server, site)]
        let home = ["HOME": server.knowing]
        _ = try #require(
            try site.runAndKillInTheMiddle(
                "--limit-rate", "1M", arguments[0], arguments[1], arguments[2], environment: home))
        let shorter = try site.shorten()
        let run = try site.run(arguments, environment: home)
        #expect(run.exit == .code(0), "\(run.errors)")
        #expect(site.downloads.difference(site.name, from: shorter) == nil)
    }

    @Test func `a part that ends behind the file ends with it`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let run = try run(site, server, "--range", "6000000-9999999", url(server, site))
        #expect(run.exit == .code(0), "\(run.errors)")
        let rest = site.content.bytes(in: ByteRange(6_000_000, site.content.length))
        #expect(FileSystem.contents(site.downloads.path(site.name)) == rest)
    }

    @Test(arguments: ["6-", "6-9"])
    func `nothing is published as a part of a file whose length the server does not know`(range: String) throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        // Its length is reported as 0, and libcurl then sends it from its beginning.
        let run = try run(site, server, "--range", range, "--retries", "0", server.url("/proc/version"))
        #expect(site.complaint(run, code: 22, saying: "length") == nil)
    }

    @Test func `a missing file is code 3`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let run = try run(site, server, server.url("\(site.served.path)/nothing.bin"))
        #expect(site.complaint(run, code: 3, saying: "nothing.bin") == nil)
    }

    @Test func `the path of a folder is code 3, and says so`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let run = try run(site, server, server.url(site.served.path))
        #expect(site.complaint(run, code: 3, saying: "names a folder") == nil)
    }

    @Test func `a wrong password is code 24`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let run = try site.run(
            "--user", "\(server.user):wrong-one", url(server, site), environment: ["HOME": server.knowing])
        #expect(site.complaint(run, code: 24) == nil)
        #expect(!run.errors.contains("wrong-one"))
    }

    @Test func `an unknown host key is code 33 unless the user disables the check`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let home = ["HOME": server.unknownHost]
        let careful = try site.run("--user", login(server), url(server, site), environment: home)
        #expect(site.complaint(careful, code: 33, saying: "known_hosts") == nil)
        let careless = try site.run("-k", "--user", login(server), url(server, site), environment: home)
        #expect(site.complaint(careless) == nil)
    }

    @Test func `another host key than the known one is code 33`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let run = try site.run("--user", login(server), url(server, site), environment: ["HOME": server.mistaken])
        #expect(site.complaint(run, code: 33, saying: "key") == nil)
    }
}
