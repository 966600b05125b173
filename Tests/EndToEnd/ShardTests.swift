import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCore
@testable import PawlIntegrity
@testable import PawlJournal
@testable import PawlPipe
@testable import PawlS3
@testable import PawlSystem

@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct ShardTests {
    private let tar = ["--to", "out", "--format", "tar", "--shard", "s"]

    private func names(_ bench: PipeBench) -> [String] { FileSystem.names(in: bench.folder.path("out")) }

    @Test func `equal jobs make equal bytes, and a second run makes none`() throws {
        let bench = try PipeBench()
        try bench.serve(50)
        let (code, results) = try bench.run(tar)
        #expect(code == 0 && results.map { $0["n"]?.integer } == (0..<50).map { Int64($0) })
        let (tarBytes, manifest) = (bench.contents("out/s.tar"), bench.contents("out/s.jsonl"))
        #expect(names(bench) == ["s.jsonl", "s.tar"])
        let again = try bench.run(tar)
        #expect(again.code == 0 && again.results.allSatisfy { $0["status"]?.string == "already" })
        #expect(bench.origin.log.of("/0.jpg").count == 1)
        // A kill between the two names leaves the archive, which has the manifest.
        try #require(unsafe unlink(bench.folder.path("out/s.jsonl")) == 0)
        #expect(try bench.run(tar).code == 0)
        #expect(bench.contents("out/s.jsonl") == manifest)
        FileSystem.remove(bench.folder.path("out"))
        #expect(try bench.run(tar + ["-j", "3"]).code == 0)
        #expect(bench.contents("out/s.tar") == tarBytes && bench.contents("out/s.jsonl") == manifest)
        let list = try PawlProcess.run("/bin/tar", ["tf", "out/s.tar"], folder: bench.folder.path)
        #expect(list.lines.prefix(4) == ["s0.jpg", "s0.json", "s1.jpg", "s1.json"])
    }

    @Test(arguments: [0, 3]) func `a tar shard is well-formed to its last byte, and others can be appended to it`(
        count: Int
    ) throws {
        let bench = try PipeBench()
        if count == 0 { try bench.write(["other:line"]) } else { try bench.serve(count) }
        #expect(try bench.run(tar).code == (count == 0 ? 28 : 0))
        #expect(bench.contents("out/s.tar")?.count.isMultiple(of: 10_240) == true)
        func names(_ arguments: [String]) throws -> [String] {
            let list = try PawlProcess.run("/bin/tar", arguments, folder: bench.folder.path)
            #expect(list.exit == .code(0) && list.errors.isEmpty, "\(list.errors)")
            return list.lines.filter { !$0.isEmpty }
        }
        let members = try names(["tf", "out/s.tar"])
        #expect(members.count == max(1, 2 * count))
        let whole = bench.contents("out/s.tar") ?? []
        try FileSystem.write(whole + whole, to: bench.folder.path("two.tar"))
        #expect(try names(["-i", "-tf", "two.tar"]) == members + members)
        try FileSystem.write(whole, to: bench.folder.path("more.tar"))
        _ = try names(["rf", "more.tar", "jobs"])
        #expect(try names(["tf", "more.tar"]) == members + ["jobs"])
    }

    @Test func `a shard of an earlier version, with the manifest behind its end, is recognized`() throws {
        let bench = try PipeBench()
        try bench.serve(5)
        #expect(try bench.run(tar).code == 0)
        let (shard, manifest) = (bench.contents("out/s.tar") ?? [], bench.contents("out/s.jsonl") ?? [])
        let input = try #require(TarManifest.trailer(in: shard)).trailer.input
        let trailer = ShardTrailer(input: input, length: Int64(manifest.count))
        let old = [UInt8](repeating: 0, count: 1024) + manifest + trailer.bytes
        try FileSystem.write(old, to: bench.folder.path("out/s.tar"))
        try #require(unsafe unlink(bench.folder.path("out/s.jsonl")) == 0)
        let (code, results) = try bench.run(tar)
        #expect(code == 0 && results.count == 5)
        #expect(results.allSatisfy { $0["status"]?.string == "already" })
        #expect(bench.contents("out/s.jsonl") == manifest && bench.contents("out/s.tar") == old)
    }

    @Test func `a shard of other jobs is neither used nor replaced`() throws {
        let bench = try PipeBench()
        try bench.serve(5)
        #expect(try bench.run(tar).code == 0)
        let bytes = bench.contents("out/s.tar")
        try bench.serve(6)
        let (code, results) = try bench.run(tar)
        #expect(code == 13 && results.isEmpty)
        #expect(bench.contents("out/s.tar") == bytes)
    }

    @Test func `what failed is fetched into a shard of its own`() throws {
        let bench = try PipeBench()
        try bench.serve(6)
        bench.origin.adjust("/4.jpg") { $0.instead = .status(404) }
        let (code, results) = try bench.run(tar)
        #expect(code == 3 && results[4]["status"]?.string == "failed")
        let again = try bench.run(tar)
        let statuses = again.results.map { $0["status"]?.string }
        #expect(again.code == 0 && statuses == ["already", "already", "already", "already", "failed", "already"])
        bench.origin.adjust("/4.jpg") { $0.instead = nil }
        let retry = try PawlProcess.run(
            PawlBinary.path,
            ["pipe", "--to", "out", "--format", "tar", "--retry-failed", "out/s.jsonl"] + PipeBench.local,
            folder: bench.folder.path)
        #expect(retry.exit == .code(0), "\(retry.errors)")
        #expect(names(bench) == ["s.1.jsonl", "s.1.tar", "s.jsonl", "s.tar"])
        #expect(retry.lines.filter { !$0.isEmpty }.count == 1)
    }

    @Test func `a manifest without failures makes no shard when it is retried`() throws {
        let bench = try PipeBench()
        try bench.serve(3)
        #expect(try bench.run(tar).code == 0)
        for _ in 0..<2 {
            let retry = try PawlProcess.run(
                PawlBinary.path,
                ["pipe", "--to", "out", "--format", "tar", "--retry-failed", "out/s.jsonl"] + PipeBench.local,
                folder: bench.folder.path)
            #expect(retry.exit == .code(0) && retry.lines.allSatisfy(\.isEmpty))
            #expect(retry.errors.contains("nothing to retry"))
            #expect(names(bench) == ["s.jsonl", "s.tar"])
        }
    }

    @Test(arguments: ["tar", "warc"]) func `two workers on one shard publish it once`(format: String) throws {
        let bench = try PipeBench()
        try bench.serve(60)
        let options = ["--to", "out", "--format", format, "--shard", "s"]
        let workers = try (0..<2).map { _ in try bench.start(options) }
        for worker in workers { #expect(worker.wait() == .code(0), "\(worker.errors)") }
        #expect(names(bench).count == 2)
        for worker in workers {
            let lines = try worker.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
            #expect(lines.map { $0["n"]?.integer } == (0..<60).map { Int64($0) })
            #expect(lines.allSatisfy { ["ok", "already"].contains($0["status"]?.string ?? "") })
        }
    }

    @Test func `a record of WARC has the whole URL of its job, and no secret of a redirect`() throws {
        let bench = try PipeBench()
        let query = "?page=2&text=\(String(repeating: "x", count: 400))"
        let target = bench.origin.serve("/target.jpg", bench.payload(1)) { $0.contentType = "image/jpeg" }
        bench.origin.serve("/moved.jpg", bench.payload(2)) { $0.instead = .redirect(to: "/target.jpg?token=secret") }
        let moved = target.replacing("/target.jpg", with: "/moved.jpg")
        try bench.write([target + query, moved])
        let (code, _) = try bench.run(["--to", "out", "--format", "warc", "--shard", "s"])
        #expect(code == 0)
        let records = try PawlProcess.run("/bin/zcat", ["out/s.warc.gz"], folder: bench.folder.path).lines
        let targets = records.filter { $0.hasPrefix("WARC-Target-URI: ") }.map {
            $0.filter { $0 != "\r\n" && $0 != "\r" }
        }
        #expect(targets == [target + query, target + query, target, target].map { "WARC-Target-URI: \($0)" })
        #expect(!records.contains { $0.contains("secret") })
    }

    @Test func `killed at any moment it leaves nothing or a whole shard`() throws {
        let bench = try PipeBench()
        try bench.serve(80)
        #expect(try bench.run(tar).code == 0)
        let (whole, manifest) = (bench.contents("out/s.tar"), bench.contents("out/s.jsonl"))
        FileSystem.remove(bench.folder.path("out"))
        var dice = Dice(seed: 20)
        for _ in 0..<12 {
            let requests = bench.origin.log.records.count
            let process = try bench.start(tar + ["-j", "4"])
            let wanted = requests + Int(dice.next() % 90)
            bench.origin.wait { $0.records.count >= wanted || process.exit != nil || $0.records.count >= requests + 80 }
            process.send(SIGKILL)
            process.wait()
            let left = names(bench)
            if left.contains("s.tar") {
                #expect(bench.contents("out/s.tar") == whole)
            } else {
                #expect(left.isEmpty, "\(left)")
            }
        }
        #expect(try bench.run(tar).code == 0)
        #expect(bench.contents("out/s.tar") == whole && bench.contents("out/s.jsonl") == manifest)
        #expect(names(bench) == ["s.jsonl", "s.tar"])
    }
}
