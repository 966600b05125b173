import Glibc
import PawlTestKit
import Testing

@Suite(.ownThreads, .serialized) struct `Web indexes of real servers` {
    static let kinds = IndexServerKind.allCases.filter(\.isAvailable)

    @Test(arguments: kinds) func `are mirrored, and asked again only for what may have changed`(
        kind: IndexServerKind
    ) throws {
        var site = try CollectionSite()
        let server = try IndexServer(kind, site.served)
        let url = server.url("/pub/")
        let first = try site.get(url)
        #expect(first.code == 0, "\(first)")
        #expect(site.difference() == nil)
        #expect(first.events("finished").count == site.files.count)
        // Nothing has changed.
        let second = try site.get(url)
        #expect(second.code == 0, "\(second)")
        let unchanged = second.events("unchanged").count
        let compared = second.events("finished").filter { $0.line.contains("\"wasThere\":true") }.count
        #expect(unchanged + compared == site.files.count, "\(second)")
        if kind.isExact { #expect(unchanged == site.files.count, "\(second)") }
        // One was changed, one is new, and one has gone.
        try site.add("sub/d.bin", Payload(seed: 77, length: 4_444), modified: ServedFolder.modified + 7_200)
        try site.add("sub/new.bin", Payload(seed: 78, length: 555))
        let gone = try #require(site.files["a.bin"])
        site.remove("a.bin")
        let third = try site.get(url)
        #expect(third.code == 0, "\(third)")
        #expect(site.difference(besides: ["a.bin"]) == nil)
        #expect(site.downloads.difference("d/a.bin", from: gone) == nil)
        let fourth = try site.get("--delete", url)
        #expect(fourth.code == 0, "\(fourth)")
        #expect(site.difference() == nil, "\(fourth)")
        let requests = server.finish()
        #expect(requests.filter { $0.contains("/pub/sub/deep/e.bin") }.count == (kind.isExact ? 1 : 4), "\(requests)")
        #expect(requests.filter { $0 == "GET /pub/" }.count == 4, "\(requests)")
        #expect(requests.filter { $0 == "GET /pub/sub/deep/" }.count == 4, "\(requests)")
    }

    @Test(.enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
    func `are mirrored by a program that is killed fifty times, each file once`() throws {
        let paths = (0..<120).map { "d\($0 % 6)/e\($0 % 3)/f\($0).bin" }
        let site = try CollectionSite(paths)
        let server = try IndexServer(.nginx, site.served)
        let url = server.url("/pub/")
        var kills = 0
        for round in 0..<50 {
            let process = try site.start(["--limit-rate", "2M", "-j", "4", url])
            var seen = 0
            let isReached = process.line { line in
                if line.contains("\"event\":\"finished\"") { seen += 1 }
                return seen > round % 3
            }
            guard isReached != nil else {
                process.wait()
                break
            }
            process.send(SIGKILL)
            process.wait()
            kills += 1
        }
        #expect(kills >= 20)
        let last = try site.get(url)
        #expect(last.code == 0, "\(last)")
        #expect(site.difference() == nil)
        // Those in progress at a kill may be continued; a finished one is never requested again.
        let requests = server.finish().filter { $0.hasSuffix(".bin") }
        #expect(requests.count <= paths.count + kills * 8, "\(requests.count) requests, \(kills) kills")
        let again = Dictionary(grouping: requests, by: \.self).filter { $1.count > 1 }.count
        #expect(again <= kills * 4)
    }

    @Test(.enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
    func `are listed, planned and filtered without a request for a file`() throws {
        let site = try CollectionSite()
        let server = try IndexServer(.nginx, site.served)
        let url = server.url("/pub/")
        func run(_ arguments: String...) throws -> PawlProcess {
            try PawlProcess.run(
                PawlBinary.path, arguments, environment: ["HOME": site.downloads.path], folder: site.downloads.path)
        }
        let list = try run("list-remote", url)
        #expect(list.exit == .code(0) && list.output.contains("sub/deep/e.bin"), "\(list.errors)")
        #expect(list.output.split(separator: "\n").count == site.files.count + 2)
        let json = try run("list-remote", "--json", "--max-depth", "0", "--include", "*.bin", url)
        #expect(json.lines.filter { $0.contains("\"event\":\"entry\"") && $0.contains("\"kind\":\"file\"") }.count == 4)
        #expect(json.output.contains("\"isExact\":true"))
        let plan = try run("get", "--recursive", "--dry-run", "-d", "d", "--exclude", "*.part", url)
        #expect(plan.exit == .code(0) && plan.output.contains("8 of 8 files would be downloaded"), "\(plan.output)")
        let none = try run("list-remote", server.url("/pub/a.bin"))
        #expect(none.exit == .code(28), "\(none.errors)")
        #expect(none.errors.contains("cannot list \(server.url("/pub/a.bin")): folders of"), "\(none.errors)")
        let total = try run("get", "--recursive", "-d", "d", "--max-total", "10K", url)
        #expect(total.exit == .code(35) && total.errors.contains("--max-total"), "\(total.errors)")
        #expect(!FileSystem.exists(site.downloads.path("d")))
        let filtered = try site.get("--exclude", "deep/", "--max-size", "5K", "--delete", url)
        #expect(filtered.code == 0, "\(filtered)")
        #expect(CollectionSite.paths(in: site.downloads.path("d")) == ["a.bin"])
        #expect(filtered.events("notice").contains { $0.line.contains("a filter or a limit was given") })
        let file = try run("get", "--max-depth", "1", server.url("/pub/a.bin"))
        #expect(file.exit == .code(28) && file.errors.contains("end it with /"), "\(file.errors)")
        #expect(server.finish().filter { $0.hasSuffix(".bin") && !$0.hasSuffix("/a.bin") }.isEmpty)
    }

    @Test(.enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
    func `obey robots.txt below the given folder`() throws {
        var site = try CollectionSite()
        try site.served.add("robots.txt", Payload(seed: 1, length: 1))
        try FileSystem.write(
            Array("User-agent: *\nDisallow: /pub/sub/deep/\n".utf8), to: site.served.path + "/robots.txt")
        let server = try IndexServer(.nginx, site.served)
        let obeying = try site.get(server.url("/pub/"))
        #expect(obeying.code == 0, "\(obeying)")
        #expect(obeying.events("notice").contains { $0.line.contains("robots.txt disallows it") })
        let ignoring = try site.get("--robots", "ignore", server.url("/pub/"))
        #expect(ignoring.code == 0 && site.difference() == nil, "\(ignoring)")
        site.remove("a.bin")
        let unproven = try site.get("--delete", server.url("/pub/"))
        #expect(FileSystem.exists(site.downloads.path("d/a.bin")), "\(unproven)")
    }
}

@Suite(.ownThreads, .serialized) struct `Folders of file servers` {
    @Test(.enabled(if: FTPServer.isAvailable, "needs root and vsftpd"))
    func `of vsftpd are mirrored, with links to what is beside them`() throws {
        let site = try CollectionSite(["a.bin", "sub/b c.bin", "sub/deep/e.bin"])
        unsafe symlink("a.bin", "\(site.served.path)/pub/latest")
        unsafe symlink("/etc", "\(site.served.path)/pub/outside")
        let server = try FTPServer(site.served)
        let url = "ftp://anonymous:\(server.password)@127.0.0.1:\(server.port)/pub/"
        let first = try site.get(url)
        #expect(first.code == 0, "\(first)")
        #expect(site.difference(besides: ["latest"]) == nil)
        #expect(site.downloads.difference("d/latest", from: try #require(site.files["a.bin"])) == nil)
        #expect(first.events("notice").contains { $0.line.contains("symbolic link was left out") })
        #expect(!first.errors.contains(server.password))
        let second = try site.get("--links", "skip", url)
        #expect(second.code == 0 && second.events("unchanged").count == 3, "\(second)")
        let commands = server.finish()
        #expect(commands.filter { $0.hasPrefix("RETR") }.count == 4, "\(commands)")
    }

    @Test(.enabled(if: SSHServer.isAvailable, "needs root, mount namespaces and OpenSSH"))
    func `of OpenSSH are mirrored`() throws {
        let site = try CollectionSite(["a.bin", "sub/b c.bin", "sub/deep/e.bin"])
        let server = try SSHServer(site.served)
        let home = ["HOME": server.knowing]
        let url = server.url("\(site.served.path)/pub/")
        let first = try site.get("--user", "\(server.user):\(server.password)", url, environment: home)
        #expect(first.code == 0, "\(first)")
        #expect(site.difference() == nil)
        let second = try site.get("--user", "\(server.user):\(server.password)", url, environment: home)
        #expect(second.code == 0, "\(second)")
        let there = second.events("finished").filter { $0.line.contains("\"wasThere\":true") }.count
        #expect(there + second.events("unchanged").count == 3, "\(second)")
    }
}
