import PawlTestKit
import Testing

@Suite(
    .ownThreads,
    .enabled(
        if: ServerProcess.isInstalled("nginx") && ServerProcess.isInstalled("tinyproxy"), "needs nginx and tinyproxy"))
struct `tinyproxy` {
    @Test func `plain requests go through it`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let proxy = try TinyproxyServer()
        let run = try site.run("-x", "4", "--proxy", proxy.url(), nginx.url("/\(site.name)"))
        #expect(site.complaint(run) == nil)
        let requests = proxy.finish()
        #expect(!requests.isEmpty)
        #expect(requests.allSatisfy { $0.hasPrefix("GET \(nginx.url("/"))") })
    }

    @Test func `TLS goes through a tunnel`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let nginx = try NginxServer(site.served, authority: authority)
        let proxy = try TinyproxyServer()
        let run = try site.run(
            "--proxy", proxy.url(), "--cacert", authority.authority, nginx.secureURL("/\(site.name)"))
        #expect(site.complaint(run) == nil)
        let requests = proxy.finish()
        #expect(!requests.isEmpty)
        #expect(requests.allSatisfy { $0.hasPrefix("CONNECT 127.0.0.1:\(nginx.securePort)") })
    }

    @Test(arguments: [true, false]) func `its login`(right: Bool) throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let proxy = try TinyproxyServer(user: "pawl", password: "secretword")
        let login = right ? "pawl:secretword" : "pawl:wrongword"
        let run = try site.run("--proxy", "http://\(login)@127.0.0.1:\(proxy.port)", nginx.url("/\(site.name)"))
        if right {
            #expect(site.complaint(run) == nil)
        } else {
            #expect(site.complaint(run, code: 24) == nil)
            #expect(nginx.finish().isEmpty)
        }
        #expect(!(run.output + run.errors).contains("word@"))
    }

    @Test func `the environment sets it and no-proxy bypasses it`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let proxy = try TinyproxyServer()
        let environment = ["http_proxy": proxy.url()]
        let url = nginx.url("/\(site.name)")
        let around = try site.run("--no-proxy", "127.0.0.1", url, environment: environment)
        #expect(site.complaint(around) == nil)
        let through = try site.run("-x", "1", "--if-exists", "overwrite", url, environment: environment)
        #expect(site.complaint(through) == nil)
        #expect(proxy.finish().count == 1)
    }

    @Test func `A4 killed in the middle, the next run continues through it`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let proxy = try TinyproxyServer()
        let url = nginx.url("/\(site.name)")
        let said = try #require(
            try site.runAndKillInTheMiddle("-x", "1", "--limit-rate", "1M", "--proxy", proxy.url(), url))
        let run = try site.run("-x", "1", "--json", "--proxy", proxy.url(), url)
        #expect(site.complaint(run) == nil)
        #expect(try #require(run.resumedAt) >= said)
    }
}

@Suite(
    .ownThreads,
    .enabled(if: DanteServer.isAvailable && ServerProcess.isInstalled("nginx"), "needs root, dante-server and nginx"))
struct `Dante` {
    @Test(arguments: ["socks4", "socks5", "socks5h"]) func `completes the download`(scheme: String) throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let proxy = try DanteServer()
        let run = try site.run("-x", "4", "--proxy", proxy.url(scheme), nginx.url("/\(site.name)"))
        #expect(site.complaint(run) == nil)
        #expect(proxy.finish() > 0)
    }

    @Test func `socks5h leaves the name to the proxy, socks5 does not`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let proxy = try DanteServer()
        let url = "http://\(SSHServer.secretName):\(nginx.port)/\(site.name)"
        let here = try site.run("--retries", "0", "--proxy", proxy.url("socks5"), url)
        #expect(site.downloads.names.isEmpty)
        #expect(here.errors.contains("resolve the host name \(SSHServer.secretName)"))
        #expect(here.exit == .code(19))
        let there = try site.run("--proxy", proxy.url("socks5h"), url)
        #expect(site.complaint(there) == nil)
    }
}

@Suite(
    .ownThreads,
    .enabled(if: SSHServer.isAvailable && ServerProcess.isInstalled("nginx"), "needs root, OpenSSH and nginx"))
struct `A tunnel of ssh` {
    @Test(arguments: ["socks4a", "socks5h"]) func `leaves the name to the far end`(scheme: String) throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(site.served)
        let tunnel = try SocksTunnel(through: SSHServer(site.served))
        let url = "http://\(SSHServer.secretName):\(nginx.port)/\(site.name)"
        let run = try site.run("-x", "4", "--proxy", tunnel.url(scheme), url)
        #expect(site.complaint(run) == nil)
        #expect(Set(nginx.finish().map(\.connection)).count >= 1)
    }
}
