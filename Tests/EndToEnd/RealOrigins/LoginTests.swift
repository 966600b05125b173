import PawlHTTP
import PawlTestKit
import Testing

@Suite(.ownThreads, .enabled(if: ServerProcess.isInstalled("nginx"), "needs nginx")) struct `Logins at nginx` {
    private static let basic = """
        location /basic/ { alias $site/; auth_basic "pawl"; auth_basic_user_file users; }
        """

    private func nginx(_ site: RealOriginSite) throws -> NginxServer {
        let nginx = try NginxServer(site.served, locations: Self.basic)
        try nginx.allow(user: "pawl", password: "s3cret:word")
        return nginx
    }

    @Test func `basic authentication with the right password`() throws {
        let site = try RealOriginSite()
        let nginx = try nginx(site)
        let run = try site.run("--user", "pawl:s3cret:word", nginx.url("/basic/\(site.name)"))
        #expect(site.complaint(run) == nil)
    }

    @Test func `with four connections each of them logs in`() throws {
        let site = try RealOriginSite()
        let nginx = try nginx(site)
        let run = try site.run("-x", "4", "--user", "pawl:s3cret:word", nginx.url("/basic/\(site.name)"))
        #expect(site.complaint(run) == nil)
    }

    @Test(arguments: [["--user", "pawl:wrong"], []])
    func `a wrong or missing password is code 24 and no secret is printed`(options: [String]) throws {
        let site = try RealOriginSite()
        let nginx = try nginx(site)
        let run = try site.start(options + [nginx.url("/basic/\(site.name)")])
        run.wait()
        #expect(site.complaint(run, code: 24, saying: "401") == nil)
        #expect(!run.errors.contains("wrong"))
    }

    @Test func `netrc gives the login for its host only`() throws {
        let site = try RealOriginSite()
        let nginx = try nginx(site)
        // The tests' HOME is the folder for downloads, so this is also the user's own file.
        let file = site.downloads.path(".netrc")
        try FileSystem.write(Array("machine 127.0.0.1 login pawl password s3cret:word\n".utf8), to: file)
        let named = try site.run("--netrc=\(file)", nginx.url("/basic/\(site.name)"))
        #expect(site.complaint(named) == nil)
        let own = try site.run("--netrc", "--if-exists", "overwrite", nginx.url("/basic/\(site.name)"))
        #expect(site.complaint(own) == nil)
        let other = try site.run(
            "--netrc=\(file)", "--if-exists", "overwrite", "http://localhost:\(nginx.port)/basic/\(site.name)")
        #expect(other.exit == .code(24))
    }

    @Test func `a cookie file authenticates`() throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(
            site.served,
            locations: "location /cookie/ { if ($cookie_session != \"s3cret\") { return 403; } alias $site/; }")
        let file = site.downloads.path(".cookies.txt")
        let cookie = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\ts3cret"
        let foreign = "other.example\tFALSE\t/\tFALSE\t0\tforeign\tnothing"
        try FileSystem.write(Array("# Netscape HTTP Cookie File\n\(cookie)\n\(foreign)\n".utf8), to: file)
        let url = nginx.url("/cookie/\(site.name)")
        #expect(site.complaint(try site.run(url), code: 24, saying: "403") == nil)
        #expect(site.complaint(try site.run("--load-cookies", file, "-x", "4", url)) == nil)
        #expect(nginx.finish().last?.cookie == "session=s3cret")
    }

    /// The file is also the one from which cookies are sent: what the server did not change is kept.
    @Test(arguments: ["get", "aria2c"]) func `cookies are saved`(command: String) throws {
        let site = try RealOriginSite()
        let nginx = try NginxServer(
            site.served,
            locations: """
                location /set/ {
                    add_header Set-Cookie "session=new; Path=/; HttpOnly";
                    add_header Set-Cookie "gone=; Path=/; Max-Age=0";
                    alias $site/;
                }
                """)
        let file = site.downloads.path(".cookies.txt")
        func line(_ name: String, _ value: String, at host: String = "127.0.0.1") -> String {
            "\(host)\tFALSE\t/\tFALSE\t2000000000\t\(name)\t\(value)\n"
        }
        let foreign = line("foreign", "kept", at: "other.example")
        try FileSystem.write(Array((line("session", "old") + line("gone", "old") + foreign).utf8), to: file)
        let url = nginx.url("/set/\(site.name)")
        let process = try PawlProcess(
            PawlBinary.path, [command, "--load-cookies", file, "--save-cookies", file, url],
            environment: ["HOME": site.downloads.path], folder: site.downloads.path)
        #expect(process.wait() == .code(0))
        let saved = String(decoding: try #require(FileSystem.contents(file)), as: UTF8.self)
        #expect(
            saved.split(separator: "\n").filter { !$0.hasPrefix("# ") }.map(String.init).sorted() == [
                "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tnew", String(foreign.dropLast()),
            ])
        #expect(FileSystem.mode(file) == 0o600)
    }
}
