import Glibc
import PawlTestKit
import Testing

@Suite(.ownThreads, .enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
struct `Names that change from files to folders` {
    /// A mirror of a server on which a file has become a folder, and a folder a file.
    private func changed() throws -> (site: CollectionSite, server: IndexServer) {
        var site = try CollectionSite(["a.bin", "x", "y/b.bin", "y/deep/c.bin"])
        let server = try IndexServer(.nginx, site.served)
        #expect(try site.get(server.url("/pub/")).code == 0)
        for path in ["x", "y/b.bin", "y/deep/c.bin"] { site.remove(path) }
        for path in ["y/deep", "y"] { unsafe rmdir("\(site.served.path)/pub/\(path)") }
        try site.add("x/deep/d.bin", Payload(seed: 31, length: 3_001))
        try site.add("y", Payload(seed: 32, length: 3_002))
        try site.add("z.bin", Payload(seed: 33, length: 3_003))
        return (site, server)
    }

    @Test func `are told, and the rest is downloaded`() throws {
        let (site, server) = try changed()
        let run = try site.get(server.url("/pub/"))
        #expect([13, 18].contains(run.code), "\(run)")
        let messages = run.events("failed").compactMap { $0.text("message") }
        #expect(messages.count == 2 && messages.contains { $0.contains("/x: a file of that name is there") }, "\(run)")
        #expect(messages.contains { $0.contains("/y: a folder of that name is there") }, "\(run)")
        #expect(FileSystem.exists(site.downloads.path("d/z.bin")))
        #expect(FileSystem.exists(site.downloads.path("d/y/deep/c.bin")))
    }

    @Test func `give way where what is gone is removed`() throws {
        let (site, server) = try changed()
        let run = try site.get("--delete", server.url("/pub/"))
        #expect(run.code == 0 && site.difference() == nil, "\(run)")
        #expect(run.events("removed").count == 3, "\(run)")
    }

    @Test func `do not give way with files of others in them`() throws {
        let (site, server) = try changed()
        try FileSystem.write([1], to: site.downloads.path("d/y/deep/mine"))
        let run = try site.get("--delete", server.url("/pub/"))
        #expect(run.code == 13 && FileSystem.contents(site.downloads.path("d/y/deep/mine")) == [1], "\(run)")
        #expect(FileSystem.exists(site.downloads.path("d/x/deep/d.bin")))
    }

    @Test func `stay as they are where nothing may be removed`() throws {
        let (site, server) = try changed()
        let run = try site.get("--delete", "--exclude", "q", server.url("/pub/"))
        #expect([13, 18].contains(run.code) && run.events("removed").isEmpty, "\(run)")
        #expect(FileSystem.exists(site.downloads.path("d/x")) && FileSystem.exists(site.downloads.path("d/y/b.bin")))
    }
}
