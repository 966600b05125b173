import PawlTestKit
import Testing

/// The servers behave as the tests of downloads assume; `curl` is the reference.
@Suite(
    .ownThreads,
    .enabled(if: ServerProcess.isInstalled("curl") && ServerProcess.isInstalled("nginx"), "needs curl and nginx"))
struct `The real servers` {
    private let content = Payload(seed: 5, length: 70_001)
    private let served: ServedFolder
    private let downloads: TemporaryFolder

    init() throws {
        served = try ServedFolder()
        downloads = try TemporaryFolder()
        try served.add("file", content)
    }

    /// curl's exit code; its output is compared if that is 0.
    private func curl(_ arguments: String..., home: String = "/nonexistent") throws -> Int32? {
        let file = downloads.path("curl-\(downloads.names.count)")
        let process = try PawlProcess.run(
            "/usr/bin/curl", ["-q", "-sS", "-f", "-g", "-o", file] + arguments, environment: ["HOME": home])
        guard case .code(let code) = process.exit else { return nil }
        if code == 0 { #expect(FileSystem.difference(of: file, from: content) == nil) }
        return code
    }

    @Test func `nginx serves over HTTP 1 and 2 and logs its requests`() throws {
        let authority = try TestAuthority()
        let nginx = try NginxServer(served, authority: authority)
        #expect(try curl(nginx.url("/file")) == 0)
        #expect(try curl("-r", "0-", "-b", "a=b", nginx.url("/file")) == 0)
        #expect(try curl("--cacert", authority.authority, nginx.secureURL("/file")) == 0)
        #expect(try curl(nginx.secureURL("/file")) == 60)
        #expect(try curl(nginx.url("/none")) == 22)
        let requests = nginx.finish()
        #expect(requests.map(\.status) == [200, 206, 200, 404])
        #expect(requests.map(\.version) == ["HTTP/1.1", "HTTP/1.1", "HTTP/2.0", "HTTP/1.1"])
        #expect(requests.prefix(3).allSatisfy { $0.bodySent == content.length && $0.path == "/file" })
        #expect(requests.map(\.range) == ["-", "bytes=0-", "-", "-"])
        #expect(requests.map(\.cookie) == ["-", "a=b", "-", "-"])
    }

    @Test func `a server that was released accepts no more connections`() throws {
        let nginx = try NginxServer(served)
        let url = nginx.url("/file")
        #expect(try curl(url) == 0)
        _ = nginx.finish()
        #expect(try curl(url) == 7)
    }

    @Test func `a server that cannot start reports the reason`() throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.choose()
        let error = #expect(throws: SetupFailure.self) {
            try ServerProcess("nginx", ["-c", folder.path("none.conf")], in: folder, ports: [port])
        }
        #expect(error?.description.contains("none.conf") == true)
    }

    @Test(.enabled(if: ServerProcess.isInstalled("lighttpd"))) func `lighttpd checks digest and basic logins`() throws {
        let lighttpd = try LighttpdServer(served)
        #expect(try curl("--digest", "-u", "pawl:secret", lighttpd.url("/digest/file")) == 0)
        #expect(try curl("--digest", "-u", "pawl:wrong", lighttpd.url("/digest/file")) == 22)
        #expect(try curl("--basic", "-u", "pawl:secret", lighttpd.url("/digest/file")) == 22)
        #expect(try curl("-u", "pawl:secret", lighttpd.url("/basic/file")) == 0)
        #expect(try curl("-r", "0-", lighttpd.url("/file")) == 0)
        #expect(lighttpd.finish().last?.hasPrefix("206|bytes=0-|") == true)
    }

    @Test(.enabled(if: ServerProcess.isInstalled("python3"))) func `Python ignores ranges`() throws {
        let python = try PythonServer(served)
        #expect(try curl("-r", "5-", python.url("/file")) == 0)
    }

    @Test(.enabled(if: FTPServer.isAvailable)) func `vsftpd checks the password`() throws {
        let server = try FTPServer(served)
        #expect(try curl("-u", "anonymous:\(server.password)", server.url("/file")) == 0)
        #expect(try curl("-u", "anonymous:wrong", server.url("/file")) == 67)
        #expect(try curl("-u", "anonymous:\(server.password)", server.url("/none")) == 78)
        #expect(server.finish().contains("RETR file"))
    }

    @Test(.enabled(if: SSHServer.isAvailable)) func `sshd checks password and key`() throws {
        let server = try SSHServer(served)
        let url = server.url("\(served.path)/file")
        let login = "\(server.user):\(server.password)"
        #expect(try curl("-u", login, url, home: server.knowing) == 0)
        #expect(try curl("-u", "\(server.user):wrong", url, home: server.knowing) == 67)
        #expect(try curl("-u", "\(server.user):", url, home: server.withKey) == 0)
        #expect(try curl("-u", login, url, home: server.mistaken) == 60)
        #expect(try curl("-u", login, server.url("\(served.path)/none"), home: server.knowing) == 78)
    }

    @Test func `tinyproxy and its login`() throws {
        let nginx = try NginxServer(served)
        let proxy = try TinyproxyServer(user: "pawl", password: "secret")
        #expect(try curl("-x", "http://pawl:secret@127.0.0.1:\(proxy.port)", nginx.url("/file")) == 0)
        #expect(try curl("-p", "-x", "http://pawl:secret@127.0.0.1:\(proxy.port)", nginx.url("/file")) == 0)
        #expect(try curl("-x", "http://pawl:wrong@127.0.0.1:\(proxy.port)", nginx.url("/file")) == 22)
        let requests = proxy.finish()
        #expect(requests.first == "GET \(nginx.url("/file")) HTTP/1.1")
        #expect(requests.dropFirst().first == "CONNECT 127.0.0.1:\(nginx.port) HTTP/1.1")
    }

    @Test(.enabled(if: DanteServer.isAvailable)) func `Dante resolves a name that only it knows`() throws {
        let nginx = try NginxServer(served)
        let proxy = try DanteServer()
        let secret = "http://\(SSHServer.secretName):\(nginx.port)/file"
        #expect(try curl("-x", proxy.url("socks4"), nginx.url("/file")) == 0)
        #expect(try curl("-x", proxy.url("socks5h"), secret) == 0)
        #expect(try curl(secret) == 6)
        #expect(proxy.finish() == 2)
    }

    @Test(.enabled(if: SSHServer.isAvailable)) func `a tunnel of ssh speaks SOCKS 4a and 5`() throws {
        let nginx = try NginxServer(served)
        let tunnel = try SocksTunnel(through: SSHServer(served))
        let secret = "http://\(SSHServer.secretName):\(nginx.port)/file"
        #expect(try curl("-x", tunnel.url("socks4a"), secret) == 0)
        #expect(try curl("-x", tunnel.url("socks5h"), secret) == 0)
    }
}
