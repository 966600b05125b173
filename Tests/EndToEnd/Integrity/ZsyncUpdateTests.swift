import Glibc
import PawlBase
import PawlTestKit
import Testing

/// Updates by zsync control files, beside Debian's zsync.
@Suite(
    .ownThreads,
    .enabled(if: ServerProcess.isInstalled("nginx") && ServerProcess.isInstalled("zsync"), "needs nginx and zsync"))
struct ZsyncUpdateTests {
    /// An archive of a source tree and a later version of it: files changed, added, removed and moved.
    private static func pair(_ bench: IntegrityBench) throws -> (old: [UInt8], new: [UInt8]) {
        let script = """
            import io, random, tarfile
            def noise(seed, count):
                return random.Random(seed).randbytes(count)
            def tar(name, files):
                with tarfile.open(name, 'w') as archive:
                    for path, data in files:
                        info = tarfile.TarInfo(path); info.size = len(data)
                        archive.addfile(info, io.BytesIO(data))
            old = [('d%d/f%d' % (n % 7, n), noise(n, 3000 + 977 * n)) for n in range(60)]
            new = dict(old)
            del new['d3/f3']
            new['d5/f5'] = new['d5/f5'][:2000] + b'changed' + new['d5/f5'][2000:]
            new['d0/new'] = noise(99, 40000)
            new['d1/moved'] = new.pop('d1/f50')
            tar('old', old); tar('new', sorted(new.items()))
            """
        let run = try bench.run("/usr/bin/python3", ["-c", script])
        #expect(run.code == 0, "\(run)")
        return (try #require(bench.contents("old")), try #require(bench.contents("new")))
    }

    private struct Site {
        /// Removed with the last reference.
        var served: ServedFolder
        var nginx: NginxServer
        var authority: TestAuthority
        var old: [UInt8]
        var new: [UInt8]
    }

    private static func site(_ bench: IntegrityBench) throws -> Site {
        let (old, new) = try pair(bench)
        let made = try bench.run("/usr/bin/zsyncmake", ["-u", "new", "-o", "new.zsync", "new"])
        #expect(made.code == 0, "\(made)")
        let served = try ServedFolder()
        try served.add("new", Payload(new))
        try served.add("new.zsync", Payload(try #require(bench.contents("new.zsync"))))
        let authority = try TestAuthority()
        let nginx = try NginxServer(served, authority: authority)
        for name in ["new", "new.zsync"] { FileSystem.remove(bench.folder.path(name)) }
        return Site(served: served, nginx: nginx, authority: authority, old: old, new: new)
    }

    @Test func `no more bytes are fetched than zsync fetches, over HTTP and HTTPS`() throws {
        let bench = try IntegrityBench()
        let site = try Self.site(bench)
        let theirs = try bench.run("/usr/bin/zsync", ["-q", "-i", "old", "-o", "theirs", site.nginx.url("/new.zsync")])
        #expect(theirs.code == 0 && bench.contents("theirs") == site.new, "\(theirs)")
        let ours = try bench.pawl("get", "--zsync", site.nginx.url("/new.zsync"), "--seed", "old", "-o", "ours")
        #expect(ours.code == 0 && bench.contents("ours") == site.new, "\(ours)")
        let secure = try bench.pawl(
            "get", "--zsync", site.nginx.secureURL("/new.zsync"), "--seed", "old", "-o", "secure", "--ca-certificate",
            site.authority.authority)
        #expect(secure.code == 0 && bench.contents("secure") == site.new, "\(secure)")
        #expect(bench.contents("old") == site.old)
        let requests = site.nginx.finish().filter { $0.path == "/new" }
        func bytes(from start: Int, to end: Int) -> Int64 { requests[start..<end].reduce(0) { $0 + $1.bodySent } }
        // Each program's requests follow the other's: ours have one range each.
        let lists = requests.indices.filter { requests[$0].range.contains(",") }
        let split = (lists.last ?? -1) + 1
        #expect(split > 0, "zsync asks for several ranges at once: \(requests.map(\.range))")
        let mine = requests[split...].reduce(0) { $0 + $1.bodySent }
        #expect(requests[split...].allSatisfy { $0.status == 206 })
        #expect(mine > 0 && mine <= 2 * bytes(from: 0, to: split), "\(mine), \(bytes(from: 0, to: split))")
    }

    @Test func `a file of the new name that is the seed is replaced, and equal blocks need no request`() throws {
        let bench = try IntegrityBench()
        let site = try Self.site(bench)
        try bench.write("new", site.old)
        let run = try bench.pawl("get", "--zsync", site.nginx.url("/new.zsync"), "--seed", "new")
        #expect(run.code == 0 && bench.contents("new") == site.new, "\(run)")
        #expect(bench.folder.names == ["new", "old"])
        // A moved copy of all blocks is enough.
        try bench.write("moved", Array("prefix".utf8) + site.new)
        let again = try bench.pawl("get", "--zsync", site.nginx.url("/new.zsync"), "--seed", "moved", "-o", "copy")
        #expect(again.code == 0 && bench.contents("copy") == site.new, "\(again)")
        #expect(again.errors.contains("0 B to fetch"), "\(again)")
    }

    @Test func `repair by blocks, and a file that is whole already`() throws {
        let bench = try IntegrityBench()
        let site = try Self.site(bench)
        var bytes = site.new
        bytes.replaceSubrange(300_000..<310_000, with: repeatElement(7, count: 10_000))
        try bench.write("f", bytes)
        let run = try bench.pawl("repair", "f", "--zsync", site.nginx.url("/new.zsync"))
        #expect(run.code == 0 && bench.contents("f") == site.new, "\(run)")
        let again = try bench.pawl("repair", "f", "--zsync", site.nginx.url("/new.zsync"))
        #expect(again.code == 0 && again.lines == ["f: nothing to repair"], "\(again)")
        let requests = site.nginx.finish().filter { $0.path == "/new" }
        #expect(requests.reduce(0) { $0 + $1.bodySent } <= 10_000 + 2 * 4_096)
    }

    @Test func `content that is not the control file's is never published`() throws {
        let bench = try IntegrityBench()
        let (_, new) = try Self.pair(bench)
        let made = try bench.run("/usr/bin/zsyncmake", ["-u", "new", "-o", "new.zsync", "new"])
        #expect(made.code == 0)
        var wrong = new
        for offset in stride(from: 0, to: wrong.count, by: 1_000) { wrong[offset] ^= 0x55 }
        let control = bench.origin.serve("/new.zsync", Payload(try #require(bench.contents("new.zsync"))))
        bench.origin.serve("/new", Payload(wrong))
        FileSystem.remove(bench.folder.path("new"))
        FileSystem.remove(bench.folder.path("new.zsync"))
        let run = try bench.pawl("get", "--zsync", control, "--seed", "old")
        #expect(run.code == 32 && run.errors.contains("(given: http"), "\(run)")
        #expect(!run.errors.contains("correct --checksum"), "none was given: \(run)")
        #expect(bench.folder.names == ["new.part", "new.pawl", "old"])
        // Nothing of the wrong bytes is used again.
        bench.origin.serve("/new", Payload(new))
        let right = try bench.pawl("get", "--zsync", control, "--seed", "old")
        #expect(right.code == 0 && bench.contents("new") == new, "\(right)")
        #expect(bench.folder.names == ["new", "old"])
    }

    @Test func `the options of a download hold for one from blocks, too`() throws {
        let bench = try IntegrityBench()
        let (_, new) = try Self.pair(bench)
        #expect(try bench.run("/usr/bin/zsyncmake", ["-u", "new", "-o", "new.zsync", "new"]).code == 0)
        let digest = try bench.sum("sha256sum", of: "new")
        let control = bench.origin.serve("/new.zsync", Payload(try #require(bench.contents("new.zsync"))))
        bench.origin.serve("/new", Payload(new))
        FileSystem.remove(bench.folder.path("new.zsync"))
        try bench.write("new", [1, 2, 3])
        func get(_ more: String...) throws -> IntegrityBench.Run {
            try bench.run(PawlBinary.path, ["get", "--zsync", control, "--seed", "old"] + more)
        }
        let range = try get("--range", "0-5")
        #expect(range.code == 28 && range.errors.contains("--range"), "\(range)")
        #expect(try get("--if-exists", "fail").code == 13)
        #expect(try get("--if-exists", "skip").code == 0)
        #expect(bench.contents("new") == [1, 2, 3] && bench.folder.names == ["new", "old"])
        let wrong = try get("--if-exists", "overwrite", "--checksum", "sha-256=" + String(repeating: "0", count: 64))
        #expect(wrong.code == 32 && bench.contents("new") == [1, 2, 3], "\(wrong)")
        #expect(try get("--checksum", "sha-1=" + String(repeating: "0", count: 40)).code == 28, "a contradiction")
        let right = try get("--if-exists", "overwrite", "--checksum", "sha-256=\(digest)")
        #expect(right.code == 0 && bench.contents("new") == new, "\(right)")
    }

    @Test(arguments: ["folder", "pipe"]) func `a seed that is no file is named so`(name: String) throws {
        let bench = try IntegrityBench()
        _ = try Self.pair(bench)
        #expect(try bench.run("/usr/bin/zsyncmake", ["-u", "http://x.example/new", "-o", "z", "new"]).code == 0)
        unsafe mkdir(bench.folder.path("folder"), 0o755)
        unsafe mkfifo(bench.folder.path("pipe"), 0o600)
        let run = try bench.pawl("get", "--zsync", "z", "--seed", name)
        #expect(run.code == 15 && run.errors.contains("it is not a file"), "\(run)")
    }

    @Test func `a control file of a compressed file's content is refused with a sentence`() throws {
        let bench = try IntegrityBench()
        try bench.write("f", Payload(seed: 5, length: 50_000).bytes(in: ByteRange(0, 50_000)))
        _ = try bench.run("/usr/bin/gzip", ["-n", "f"])
        let made = try bench.run("/usr/bin/zsyncmake", ["-u", "f.gz", "-o", "f.zsync", "f.gz"])
        #expect(made.code == 0, "\(made)")
        let run = try bench.pawl("get", "--zsync", "f.zsync", "--seed", "f.gz", "http://127.0.0.1:1/f.gz")
        #expect(run.code == 28 && run.errors.contains("compressed"), "\(run)")
    }
}
