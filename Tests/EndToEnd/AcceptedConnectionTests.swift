import Glibc
import PawlTestKit
import Testing

/// Servers with a limit of connections: learnt in one run, and known in the next.
@Suite(.ownThreads) struct `Connection limits of servers` {
    private static let size: Int64 = 6 << 20

    private func serve(_ bench: Bench, _ path: String, limit: Int, _ status: Int?) -> String {
        bench.origin.serve(path, Payload(seed: 81, length: Self.size)) { behaviour in
            behaviour.pace = 4 << 20
            behaviour.crowd = .init(limit: limit, refusal: status.map { .status($0) })
        }
    }

    private func refused(_ bench: Bench, _ path: String) -> Int {
        bench.origin.ended(path).count { $0.status != 200 && $0.status != 206 }
    }

    @Test(arguments: [403, 429, nil] as [Int?], [1, 2])
    func `the download continues with the accepted connections, and an automatic one does not try more`(
        status: Int?, limit: Int
    ) throws {
        let bench = try Bench()
        for (path, options) in [("/a.bin", ["-x", "8"]), ("/b.bin", [])] {
            let outcome = try bench.get([serve(bench, path, limit: limit, status)] + options)
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.events("retry").isEmpty)
        }
        let first = refused(bench, "/a.bin")
        #expect(first > 0 && first <= 8 && refused(bench, "/b.bin") == 0, "\(first) refused")
        let known = try bench.run("hosts", "--json").text
        #expect(known.contains("\"connections\":\(limit)"), "\(known)")
    }

    @Test(arguments: [403, nil] as [Int?])
    func `a number that is given is tried whatever was seen before, and forgetting ends what is known`(
        status: Int?
    ) throws {
        let bench = try Bench()
        for path in ["/a.bin", "/b.bin"] {
            let outcome = try bench.get(serve(bench, path, limit: 1, status), "-x", "2")
            #expect(outcome.code == 0, "\(outcome)")
            #expect(refused(bench, path) == 1, "\(path)")
        }
        let forgotten = try bench.run("hosts", "--forget", "127.0.0.1")
        #expect(forgotten.code == 0 && forgotten.text.contains("forgotten"), "\(forgotten)")
        #expect(try bench.run("hosts").text.contains("no limit"))
    }

    @Test func `a folder that cannot be created is no failure, and neither is a damaged table`() throws {
        let bench = try Bench()
        let url = serve(bench, "/a.bin", limit: 1, 403)
        let state = bench.folder.path("state")
        try FileSystem.write(Array("in the way".utf8), to: state)
        let blocked = try bench.get([url, "-x", "4"], environment: ["XDG_STATE_HOME": state])
        #expect(blocked.code == 0, "\(blocked)")
        let other = try TemporaryFolder()
        try #require(unsafe mkdir(other.path("pawl"), 0o700) == 0)
        try FileSystem.write([0, 255, 10, 32, 32, 10], to: other.path("pawl/hosts"))
        let damaged = try bench.get([url, "-x", "4", "-o", "second.bin"], environment: ["XDG_STATE_HOME": other.path])
        #expect(damaged.code == 0, "\(damaged)")
        let kept = FileSystem.contents(other.path("pawl/hosts")).map { String(decoding: $0, as: UTF8.self) }
        #expect(kept?.hasPrefix("http://127.0.0.1:") == true, "it was replaced: \(kept ?? "")")
    }
}
