import Glibc
import PawlTestKit
import Testing

@Suite(.ownThreads, .enabled(if: FTPServer.isAvailable, "needs root and vsftpd")) struct `vsftpd` {
    @Test func `the whole file arrives`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let run = try site.run("--user", "anonymous:\(server.password)", server.url("/\(site.name)"))
        #expect(site.complaint(run) == nil)
    }

    @Test func `the login may be in the URL and is never printed`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let run = try site.run("ftp://anonymous:\(server.password)@127.0.0.1:\(server.port)/\(site.name)")
        #expect(site.complaint(run) == nil)
        #expect(!(run.output + run.errors).contains(server.password))
    }

    @Test func `A4 killed in the middle, the next run requests the rest`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let login = "anonymous:\(server.password)"
        let url = server.url("/\(site.name)")
        let said = try #require(try site.runAndKillInTheMiddle("--user", login, "--limit-rate", "1M", url))
        let run = try site.run("--json", "--user", login, url)
        #expect(site.complaint(run) == nil)
        #expect(try #require(run.resumedAt) >= said)
        let offsets = server.finish().filter { $0.hasPrefix("REST ") }.compactMap { Int64($0.dropFirst(5)) }
        #expect(offsets.contains { $0 > 0 })
    }

    @Test func `C6 a file that became shorter than the partial starts over`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let login = "anonymous:\(server.password)"
        let url = server.url("/\(site.name)")
        _ = try #require(try site.runAndKillInTheMiddle("--user", login, "--limit-rate", "1M", url))
        let shorter = try site.shorten()
        let run = try site.run("--user", login, url)
        #expect(run.exit == .code(0), "\(run.errors)")
        #expect(site.downloads.difference(site.name, from: shorter) == nil)
    }

    @Test func `a missing file is code 3`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let run = try site.run("--user", "anonymous:\(server.password)", server.url("/nothing.bin"))
        #expect(site.complaint(run, code: 3, saying: "nothing.bin") == nil)
    }

    @Test func `the path of a folder is code 3, and says so`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let isMade = unsafe mkdir(site.served.path + "/sub", 0o755) == 0
        try #require(isMade)
        let run = try site.run("--user", "anonymous:\(server.password)", server.url("/sub"))
        #expect(site.complaint(run, code: 3, saying: "names a folder") == nil)
    }

    @Test func `a server without MLSD is asked for LIST at once`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let login = "ftp://anonymous:\(server.password)@127.0.0.1:\(server.port)/"
        let run = try PawlProcess.run(
            PawlBinary.path, ["list-remote", login], environment: ["HOME": site.downloads.path])
        #expect(run.exit == .code(0) && run.output.contains(site.name), "\(run.errors)")
        let commands = server.finish()
        #expect(commands.filter { $0 == "MLSD" }.count == 1 && commands.contains("LIST"), "\(commands)")
    }

    @Test func `a wrong password is code 24`() throws {
        let site = try RealOriginSite()
        let server = try FTPServer(site.served)
        let run = try site.run("--user", "anonymous:wrong-one", server.url("/\(site.name)"))
        #expect(site.complaint(run, code: 24) == nil)
        #expect(!run.errors.contains("wrong-one"))
    }

    @Test func `FTPS is verified, and killed in the middle the next run requests the rest`() throws {
        let site = try RealOriginSite()
        let authority = try TestAuthority()
        let server = try FTPServer(site.served, authority: authority)
        let login = ["--user", "anonymous:\(server.password)"]
        let url = server.url("/\(site.name)")
        let untrusted = try site.run(login + [url])
        #expect(site.complaint(untrusted, code: 33, saying: "certificate") == nil)
        let said = try #require(
            try site.runAndKillInTheMiddle(
                "--cacert", authority.authority, login[0], login[1], "--limit-rate", "1M", url))
        let run = try site.run(["--json", "--cacert", authority.authority, url] + login)
        #expect(site.complaint(run) == nil)
        #expect(try #require(run.resumedAt) >= said)
        let offsets = server.finish().filter { $0.hasPrefix("REST ") }.compactMap { Int64($0.dropFirst(5)) }
        #expect(offsets.contains { $0 > 0 })
    }
}
