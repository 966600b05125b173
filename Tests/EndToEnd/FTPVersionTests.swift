import Glibc
import PawlBase
import PawlTestKit
import Testing

/// Files of FTP servers that change between the replies and the data, and servers that cannot resume.
@Suite(
    .ownThreads,
    .enabled(if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3"), "needs the built program and python3"))
struct FTPVersionTests {
    private static let first = Payload(seed: 191, length: 600_000)
    private let bench: Bench
    private let served: TemporaryFolder
    private let server: UnsteadyFTPServer

    init() throws {
        bench = try Bench()
        served = try TemporaryFolder()
        try FileSystem.write(Self.first.bytes(in: ByteRange(0, 600_000)), to: served.path("content"))
        server = try UnsteadyFTPServer(in: served.path)
    }

    private func set(_ mode: String) throws { try FileSystem.write(Array(mode.utf8), to: served.path("mode")) }

    private func put(_ content: Payload, in name: String = "content") throws {
        try FileSystem.write(content.bytes(in: ByteRange(0, content.length)), to: served.path(name))
    }

    private func end() {
        server.process.send(SIGKILL)
        server.process.wait()
    }

    /// Half of the first version is on disk.
    private func leavePartial(_ mode: String = "cut") throws {
        try set(mode)
        let run = try bench.get(server.url, "--retries", "0")
        #expect(run.code != 0 && bench.folder.names == ["f.part", "f.pawl"], "\(run)")
    }

    @Test(arguments: ["early", "early states", "late", "late nosize"], [600_000, 900_000])
    func `a version that replaces the file during the transfer is published whole`(mode: String, length: Int64) throws {
        defer { end() }
        let next = Payload(seed: 192, length: length)
        try put(next, in: "next")
        try set(mode)
        let run = try bench.get(server.url)
        #expect(run.code == 0, "\(run)")
        #expect(bench.folder.difference("f", from: next) == nil)
        #expect(bench.folder.names == ["f"])
    }

    @Test(arguments: ["early", "early states", "late"], ["1000-9999999", "1000-599999"])
    func `a part up to the end is of one version`(mode: String, range: String) throws {
        defer { end() }
        let next = Payload(seed: 195, length: 900_000)
        try put(next, in: "next")
        try set(mode)
        let run = try bench.get(server.url, "--range", range)
        #expect(run.code == 0, "\(run)")
        let end = range.hasSuffix("599999") ? 600_000 : next.length
        #expect(FileSystem.contents(bench.folder.path("f")) == next.bytes(in: ByteRange(1000, end)))
    }

    @Test(arguments: ["nosize", "nosize states"]) func `a part that ends behind a file without SIZE ends with it`(
        mode: String
    ) throws {
        defer { end() }
        try set(mode)
        let run = try bench.get(server.url, "--range", "1000-9999999")
        #expect(run.code == 0, "\(run)")
        #expect(FileSystem.contents(bench.folder.path("f")) == Self.first.bytes(in: ByteRange(1000, 600_000)))
    }

    @Test func `the last bytes of a file without SIZE arrive where the transfer states its length`() throws {
        defer { end() }
        try set("nosize states")
        let run = try bench.get(server.url, "--range", "-1000")
        #expect(run.code == 0, "\(run)")
        #expect(FileSystem.contents(bench.folder.path("f")) == Self.first.bytes(in: ByteRange(599_000, 600_000)))
    }

    @Test(arguments: ["norest", "norest nosize"]) func `a server that cannot resume sends the whole file again`(
        mode: String
    ) throws {
        defer { end() }
        try leavePartial()
        try set(mode)
        let run = try bench.get(server.url)
        #expect(run.code == 0, "\(run)")
        #expect(run.description.contains("the server refuses the offset"), "\(run)")
        #expect(bench.folder.difference("f", from: Self.first) == nil)
    }

    @Test(arguments: ["", "nosize", "nosize 550"], [0, 1000, 300_000] as [Int64])
    func `a file that is shorter than the partial one is fetched anew`(mode: String, length: Int64) throws {
        defer { end() }
        try leavePartial("cut " + mode)
        let next = Payload(seed: 193, length: length)
        try put(next)
        try set(mode)
        let run = try bench.get(server.url)
        #expect(run.code == 0, "\(run)")
        #expect(bench.folder.difference("f", from: next) == nil)
    }

    @Test func `a server that does not confirm the end of a transfer is not waited for long`() throws {
        defer { end() }
        try set("silent nosize")
        let run = try bench.get(server.url, "--connect-timeout", "1", "--retries", "0")
        #expect(run.description.contains("the server did not confirm the end of the transfer"), "\(run)")
        #expect(run.code != 0 && bench.folder.names == ["f.part", "f.pawl"], "\(run)")
        try set("silent")
        #expect(try bench.get(server.url, "--connect-timeout", "1").code == 0)
        #expect(bench.folder.difference("f", from: Self.first) == nil)
    }

    @Test func `a reply that is there before its command delays nothing`() throws {
        defer { end() }
        try set("eager")
        let run = try bench.run("list-remote", "--connect-timeout", "5", "ftp://127.0.0.1:\(server.port)/")
        #expect(run.code == 0 && run.text.contains(" f"), "\(run.text)")
    }

    @Test(arguments: ["", ";type=i"]) func `the path of a folder is one failure that says so`(type: String) throws {
        defer { end() }
        try set("folder")
        let run = try bench.get(server.url + type)
        #expect(run.code == 3 && run.events("retry").isEmpty, "\(run)")
        #expect(run.message.contains(type.isEmpty ? "names a folder" : "reply 550"), "\(run)")
        #expect(bench.folder.names.isEmpty)
    }

    @Test func `a path with control characters is refused before a connection`() throws {
        defer { end() }
        let run = try bench.get(server.url + "%0Ax")
        #expect(run.code == 3 && run.events("retry").isEmpty, "\(run)")
        #expect(run.message.contains("control characters"), "\(run)")
    }

    @Test func `a finished file is not fetched again until it changes`() throws {
        defer { end() }
        for _ in 0..<2 { try #expect(bench.get(server.url).code == 0) }
        #expect(bench.folder.names == ["f"])
        let next = Payload(seed: 194, length: 600_001)
        try put(next)
        try #expect(bench.get(server.url).code == 0)
        #expect(bench.folder.difference("f (1)", from: next) == nil)
    }
}
