import PawlBase
import PawlTestKit
import Testing

@Suite(.ownThreads, .enabled(if: ServerProcess.isInstalled("nginx"), "needs nginx")) struct `nginx` {
    /// As slow as the request's field sets it, so that a run is killed in the middle and the next one is quick.
    private static let slow = "limit_rate $http_x_slow;"

    @Test func `A5 the whole file arrives with the server's time and nothing beside it`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let run = try site.run("-x", "1", nginx.url("/\(site.name)"))
        #expect(site.complaint(run) == nil)
        let requests = nginx.finish()
        #expect(requests.map(\.status) == [200])
        #expect(requests.first?.bodySent == site.content.length)
    }

    @Test func `A4 killed in the middle, the next run fetches only the rest`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, locations: Self.slow)
        let url = nginx.url("/\(site.name)")
        let said = try #require(try site.runAndKillInTheMiddle("-x", "1", "-H", "X-Slow: 500k", url))
        #expect(site.downloads.names == ["\(site.name).part", "\(site.name).pawl"])
        let run = try site.run("-x", "1", "--json", url)
        #expect(site.complaint(run) == nil)
        let resumedAt = try #require(run.resumedAt)
        #expect(resumedAt >= said)
        let last = try #require(nginx.finish().first { $0.range != "-" })
        #expect(last.status == 206)
        #expect(last.bodySent <= site.content.length - said)
    }

    @Test func `G3 four connections fetch one file and every byte is in place`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, locations: "location /slow/ { alias $site/; limit_rate 2m; }")
        let run = try site.run("-x", "4", nginx.url("/slow/\(site.name)"))
        #expect(site.complaint(run) == nil)
        let requests = nginx.finish()
        #expect(Set(requests.map(\.connection)).count >= 4)
        #expect(requests.filter { $0.status == 206 }.count >= 3)
        #expect(requests.allSatisfy { $0.version == "HTTP/1.1" })
    }

    @Test func `A4 killed with four connections, the next run keeps what each of them wrote`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, locations: Self.slow)
        let url = nginx.url("/\(site.name)")
        let said = try #require(try site.runAndKillInTheMiddle("-x", "4", "-H", "X-Slow: 300k", url))
        let run = try site.run("-x", "4", "--json", url)
        #expect(site.complaint(run) == nil)
        #expect(try #require(run.resumedAt) >= said)
        #expect(try #require(run.received) <= site.content.length - said)
    }

    @Test func `C3 a complete file is compared at three places and not transferred again`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let url = nginx.url("/\(site.name)")
        #expect(site.complaint(try site.run("-x", "1", url)) == nil)
        let second = try site.run("-x", "1", "--json", "--if-exists", "resume", url)
        #expect(site.complaint(second) == nil)
        #expect(second.received == 196_608)
        let requests = nginx.finish()
        #expect(requests.count > 1)
        #expect(requests.dropFirst().allSatisfy { $0.bodySent == 65_536 })
    }

    @Test func `A1 the beginning of a file left by another program is continued`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let half = site.content.length / 2 + 1
        let beginning = site.content.bytes(in: ByteRange(0, half))
        try FileSystem.write(beginning, to: site.downloads.path(site.name))
        let run = try site.run("-x", "1", "--json", "--if-exists", "resume", nginx.url("/\(site.name)"))
        #expect(site.complaint(run) == nil)
        let received = try #require(run.received)
        #expect(received >= site.content.length - half)
        // Some existing bytes are compared, since no journal records their origin.
        #expect(received <= site.content.length - half + 256 * 1024)
        #expect(nginx.finish().contains { $0.status == 206 })
    }

    @Test func `a redirect is followed`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(
            site.served, locations: "location /moved/ { rewrite ^/moved/ /\(site.name) redirect; }")
        let run = try site.run("-x", "1", "-o", site.downloads.path(site.name), nginx.url("/moved/other.bin"))
        #expect(site.complaint(run) == nil)
        #expect(nginx.finish().map(\.status) == [302, 200])
    }

    @Test func `a redirect that leads to itself ends with code 23`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, locations: "location /round { return 302 /round; }")
        let run = try site.run("--max-redirects", "5", nginx.url("/round"))
        #expect(site.complaint(run, code: 23, saying: "redirect") == nil)
        #expect(nginx.finish().count == 6)
    }

    @Test(arguments: [(404, Int32(3)), (410, 3), (403, 24), (400, 22)])
    func `C6 a refusal is final, quick and leaves no file`(status: Int, code: Int32) throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served, locations: "location /refused { return \(status); }")
        let run = try site.run(nginx.url("/refused"))
        #expect(site.complaint(run, code: code, saying: "\(status)") == nil)
        #expect(nginx.finish().map(\.status) == [status])
    }

    @Test(.enabled(if: FreePort.hasInternet6, "needs IPv6")) func `an IPv6 literal is reached`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let run = try site.run("-x", "4", "http://[::1]:\(nginx.port)/\(site.name)")
        #expect(site.complaint(run) == nil)
    }

    @Test(arguments: [("0-99", ByteRange(0, 100)), ("100-199", ByteRange(100, 200))]) func `B5 a part of a file`(
        range: String, expected: ByteRange
    ) throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let run = try site.run("--range", range, nginx.url("/\(site.name)"))
        #expect(run.exit == .code(0), "\(run.errors)")
        #expect(FileSystem.contents(site.downloads.path(site.name)) == site.content.bytes(in: expected))
        #expect(nginx.finish().map(\.status) == [206])
    }
}
