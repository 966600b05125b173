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
        guard kind.logsRequests else { return }
        let asked = requests.filter { $0 == "GET /pub/sub/deep/e.bin" }.count
        // Python's 304 does not say of which content: the first files are asked for twice.
        #expect(kind.isExact ? asked == 1 : kind == .python ? 4...7 ~= asked : asked == 4, "\(requests)")
        // One request for WebDAV, and without it pages of links.
        let isListedAtOnce = kind.isWebDAV || kind.sendsPageAnyway
        #expect(requests.filter { $0.hasSuffix(" /pub/") }.count == (isListedAtOnce ? 4 : 8), "\(requests)")
        #expect(
            requests.filter { $0 == (kind.isWebDAV ? "PROPFIND" : "GET") + " /pub/sub/deep/" }.count == 4,
            "\(requests)")
        #expect(requests.filter { $0.hasSuffix(" /pub/sub/deep/") }.count == 4, "\(requests)")
    }

    @Test(.enabled(if: ServerProcess.isInstalled("nginx"), "needs nginx"))
    func `are asked by a condition for what their time does not tell, over one connection`() throws {
        let names = (0..<6).map { "f\($0).bin" }
        var site = try CollectionSite([])
        // A listing's time that is not over hides changes that are still to come.
        for (index, name) in names.enumerated() {
            try site.add(name, Payload(seed: UInt64(index + 1), length: 300_000), modified: Int64(time(nil)) + 3_600)
        }
        let server = try NginxServer(site.served, locations: "autoindex on;")
        for _ in 0..<3 {
            let run = try site.get("-j", "1", server.url("/pub/"))
            #expect(run.code == 0 && site.difference() == nil, "\(run)")
        }
        try site.add("f0.bin", Payload(seed: 99, length: 300_000), modified: Int64(time(nil)) + 7_200)
        let last = try site.get("-j", "1", server.url("/pub/"))
        #expect(last.code == 0 && site.difference() == nil, "\(last)")
        let requests = server.finish().filter { $0.path.hasSuffix(".bin") }
        #expect(
            requests.map(\.status) == Array(repeating: 200, count: 6) + Array(repeating: 304, count: 12)
                + requests.suffix(6).map(\.status), "\(requests)")
        #expect(requests.suffix(6).filter { $0.status == 200 }.map(\.path) == ["/pub/f0.bin"], "\(requests)")
        #expect(requests.filter { $0.status == 304 }.allSatisfy { $0.bodySent == 0 })
        // A response without a body leaves its connection usable.
        #expect(Set(requests[6..<12].map(\.connection)).count == 1, "\(requests)")
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
    func `are checked by their sums files, which are read once`() throws {
        let site = try CollectionSite(["a.bin", "b.bin", "sub/c.bin", "sub/d.bin"])
        let sums = try PawlProcess.run(
            "/usr/bin/sha256sum", ["a.bin", "sub/c.bin"], folder: site.served.path + "/pub"
        ).output
        let wrong = String(repeating: "0", count: 32) + "  d.bin\n"
        try FileSystem.write(Array(sums.utf8), to: site.served.path + "/pub/SHA256SUMS")
        try FileSystem.write(Array(wrong.utf8), to: site.served.path + "/pub/sub/CHECKSUM.md5")
        for name in ["SHA256SUMS", "sub/CHECKSUM.md5"] {
            let touch = ["-d", "2020-01-01", "\(site.served.path)/pub/\(name)"]
            #expect(try PawlProcess.run("/usr/bin/touch", touch).exit == .code(0))
        }
        let server = try IndexServer(.nginx, site.served)
        let run = try site.get("--verify", "sidecar", server.url("/pub/"))
        #expect(run.code == 32 && run.message.contains("/pub/sub/CHECKSUM.md5"), "\(run)")
        let verified = run.events("finished").filter { $0.line.contains("\"level\":\"sidecar\"") }
        #expect(verified.count == 2 && verified.allSatisfy { $0.line.contains("/pub/SHA256SUMS") }, "\(run)")
        #expect(site.downloads.difference("d/b.bin", from: try #require(site.files["b.bin"])) == nil)
        #expect(!FileSystem.exists(site.downloads.path("d/sub/d.bin")))
        // What the folder has is read there.
        #expect(try site.get("--verify", "sidecar", server.url("/pub/")).code == 32)
        // It is requested once, as a file of the tree; nothing is guessed.
        let requests = server.finish()
        #expect(requests.filter { $0 == "GET /pub/SHA256SUMS" }.count == 1, "\(requests)")
        #expect(site.downloads.difference("d/SHA256SUMS", from: Payload(Array(sums.utf8))) == nil)
        #expect(requests.allSatisfy { !$0.hasSuffix(".sha256") && !$0.hasSuffix("/MD5SUMS") }, "\(requests)")
    }

    @Test(.enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
    func `replace a text whose length changed, but not its time`() throws {
        var site = try CollectionSite(["notes.txt", "sub/list.json"])
        let server = try IndexServer(.nginx, site.served)
        #expect(try site.get(server.url("/pub/")).code == 0)
        for (number, name) in ["notes.txt", "sub/list.json"].enumerated() {
            try site.add(name, Payload(seed: 90 + UInt64(number), length: 2_000))
        }
        let second = try site.get(server.url("/pub/"))
        #expect(second.code == 0 && site.difference() == nil, "\(second)")
    }

    @Test(.enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
    func `compare what is there with the digests that are wanted now`() throws {
        let site = try CollectionSite(["a.bin", "b.bin"])
        let server = try IndexServer(.nginx, site.served)
        #expect(try site.get(server.url("/pub/")).code == 0)
        #expect(try site.get("--verify", "required", server.url("/pub/")).code == 32, "no digest is there")
        let sums = String(repeating: "0", count: 64) + "  a.bin\n"
        try FileSystem.write(Array(sums.utf8), to: site.served.path + "/pub/SHA256SUMS")
        let wrong = try site.get("--verify", "sidecar", server.url("/pub/"))
        #expect(wrong.code == 32 && wrong.events("unchanged").count == 1, "\(wrong)")
    }

    @Test(.enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
    func `refuse options that are for one file`() throws {
        let site = try CollectionSite(["a.bin"])
        let server = try IndexServer(.nginx, site.served)
        for option in [["--range", "0-1"], ["--checksum", "sha-256=" + String(repeating: "0", count: 64)]] {
            let outcome = Outcome(of: try site.start(option + [server.url("/pub/")]))
            #expect(outcome.code == 28 && outcome.errors.contains("it is for one file"), "\(outcome)")
        }
        #expect(server.finish().isEmpty)
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

    @Test(.enabled(if: PureFTPServer.isAvailable, "needs root and pure-ftpd"))
    func `of pure-ftpd are mirrored`() throws {
        var site = try CollectionSite(["a.bin", "sub/b c.bin", "sub/deep/e.bin"])
        unsafe symlink("a.bin", "\(site.served.path)/pub/latest")
        let server = try PureFTPServer(site.served)
        let url = server.url("/pub/")
        let first = try site.get(url)
        #expect(first.code == 0 && site.difference() == nil, "\(first)")
        // Its MLSD does not say what a link leads to.
        #expect(first.events("notice").contains { $0.line.contains("symbolic link was left out") }, "\(first)")
        let second = try site.get(url)
        #expect(second.code == 0 && second.events("unchanged").count == 3, "\(second)")
        site.remove("a.bin")
        let third = try site.get("--links", "skip", "--delete", url)
        #expect(third.code == 0 && site.difference() == nil, "\(third)")
        #expect(!third.errors.contains(server.password))
        #expect(server.finish().count == 3)
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
