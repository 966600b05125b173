import Glibc
import PawlSystem
import PawlTestKit
import Testing

@Suite(.ownThreads) struct DescriptorTests {
    /// From none for the loop to enough for two downloads; with `-4`, libcurl connects.
    @Test(arguments: [[], ["-4"]]) func `with too few file descriptors a run fails with a reason, or succeeds`(
        options: [String]
    ) throws {
        let bench = try IntegrityBench()
        let first = bench.origin.serve("/first", Payload(seed: 1, length: 100_000))
        let second = bench.origin.serve("/second", Payload(seed: 2, length: 100_000))
        var codes: Set<Int32> = []
        for limit in 5...24 {
            let command = ["-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", PawlBinary.path]
            let get = ["get", "-q", "--retries", "0", "--dir", "\(limit)"] + options + [first, second]
            let run = try bench.run("/bin/sh", command + get)
            #expect(run.code == 0 || run.code != nil && run.errors.hasPrefix("pawl: "), "\(limit): \(run)")
            #expect(!run.errors.contains("install"), "\(limit): \(run)")
            if let code = run.code { codes.insert(code) }
        }
        // Which descriptor is the one too many decides whether libcurl or a file cannot be opened.
        #expect(codes.contains(0) && !codes.isDisjoint(with: options.isEmpty ? [16] : [1, 16]), "\(codes)")
    }

    /// Fewer run at once than were requested; with the second limits the soft one is raised.
    @Test(arguments: ["ulimit -n 64", "ulimit -Sn 40; ulimit -Hn 4096"])
    func `a download waits for a descriptor and uses up no retry`(limits: String) throws {
        let bench = try IntegrityBench()
        let payload = Payload(seed: 3, length: 300_000)
        let sources = (0..<120).map { bench.origin.serve("/\($0)", payload) }
        let command = ["-c", "\(limits); exec \"$0\" \"$@\"", PawlBinary.path]
        let get = ["get", "-q", "--retries", "0", "--jobs", "100", "--dir", "all"]
        let run = try bench.run("/bin/sh", command + get + sources)
        #expect(run.code == 0, "\(run)")
        let names = FolderNames.read(bench.folder.path("all"))
        #expect(names.count == 120 && names.allSatisfy { Int($0) != nil }, "\(names)")
    }

    /// The sink needs one while the transfers have all others.
    ///
    /// Each file is in a folder of its own, which needs one, too.
    @Test(arguments: [18, 64], [[], ["--format", "tar", "--shard", "s"]])
    func `pawl pipe stores every sample with few descriptors`(limit: Int, format: [String]) throws {
        let bench = try PipeBench()
        try bench.write((0..<60).map { bench.origin.serve("/\($0)", Payload(seed: UInt64($0), length: 2000)) })
        let run = try pipe(bench, limit, places: 64, format)
        #expect(run.exit == .code(0), "\(run.errors)")
        #expect(run.lines.count { $0.contains(#""status":"ok""#) } == 60, "\(run.errors)")
    }

    @Test(arguments: [[], ["--format", "tar", "--shard", "s"]])
    func `pawl pipe says at its start how many descriptors it needs, and runs with them`(format: [String]) throws {
        let bench = try PipeBench()
        try bench.write((0..<20).map { bench.origin.serve("/\($0)", Payload(seed: UInt64($0), length: 2000)) })
        var isEnough = false
        for limit in 8...24 where !isEnough {
            let run = try pipe(bench, limit, places: 8, format)
            isEnough = run.exit == .code(0)
            guard !isEnough else { break }
            #expect(run.exit == .code(15) && run.lines.isEmpty, "\(limit): \(run.errors)")
            #expect(run.errors.hasPrefix("pawl: cannot start with \(limit) descriptors: this needs at least "))
            #expect(bench.origin.log.records.isEmpty, "nothing is requested in vain")
        }
        #expect(isEnough)
    }

    private func pipe(_ bench: PipeBench, _ limit: Int, places: Int, _ format: [String]) throws -> PawlProcess {
        let pipe =
            ["pipe", "-i", "jobs", "--to", "out", "-j", "\(places)", "--per-host", "\(places)"] + ["--host-delay", "0"]
            + PipeBench.local + format
        return try PawlProcess.run(
            "/bin/sh", ["-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", PawlBinary.path] + pipe,
            environment: ["HOME": bench.folder.path], folder: bench.folder.path)
    }

    @Test func `a program that is started gets the soft limit that Pawl was started with`() throws {
        let bench = try IntegrityBench()
        let source = bench.origin.serve("/file", Payload(seed: 4, length: 1000))
        // The hook is not waited for: its reader waits for it.
        let (hook, limit) = (bench.folder.path("hook"), bench.folder.path("limit"))
        try bench.write("hook", Array("#!/bin/sh\nexec >/dev/null 2>&1\nulimit -Sn >\"\(limit)\"\n".utf8))
        #expect(unsafe chmod(hook, 0o755) == 0 && mkfifo(limit, 0o600) == 0)
        let command = ["-c", "ulimit -Sn 99; exec \"$0\" \"$@\"", PawlBinary.path]
        let aria2c = ["aria2c", "--no-conf", "--on-download-complete=\(hook)", source]
        let run = try bench.run("/bin/sh", command + aria2c)
        #expect(run.code == 0, "\(run)")
        #expect(try bench.run("/bin/cat", [limit]).lines == ["99"])
    }
}
