import Glibc
import PawlBase
import PawlTestKit
import Testing

/// `pawl pipe --to s3://`, with the real program and a store of another language.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct `Samples in an object store`
{
    private let store: ObjectStoreServer
    private let bench: PipeBench
    private let files = ["--to", "s3://public/data"]
    private let tar = ["--to", "s3://public/data/", "--format", "tar", "--shard", "s"]

    init() throws {
        store = try ObjectStoreServer()
        bench = try PipeBench(growth: 60_000, environment: store.environment)
    }

    private func statuses(_ results: [JSON]) -> Set<String> { Set(results.compactMap { $0["status"]?.string }) }

    /// The bytes of an object.
    private func object(_ key: String) throws -> [UInt8]? {
        let name = "got-\(key.replacing("/", with: "-"))"
        FileSystem.remove(bench.folder.path(name))
        let process = try PawlProcess.run(
            PawlBinary.path, ["get", "s3://public/\(key)", "-o", name], environment: store.environment,
            folder: bench.folder.path)
        return process.exit == .code(0) ? bench.contents(name) : nil
    }

    @Test func `each sample is an object, and is not requested again`() throws {
        try bench.serve(8)
        let (code, results) = try bench.run(files + ["--ordered"])
        #expect(code == 0 && statuses(results) == ["ok"])
        #expect(try store.state().objects == (0..<8).map { "public/data/s\($0).jpg" })
        #expect(try object("data/s7.jpg") == bench.payload(7).bytes)
        let again = try bench.run(files + ["--ordered"])
        #expect(again.code == 0 && statuses(again.results) == ["already"])
        for name in ["sha256", "bytes", "key"] { #expect(again.results.map { $0[name] } == results.map { $0[name] }) }
        #expect(bench.origin.log.of("/7.jpg").count == 1)
        let other = bench.origin.serve("/other", Payload(text: "other"))
        try bench.write([#"{"url":"\#(other)","out":"s1.jpg"}"#])
        #expect(try bench.run(files).code == 13)
        #expect(try object("data/s1.jpg") == bench.payload(1).bytes)
    }

    @Test(.enabled(if: MountedFolder.isAvailable))
    func `a full folder for the copy of a shard publishes nothing and leaves no upload`() throws {
        let disk = try MountedFolder(bytes: 6 << 20)
        let environment = store.environment.merging(["TMPDIR": disk.path]) { $1 }
        let bench = try PipeBench(growth: 60_000, environment: environment)
        let lines = (0..<12).map { number in
            let url = bench.origin.serve("/\(number)", Payload(seed: UInt64(number), length: 900_000))
            return #"{"url":"\#(url)","id":"s\#(number)"}"#
        }
        try bench.write(lines)
        let full = try bench.start(tar)
        #expect(full.wait() == .code(9) && full.lines.isEmpty, "\(full.errors)")
        #expect(full.errors.contains("set TMPDIR to another folder"), "\(full.errors)")
        #expect(try store.state().objects.isEmpty && store.state().uploads.isEmpty)
        try disk.remount("size=64m")
        let next = try bench.run(tar)
        #expect(next.code == 0 && next.results.count == 12)
        #expect(try store.state().objects == ["public/data/s.jsonl", "public/data/s.tar"])
    }

    @Test func `an object of an earlier run is compared with the digests that its job states`() throws {
        let payload = Payload(seed: 6, length: 70_001)
        let url = bench.origin.serve("/p.jpg", payload)
        let md5 = Hexadecimal.text(MessageDigest5.digest(payload.bytes))
        try bench.write([#"{"url":"\#(url)","out":"p.jpg"}"#])
        let (_, stored) = try bench.run(files)
        let sha256 = try #require(stored.first?["sha256"]?.string)
        // One is stored with the object, for the other its bytes are read.
        for digest in ["sha256=\(sha256)", "md5=\(md5)"] {
            try bench.write([#"{"url":"\#(url)#\#(digest)","out":"p.jpg"}"#])
            let (code, results) = try bench.run(files)
            #expect(code == 0 && statuses(results) == ["already"], "\(results)")
        }
        for digest in ["sha256=\(String(sha256.reversed()))", "md5=\(String(md5.reversed()))"] {
            try bench.write([#"{"url":"\#(url)#\#(digest)","out":"p.jpg"}"#])
            let (code, results) = try bench.run(files)
            let text = results.first?["reason"]?.string ?? ""
            #expect(code == 32 && text.contains("its checksum is not the job's"), "\(results)")
        }
        #expect(bench.origin.log.of("/p.jpg").count == 1)
        #expect(try object("data/p.jpg") == payload.bytes)
    }

    @Test func `an object of the endpoint is fetched where private addresses are refused`() throws {
        let payload = Payload(seed: 5, length: 70_001)
        let url = bench.origin.serve("/p.jpg", payload)
        try bench.write([url])
        let stored = try bench.run(["--to", "s3://public/in"])
        let key = try #require(stored.results.first?["key"]?.string)
        try bench.write(["s3://public/in/\(key)", url])
        let options = ["--robots", "ignore", "--to", "out", "--ordered"]
        let (code, results) = try bench.run(options, with: PipeBench.short)
        #expect(code == 33)
        #expect(results.map { $0["status"]?.string } == ["ok", "refused"])
        #expect(results.first?["bytes"]?.integer == 70_001)
    }

    @Test func `an address is requested once for all its objects`() throws {
        let small = bench.origin.serve("/a.bin", Payload(seed: 3, length: 900_000))
        // Of a large one, parts may be requested over several connections.
        let large = bench.origin.serve("/b.bin", Payload(seed: 4, length: 10_000_000))
        let jobs = (0..<5).map { #"{"url":"\#(small)","id":\#($0)}"# }
        try bench.write(jobs + [#"{"url":"\#(large)","id":5}"#])
        #expect(try bench.run(files).code == 0)
        #expect(bench.origin.ended("/a.bin").count == 1)
        #expect(try store.state().objects.count == 6 && store.state().uploads.isEmpty)
        #expect(try object("data/4.bin") == Payload(seed: 3, length: 900_000).bytes)
        #expect(try object("data/5.bin") == Payload(seed: 4, length: 10_000_000).bytes)
    }

    @Test func `a store that cannot be used ends the run before anything is requested`() throws {
        try bench.serve(2)
        let missing = try bench.start(["--to", "s3://missing/data"])
        #expect(missing.wait() == .code(3) && missing.errors.contains("has no bucket missing"), "\(missing.errors)")
        let other = try PipeBench(
            environment: store.environment.merging(["AWS_SECRET_ACCESS_KEY": "wrong-secret"]) { $1 })
        try other.serve(2)
        let refused = try other.start(["--to", "s3://bucket/data"])
        #expect(refused.wait() == .code(24) && !refused.errors.contains("wrong-secret"), "\(refused.errors)")
        #expect(refused.errors.contains("does not belong to the access key"), "\(refused.errors)")
        #expect(bench.origin.log.records.isEmpty && other.origin.log.records.isEmpty)
        #expect(try store.state().objects.isEmpty)
    }

    /// A store that ends after its first response.
    private static let mortal = """
        import socket, sys
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(sys.argv[1])))
        listener.listen(5)
        while True:
            client, _ = listener.accept()
            if client.recv(4096):
                listener.close()
                client.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n")
                break
        """

    @Test func `samples fail at once after some whose store could not be connected to`() throws {
        try bench.write((0..<200).map { bench.origin.serve("/n/\($0)", Payload(text: "abc")) })
        let port = try FreePort.choose()
        let folder = try TemporaryFolder()
        let dying = try ServerProcess("python3", ["-c", Self.mortal, "\(port)"], in: folder, ports: [port])
        let options = ["--endpoint-url", "http://127.0.0.1:\(port)", "--no-sign-request", "--retries", "0", "-q"]
        let (code, results) = try withExtendedLifetime(dying) { try bench.run(files + options) }
        #expect(code == 6 && results.count == 200)
        #expect(statuses(results) == ["failed"])
        let reasons = results.map { $0["reason"]?.string ?? "" }
        // As many as there are threads may have begun before.
        #expect(reasons.count { $0.contains("since the store could not be connected to repeatedly") } > 150)
        #expect(bench.origin.log.records.isEmpty)
    }

    @Test func `a web server is no store`() throws {
        try bench.serve(1)
        let page = bench.origin.serve("/public", Payload(text: "<html></html>")) { $0.contentType = "text/html" }
        let process = try PawlProcess(
            PawlBinary.path,
            ["pipe", "-i", "jobs", "--endpoint-url", String(page.dropLast("/public".count))] + PipeBench.local + files,
            environment: store.environment, folder: bench.folder.path)
        #expect(process.wait() == .code(22))
        #expect(process.errors.contains("did not respond as an object store does: it sent a web page"))
        #expect(bench.origin.log.of("/0.jpg").isEmpty)
    }

    @Test func `a signal ends it although the store does not respond`() throws {
        try bench.serve(1)
        let page = bench.origin.serve("/public", Payload(text: "late")) { $0.delay = .untilReleased }
        let process = try PawlProcess(
            PawlBinary.path,
            ["pipe", "-i", "jobs", "--grace", "0.1", "--endpoint-url", String(page.dropLast("/public".count))]
                + PipeBench.local + tar, environment: store.environment, folder: bench.folder.path)
        bench.origin.wait(requests: 1, of: "/public")
        process.send(SIGTERM)
        #expect(process.wait() == .code(7))
    }

    @Test(arguments: [false, true]) func `a server that has something under every key is no store`(isShard: Bool) throws
    {
        try bench.serve(1)
        let bucket = bench.origin.serve("/public", Payload(text: "ok"))
        for key in ["s0.jpg", "s.tar", "s.jsonl"] {
            let page = Payload(seed: 5, length: 9000)
            _ = bench.origin.serve("/public/data/\(key)", page) { $0.validators = .none }
        }
        let process = try PawlProcess(
            PawlBinary.path,
            ["pipe", "-i", "jobs", "--endpoint-url", String(bucket.dropLast("/public".count))] + PipeBench.local
                + (isShard ? tar : files), environment: store.environment, folder: bench.folder.path)
        #expect(process.wait() == .code(22))
        let said = process.errors + process.output
        #expect(said.contains("did not respond as an object store does: it sent no entity tag"), "\(said)")
        #expect(bench.origin.log.of("/0.jpg").isEmpty)
    }

    @Test func `a shard is the one that a folder gets`() throws {
        try bench.serve(20)
        #expect(try bench.run(["--to", "out", "--format", "tar", "--shard", "s"]).code == 0)
        let (code, results) = try bench.run(tar)
        #expect(code == 0 && results.map { $0["n"]?.integer } == (0..<20).map { Int64($0) })
        #expect(try store.count("Create") == 1, "it has parts")
        #expect(try store.state() == (["public/data/s.jsonl", "public/data/s.tar"], []))
        let (whole, manifest) = (bench.contents("out/s.tar"), bench.contents("out/s.jsonl"))
        #expect(try object("data/s.tar") == whole && object("data/s.jsonl") == manifest)
        let requests = bench.origin.log.records.count
        // A kill between the two objects leaves the archive, which has the manifest.
        try store.delete(public: "data/s.jsonl")
        let again = try bench.run(tar)
        #expect(again.code == 0 && statuses(again.results) == ["already"])
        #expect(bench.origin.log.records.count == requests)
        #expect(try object("data/s.jsonl") == manifest)
        try bench.serve(3)
        let other = try bench.run(tar)
        #expect(other.code == 13 && other.results.isEmpty)
        #expect(try object("data/s.tar") == whole)
    }

    @Test(arguments: ["tar", "warc"]) func `two workers on one shard publish it once, whatever the store loses`(
        format: String
    ) throws {
        try bench.serve(24)
        let faults = ["Create", "UploadPart", "Complete", "Put", "Head"].flatMap { operation in
            ["lose", "slow", "internal"].map { "{\"op\": \"\(operation)\", \"do\": \"\($0)\"}" }
        }
        try store.control("{\"faults\": [\(faults.joined(separator: ","))]}")
        let options = ["--to", "s3://public", "--format", format, "--shard", "s", "--retries", "9"]
        let workers = try (0..<2).map { _ in try bench.start(options) }
        for worker in workers {
            #expect(worker.wait() == .code(0), "\(worker.errors)")
            let lines = try worker.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
            #expect(lines.map { $0["n"]?.integer } == (0..<24).map { Int64($0) })
            #expect(statuses(lines).isSubset(of: ["ok", "already"]))
        }
        #expect(try store.state().objects.count == 2 && store.state().uploads.isEmpty)
        let again = try bench.run(options)
        #expect(again.code == 0 && statuses(again.results) == ["already"])
    }

    @Test func `killed at any moment it leaves nothing or a whole shard`() throws {
        try bench.serve(24)
        #expect(try bench.run(["--to", "out", "--format", "tar", "--shard", "s"]).code == 0)
        let whole = bench.contents("out/s.tar")
        try store.control("{\"pace\": 0.05}")
        for operation in ["Complete", "Put", "Create", "UploadPart", "UploadPart"] {
            let wanted = try store.count(operation) + (operation == "UploadPart" ? 2 : 1)
            let process = try bench.start(tar + ["-j", "4"])
            try store.wait(for: operation, count: wanted)
            process.send(SIGKILL)
            process.wait()
            let left = try store.state().objects
            #expect(left.isEmpty || left.contains("public/data/s.tar"))
            if !left.isEmpty { #expect(try object("data/s.tar") == whole) }
            // What comes next finds a bucket without the shard.
            for name in ["s.tar", "s.jsonl"] { try store.delete(public: "data/" + name) }
        }
        #expect(try !store.state().uploads.isEmpty, "a kill left parts")
        #expect(try bench.run(tar).code == 0)
        #expect(try store.state() == (["public/data/s.jsonl", "public/data/s.tar"], []))
        #expect(try object("data/s.tar") == whole)
    }

    @Test(.enabled(if: MountedFolder.isAvailable), arguments: ["s3://public/data", "out"])
    func `a shard without a sample that the disk had no room for is not published`(target: String) throws {
        let disk = try MountedFolder(bytes: 2 << 20)
        var environment = store.environment
        environment["TMPDIR"] = disk.path
        let bench = try PipeBench(environment: environment)
        let url = bench.origin.serve("/large.bin", Payload(seed: 1, length: 3 << 20))
        try bench.write([#"{"url":"\#(url)","id":"large"}"#])
        // A folder keeps its drafts on its own file system.
        let options = ["--to", target == "out" ? disk.path("out") : target, "--format", "tar", "--shard", "s"]
        let process = try bench.start(options)
        #expect(process.wait() == .code(9))
        #expect(process.output.isEmpty)
        let advice =
            target == "out" ? "free some space, then" : "free some space there, or set TMPDIR to another folder, then"
        #expect(process.errors.contains(advice + " run it again"), "\(process.errors)")
        #expect(try store.state().objects.isEmpty && store.state().uploads.isEmpty)
        try disk.remount("size=16m")
        let (code, results) = try bench.run(options)
        #expect(code == 0 && statuses(results) == ["ok"])
    }

    @Test func `a signal leaves no parts`() throws {
        try bench.serve(24)
        bench.origin.adjust("/23.jpg") { $0.delay = .untilReleased }
        let process = try bench.start(tar)
        try store.wait(for: "UploadPart", count: 1)
        process.send(SIGTERM)
        #expect(process.wait() == .code(7))
        #expect(try store.state() == ([], []))
    }
}
