import Glibc
import PawlTestKit
import Testing

/// `s3://` as a source and as a target, with the real program and a store of another language.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct `Object stores`
{
    private let bench: Bench
    private let store: ObjectStoreServer
    private let payload = Payload(seed: 31, length: 20_000_001)

    init() throws {
        bench = try Bench()
        store = try ObjectStoreServer()
    }

    private func start(_ arguments: [String], _ environment: [String: String] = [:]) throws -> PawlProcess {
        try PawlProcess(
            PawlBinary.path, ["get", "--retry-delay", "0.01", "--timeout", "20"] + arguments,
            environment: store.environment.merging(["HOME": bench.folder.path]) { $1 }.merging(environment) { $1 },
            folder: bench.folder.path)
    }

    /// The exit code of `pawl get`, and what it printed.
    private func get(
        _ arguments: String..., environment: [String: String] = [:]
    ) throws -> (code: PawlProcess.Exit?, errors: String) {
        let process = try start(arguments, environment)
        return (process.wait(), process.errors)
    }

    /// Stores an object with curl-independent bytes: through the program itself.
    private func put(_ key: String, _ payload: Payload) throws {
        let url = bench.origin.serve("/\(key.utf8.count)-\(payload.length)", payload)
        let run = try get(url, "--to", "s3://bucket/\(key)")
        #expect(run.code == .code(0), "\(run.errors)")
    }

    private func difference(_ name: String, _ payload: Payload) -> String? {
        FileSystem.difference(of: bench.folder.path(name), from: payload).map { "\($0)" }
    }

    @Test(arguments: ["plain.bin", "a b/c+d?#%41ü&=.bin", "ends with spaces  ", String(repeating: "long", count: 256)])
    func `an object is stored and fetched under a literal key`(key: String) throws {
        try put(key, payload)
        #expect(try store.state() == (["bucket/\(key)"], []))
        let run = try get("s3://bucket/\(key)", "-o", "got")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(difference("got", payload) == nil)
        #expect(!run.errors.contains("secret+key"))
    }

    @Test func `a small object is one request, and an equal one is not fetched again`() throws {
        let small = Payload(seed: 5, length: 1000)
        let url = bench.origin.serve("/small", small)
        for _ in 0..<2 { #expect(try get(url, "--to", "s3://bucket/").code == .code(0)) }
        #expect(try store.count("Put") == 1)
        #expect(try store.count("Create") == 0)
        let other = bench.origin.serve("/other", Payload(seed: 6, length: 1001))
        #expect(try get(other, "--to", "s3://bucket/small").code == .code(13))
        #expect(try get(other, "--to", "s3://bucket/small", "--if-exists", "overwrite").code == .code(0))
    }

    @Test(arguments: [true, false]) func `the checksum is verified too where the content changed in between`(
        isRight: Bool
    ) throws {
        let url = bench.origin.serve(
            "/changing", versions: [Payload(seed: 32, length: payload.length), payload], changing: .afterRequests(1))
        bench.origin.vary("/changing") { facts, behaviour in
            if facts.ordinal == 0 { behaviour.cut = .close(after: 1_000_000) }
        }
        try FileSystem.write(payload.bytes, to: bench.folder.path("copy"))
        let sum = try PawlProcess.run("/usr/bin/sha256sum", [bench.folder.path("copy")]).output.prefix(64)
        let digest = isRight ? String(sum) : String(repeating: "0", count: 64)
        let run = try get(url, "--to", "s3://bucket/changing", "--checksum", "sha-256=\(digest)")
        #expect(run.code == .code(isRight ? 0 : 32), "\(run.errors)")
        #expect(try get("s3://bucket/changing", "-o", "got").code == .code(isRight ? 0 : 3))
        if isRight { #expect(difference("got", payload) == nil) }
    }

    @Test func `lost responses and overload change nothing`() throws {
        let faults = ["Create", "UploadPart", "Complete"].flatMap { operation in
            ["lose", "slow", "internal"].map { "{\"op\": \"\(operation)\", \"do\": \"\($0)\"}" }
        }
        try store.control("{\"faults\": [\(faults.joined(separator: ","))]}")
        try put("lost", payload)
        // The upload of which only the response was lost is not left.
        #expect(try store.state() == (["bucket/lost"], []))
        try store.control(
            "{\"faults\": [{\"op\": \"Get\", \"do\": \"slow\"}, {\"op\": \"Get\", \"do\": \"internal\"}]}")
        let run = try get("s3://bucket/lost", "-o", "got")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(difference("got", payload) == nil)
    }

    @Test(arguments: [
        ("Head", 1, 3), ("Get", 1, 3), ("ListUploads", 1, 3), ("Create", 1, 3), ("UploadPart", 3, 1),
        ("Complete", 1, 1), ("Delete", 1, 0),
    ])
    // A last part that is shorter than the others is sent again.
    func `one signal ends it although the store hangs`(operation: String, count: Int, missing: Int) throws {
        let url = bench.origin.serve("/hung", payload)
        let begun = operation == "UploadPart" ? ["UploadPart", "UploadPart"] : []
        let faults = begun.map { "{\"op\": \"\($0)\", \"do\": \"pass\"}" }
        try store.control(
            "{\"faults\": [\((faults + ["{\"op\": \"\(operation)\", \"do\": \"hang\"}"]).joined(separator: ","))]}")
        let hung = try start([url, "--timeout", "3600", "--to", "s3://bucket/hung"])
        try store.wait(for: operation, count: count)
        hung.send(SIGTERM)
        #expect(hung.wait() == .code(7), "\(hung.errors)")
        #expect(hung.errors.contains("run the same command again"), "\(hung.errors)")
        let stored = try store.count("UploadPart")
        #expect(try get(url, "--to", "s3://bucket/hung").code == .code(0))
        #expect(try store.count("UploadPart") == stored + missing)
        #expect(try store.state() == (["bucket/hung"], []))
    }

    @Test func `another machine continues an upload that was killed`() throws {
        try store.control("{\"pace\": 0.2}")
        let url = bench.origin.serve("/killed", payload)
        let killed = try start([url, "--to", "s3://bucket/killed"])
        try store.wait(for: "UploadPart", count: 2)
        killed.send(SIGKILL)
        _ = killed.wait()
        try store.control("{\"pace\": 0}")
        // Nothing of the first run is left here: its folder is not used at all.
        let run = try get(url, "--to", "s3://bucket/killed")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(try store.count("Create") == 1)
        // The part that was on its way when the process was killed may have arrived or not.
        let continued = bench.origin.ended("/killed").contains { record in
            guard case .from(let start, _) = record.request.range else { return false }
            return start == 8 << 20 || start == 16 << 20
        }
        #expect(continued)
        #expect(try get("s3://bucket/killed", "-o", "got").code == .code(0))
        #expect(difference("got", payload) == nil)
        #expect(try get("s3://bucket/killed.pawl", "-o", "note").code == .code(3))
    }

    @Test func `parts that the store does not put together are not continued`() throws {
        try store.control(#"{"faults": [{"op": "Complete", "do": "refuse 400 InvalidPart"}]}"#)
        let url = bench.origin.serve("/parts", payload)
        let refused = try get(url, "--to", "s3://bucket/parts")
        #expect(refused.code == .code(22) && refused.errors.contains("InvalidPart"), "\(refused.errors)")
        #expect(try store.state().uploads.isEmpty)
        #expect(try get(url, "--to", "s3://bucket/parts").code == .code(0))
        #expect(try store.count("Create") == 2)
        #expect(try store.state() == (["bucket/parts"], []))
    }

    @Test(arguments: [("ExpiredToken", "the session token has expired"), ("AuthorizationHeaderMalformed", "--region")])
    func `a refusal without a body is explained`(code: String, words: String) throws {
        let faults = ["Head", "Get"].map { "{\"op\": \"\($0)\", \"do\": \"refuse 400 \(code)\"}" }
        try store.control("{\"faults\": [\(faults.joined(separator: ","))]}")
        let url = bench.origin.serve("/refused", payload)
        let run = try get(url, "--to", "s3://bucket/refused")
        #expect(run.code == .code(24) && run.errors.contains(words), "\(run.errors)")
    }

    @Test func `a prefix keeps apart keys that differ in a space at their end`() throws {
        let other = Payload(seed: 32, length: 901)
        try put("p/a", Payload(seed: 31, length: 900))
        try put("p/a ", other)
        try put("p/\u{301}mark", other)
        let run = try get("s3://bucket/p/", "-d", "p")
        #expect(run.code == .code(0), "\(run.errors)")
        let sizes = FileSystem.names(in: bench.folder.path("p")).compactMap {
            FileSystem.contents(bench.folder.path("p/\($0)"))?.count
        }
        #expect(sizes.sorted() == [900, 901, 901])
    }

    @Test func `files below a prefix have the names of their keys, byte for byte`() throws {
        let keys = [
            ".zarray", ".git/config", "back\\slash", "...", "-", "-rf", "tab\there", " space ", "a.bin", "a.bin.part",
            "a.bin.pawl", "caf\u{E9}", "cafe\u{301}", "K", "\u{212A}", "zero\u{200C}width",
        ]
        for key in keys { try store.put(public: "p/\(key)", key) }
        try store.put(public: "p/dir/", "content")
        try store.put(public: "p/empty/", "")
        let run = try get("s3://public/p/", "-d", "d", "--recursive")
        #expect(run.code == .code(28), "\(run.errors)")
        #expect(run.errors.contains("s3://public/p/dir/: its key ends with /") && !run.errors.contains("p/empty/"))
        for key in keys {
            #expect(FileSystem.contents(bench.folder.path("d/\(key)")) == Array(key.utf8), "\(key.debugDescription)")
        }
        #expect(FileSystem.names(in: bench.folder.path("d")).count == keys.count)
        let fetched = try store.count("Get")
        #expect(try get("s3://public/p/", "-d", "d", "--recursive").code == .code(28))
        #expect(try store.count("Get") == fetched)
    }

    @Test func `a wrong clock is corrected once`() throws {
        try put("clock", Payload(seed: 7, length: 10))
        try store.control("{\"skew\": 7200}")
        #expect(try get("s3://bucket/clock", "-o", "got").code == .code(0))
    }

    @Test func `only what a folder lacks of a prefix is fetched`() throws {
        for (index, key) in ["p/1", "p/2", "p/3.txt", "p/4", "p/sub/5"].enumerated() {
            try put(key, Payload(seed: UInt64(index), length: Int64(100 + index)))
        }
        let fetched = try store.count("Get")
        #expect(try get("s3://bucket/p/", "-d", "d", "--exclude", "*.txt").code == .code(0))
        #expect(try store.count("Get") == fetched + 3)
        #expect(try get("s3://bucket/p/", "-d", "d", "--recursive").code == .code(0))
        #expect(try store.count("Get") == fetched + 5)
        #expect(difference("d/sub/5", Payload(seed: 4, length: 104)) == nil)
        let changed = bench.origin.serve("/changed", Payload(seed: 9, length: 50))
        #expect(try get(changed, "--to", "s3://bucket/p/1", "--if-exists", "overwrite").code == .code(0))
        #expect(try get("s3://bucket/p/", "-d", "d", "--recursive").code == .code(0))
        #expect(difference("d/1", Payload(seed: 9, length: 50)) == nil)
        #expect(try get("s3://bucket/none/", "-d", "d").code == .code(3))
    }

    @Test func `wrong credentials, no bucket and no store are distinguished`() throws {
        let secret = try get("s3://bucket/x", environment: ["AWS_SECRET_ACCESS_KEY": "wrong-secret"])
        #expect(secret.code == .code(24) && secret.errors.contains("does not belong to the access key"))
        #expect(!secret.errors.contains("wrong-secret"))
        let key = try get("s3://bucket/x", environment: ["AWS_ACCESS_KEY_ID": "other"])
        #expect(key.code == .code(24) && key.errors.contains("does not know the access key"))
        #expect(try get("s3://bucket/x", "--no-sign-request").code == .code(24))
        #expect(try get("s3://missing/x").code == .code(3))
        #expect(try get("s3://bucket/x").code == .code(3))
        let page = bench.origin.serve("/bucket/x", Payload(seed: 1, length: 5))
        let other = try get("s3://missing/x", "--endpoint-url", String(page.dropLast("/bucket/x".count)))
        #expect(other.errors.contains("did not respond as an object store does"), "\(other.errors)")
        #expect(try get("http://127.0.0.1/x", "--to", "s3://bucket/").code != .code(0))
        #expect(try get("s3://bucket/../x").code == .code(28))
    }
}
