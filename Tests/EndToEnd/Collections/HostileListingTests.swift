import Glibc
import PawlTestKit
import Testing

@Suite(.ownThreads, .enabled(if: ServerProcess.isInstalled("nginx"), "needs nginx")) struct `Hostile listings` {
    /// A server whose folder `/pub/` has this page; `a.bin` is there.
    private func site(
        _ page: String, locations: String = ""
    ) throws -> (site: CollectionSite, server: NginxServer) {
        let site = try CollectionSite(["a.bin", "sub/b.bin"])
        try FileSystem.write(Array(page.utf8), to: site.served.path + "/pub/index.html")
        try FileSystem.write(Array("<a href=b.bin>b</a>".utf8), to: site.served.path + "/pub/sub/index.html")
        return (site, try NginxServer(site.served, locations: "types { text/html html; }\n" + locations))
    }

    private func links(_ references: [String]) -> String {
        references.map { "<a href=\"\($0)\">x</a>\n" }.joined()
    }

    @Test func `write nothing outside of the folder, and the rest goes on`() throws {
        let (site, server) = try site(
            links([
                "../../../../etc/passwd", "/etc/passwd", "..%2f..%2fx", "a%2F..%2F..%2Fx", "%2e%2e/%2e%2e/x",
                "//evil.test/x",
                "http://evil.test/pub/x", "file:///etc/passwd", "ftp://127.0.0.1/x", "a%00b", "a%0D%0Ab", "%1B%5B2J",
                String(repeating: "n", count: 300), "\\..\\..\\x", ".", "..", "", "?C=N;O=D", "#x", "javascript:x()",
                "sub//b.bin", "a.bin", "sub/",
            ]))
        let run = try site.get(server.url("/pub/"))
        #expect(run.code == 28, "\(run)")
        let paths = Set(CollectionSite.paths(in: site.downloads.path))
        #expect(paths.filter { !$0.hasPrefix(".") && !$0.hasPrefix("d/") }.isEmpty, "\(paths)")
        #expect(paths.contains("d/a.bin") && paths.contains("d/sub/b.bin"))
        #expect(run.events("failed").count >= 6, "\(run)")
        #expect(run.events("notice").contains { $0.line.contains("lead out of the tree") })
        #expect(server.finish().allSatisfy { $0.path.hasPrefix("/pub/") || $0.path == "/robots.txt" })
    }

    @Test func `follow no link of the folder that leads out of it`() throws {
        let (site, server) = try site(links(["sub/b.bin", "a.bin"]))
        let elsewhere = try TemporaryFolder()
        unsafe mkdir(site.downloads.path("d"), 0o755)
        unsafe symlink(elsewhere.path, site.downloads.path("d/sub"))
        let run = try site.get(server.url("/pub/"))
        #expect(run.code == 28, "\(run)")
        #expect(elsewhere.names.isEmpty && FileSystem.exists(site.downloads.path("d/a.bin")))
        #expect(run.message.contains("leads out"), "\(run)")
    }

    @Test func `end although folders contain themselves`() throws {
        let (site, server) = try site(
            links(["loop/", "a.bin"]),
            locations: "location /pub/loop/ { rewrite ^/pub/loop/(.*)$ /pub/$1 last; }")
        let run = try site.get("--robots", "ignore", server.url("/pub/"))
        #expect(run.code == 22 && run.message.contains("may contain itself"), "\(run)")
        #expect(run.events("finished").count < 12)
    }

    @Test(arguments: [
        ("return 302 http://127.0.0.1:1/pub/;", Int32(6), "connection refused"), ("return 404;", 3, "404"),
        ("return 403;", 22, "403"), ("default_type application/zip; return 200 PK;", 22, "no page of links"),
    ]) func `of which the first page fails fail as a whole`(location: String, code: Int32, words: String) throws {
        let (site, server) = try site("", locations: "location = /pub/ { \(location) }")
        let run = try site.get("--retries", "0", server.url("/pub/"))
        #expect(run.code == code || run.code == 24, "\(run)")
        #expect(run.message.contains(words), "\(run)")
        #expect(!FileSystem.exists(site.downloads.path("d/a.bin")))
    }

    @Test func `remove nothing where a page is no index any more`() throws {
        let (site, server) = try site("<title>Index of /pub/</title>" + links(["a.bin", "sub/"]))
        try FileSystem.write(
            Array("<title>Index of /pub/sub/</title><a href=b.bin>b</a>".utf8),
            to: site.served.path + "/pub/sub/index.html")
        #expect(try site.get(server.url("/pub/")).code == 0)
        for page in [
            "<title>Log in</title><a href=sub/>sub</a>", "<html><title>Index of /pub/</title><a href=sub/>", "",
            "<title>Index of /pub/</title>",
        ] {
            try FileSystem.write(Array(page.utf8), to: site.served.path + "/pub/index.html")
            let run = try site.get("--delete", server.url("/pub/"))
            #expect(FileSystem.exists(site.downloads.path("d/a.bin")), "\(page): \(run)")
            #expect(FileSystem.exists(site.downloads.path("d/sub/b.bin")), "\(page): \(run)")
        }
        // Files of the user's own stay, also where the listing is complete.
        try FileSystem.write(Array("mine".utf8), to: site.downloads.path("d/mine"))
        try FileSystem.write(Array("changed".utf8), to: site.downloads.path("d/sub/b.bin"))
        let page = "<title>Index of /pub/</title><a href=a.bin>a</a>"
        try FileSystem.write(Array(page.utf8), to: site.served.path + "/pub/index.html")
        let run = try site.get("--delete", server.url("/pub/"))
        #expect(run.code == 0 && run.events("removed").isEmpty, "\(run)")
        #expect(Set(CollectionSite.paths(in: site.downloads.path("d"))) == ["a.bin", "mine", "sub/b.bin"])
    }

    @Test func `send a login to its server only`() throws {
        let (site, server) = try site(links(["a.bin"]), locations: "location = /pub/a.bin { return 302 /other/a.bin; }")
        let run = try site.get("http://user:word@127.0.0.1:\(server.port)/pub/")
        #expect(run.code == 3, "\(run)")
        #expect(!"\(run)".contains("word@"))
    }
}
