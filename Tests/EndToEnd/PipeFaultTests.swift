import Glibc
import PawlBase
import PawlTestKit
import Testing

/// `pawl pipe` where samples cannot be stored.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct PipeFaultTests {
    private func reasons(_ results: [JSON]) -> [String] { results.compactMap { $0["reason"]?.string } }

    private func run(_ bench: PipeBench, _ options: [String]) throws -> (code: Int32?, results: [JSON], errors: String)
    {
        let process = try bench.start(options)
        guard case .code(let code)? = process.wait() else { return (nil, [], process.errors) }
        return (code, try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }, process.errors)
    }

    @Test(arguments: [
        ("folder", 13, "a directory of that name exists; remove it"),
        ("dead", 13, "a symbolic link of that name leads to nothing; remove it"),
        ("link", 13, "a symbolic link of that name exists; remove it"),
        ("device", 16, "it is a device, a pipe or a socket, not a file; choose a file name"),
        ("pipe", 16, "it is a device, a pipe or a socket, not a file; choose a file name"),
        ("file", 13, "a file of that name with other content exists; choose another"),
        ("file/x", 18, "out/file is not a folder; choose another folder"),
        ("dead/x", 18, "the symbolic link out/dead leads to nothing; choose another folder"),
        ("circle/x", 18, "the symbolic link out/circle leads back to itself; choose another folder"),
        ("outside/x", 28, "a link in it leads out of the download root; give another folder"),
    ]) func `what is in the way of a sample is said, and stays as it is`(out: String, code: Int, why: String) throws {
        let bench = try PipeBench()
        func path(_ name: String) -> String { bench.folder.path("out/\(name)") }
        #expect(unsafe mkdir(bench.folder.path("out"), 0o700) == 0 && mkdir(path("folder"), 0o700) == 0)
        try FileSystem.write([1], to: path("file"))
        for (name, target) in [
            ("dead", "nothing"), ("link", "file"), ("device", "/dev/null"), ("circle", "circle"), ("outside", "/tmp"),
        ] { #expect(unsafe symlink(target, path(name)) == 0) }
        #expect(unsafe mkfifo(path("pipe"), 0o600) == 0)
        let names = FileSystem.names(in: bench.folder.path("out")).sorted()
        let url = bench.origin.serve("/a", bench.payload(1))
        try bench.write([#"{"url":"\#(url)","out":"\#(out)"}"#])
        let run = try run(bench, ["--to", "out"])
        #expect(run.code == Int32(code), "\(run)")
        #expect(reasons(run.results).first?.contains(": \(why)") == true, "\(run)")
        #expect(FileSystem.names(in: bench.folder.path("out")).sorted() == names)
        #expect(bench.contents("out/file") == [1])
    }

    @Test func `an absolute link that stays in the folder is followed`() throws {
        let bench = try PipeBench()
        func path(_ name: String) -> String { bench.folder.path("out/\(name)") }
        #expect(unsafe mkdir(bench.folder.path("out"), 0o700) == 0 && mkdir(path("inside"), 0o700) == 0)
        #expect(unsafe symlink(path("inside"), path("link")) == 0)
        let url = bench.origin.serve("/a", bench.payload(1))
        try bench.write(["x", "new/x"].map { #"{"url":"\#(url)","out":"link/\#($0)"}"# })
        let run = try run(bench, ["--to", "out"])
        #expect(run.code == 0, "\(run)")
        for name in ["x", "new/x"] { #expect(bench.contents("out/inside/\(name)") == bench.payload(1).bytes) }
    }

    @Test(arguments: ["dead", "circle"]) func `a link that leads to no folder is no target`(name: String) throws {
        let bench = try PipeBench()
        try bench.serve(1)
        #expect(unsafe symlink("nothing", bench.folder.path("dead")) == 0)
        #expect(unsafe symlink("circle", bench.folder.path("circle")) == 0)
        for path in [name, "\(name)/new"] {
            let run = try run(bench, ["--to", path])
            #expect(run.code == 18 && run.errors.contains("the symbolic link \(name) leads"), "\(run)")
        }
        #expect(bench.origin.log.records.isEmpty)
    }

    @Test(.enabled(if: MountedFolder.isAvailable), arguments: [[], ["--format", "tar", "--shard", "s"]])
    func `a full disk costs no sample that is reported, and the next run stores the others`(format: [String]) throws {
        let bench = try PipeBench()
        let disk = try MountedFolder(bytes: 1 << 20)
        let payloads = (0..<40).map { Payload(seed: UInt64($0), length: $0 % 4 == 0 ? 300_000 : 50_000) }
        try bench.write(
            payloads.enumerated().map { number, payload in
                #"{"url":"\#(bench.origin.serve("/\(number)", payload))","out":"s\#(number)","id":"s\#(number)"}"#
            })
        let full = try run(bench, ["--to", disk.path] + format)
        #expect(full.code == 9, "\(full)")
        if format.isEmpty {
            let why = reasons(full.results)
            #expect(full.results.count == 40 && !why.isEmpty, "\(full)")
            #expect(why.allSatisfy { $0.contains(disk.path) && $0.hasSuffix("free some space, then run it again") })
            #expect(disk.names.count == 40 - why.count)
            for (number, payload) in payloads.enumerated() where disk.names.contains("s\(number)") {
                #expect(FileSystem.difference(of: disk.path("s\(number)"), from: payload) == nil)
            }
        } else {
            #expect(full.results.isEmpty && disk.names.isEmpty, "\(full)")
            #expect(full.errors.contains("\(disk.path)"), "\(full)")
        }
        try disk.remount("size=64m")
        let next = try run(bench, ["--to", disk.path] + format)
        #expect(next.code == 0 && next.results.count == 40, "\(next)")
        guard format.isEmpty else { return #expect(disk.names.sorted() == ["s.jsonl", "s.tar"]) }
        for (number, payload) in payloads.enumerated() {
            #expect(FileSystem.difference(of: disk.path("s\(number)"), from: payload) == nil)
        }
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `a full folder for temporary files is named with its setting`()
        throws
    {
        let disk = try MountedFolder(bytes: 1 << 20)
        let bench = try PipeBench(environment: ["TMPDIR": disk.path])
        let url = bench.origin.serve("/large", Payload(seed: 1, length: 3_000_000))
        try bench.write([url])
        let run = try run(bench, [])
        #expect(run.code == 9, "\(run)")
        let why = reasons(run.results).first ?? ""
        #expect(why.contains(disk.path) && why.contains("set TMPDIR to another folder"), "\(run)")
    }
}
