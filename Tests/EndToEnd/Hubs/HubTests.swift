import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

/// `hf://` with the real program, against a hub of another language.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct `Model hubs`
{
    private let folder: TemporaryFolder
    private let hub: HubServer
    private let weights = Payload(seed: 45, length: 3_000_001)

    init() throws {
        folder = try TemporaryFolder()
        hub = try HubServer()
        try hub.put("config.json", Array(#"{"model_type":"bert"}"#.utf8))
        try hub.put("sub/a b.txt", Array("text\n".utf8))
        try hub.put("sub/same.json", Array(#"{"model_type":"bert"}"#.utf8))
        try hub.put("empty", [])
        try hub.put("model.safetensors", weights.bytes)
    }

    private var environment: [String: String] {
        ["HF_ENDPOINT": hub.endpoint, "HF_HOME": folder.path("hf"), "HOME": folder.path]
    }

    private func get(
        _ arguments: String..., environment added: [String: String] = [:]
    ) throws -> (code: PawlProcess.Exit?, errors: String) {
        let process = try PawlProcess(
            PawlBinary.path, ["get", "--retry-delay", "0.01", "--timeout", "20"] + arguments,
            environment: environment.merging(added) { $1 }, folder: folder.path)
        return (process.wait(), process.errors)
    }

    private func list(_ arguments: String...) throws -> [JSON] {
        let process = try PawlProcess(
            PawlBinary.path, ["list-remote", "--json"] + arguments, environment: environment, folder: folder.path)
        #expect(process.wait() == .code(0), "\(process.errors)")
        return process.output.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }
    }

    private func python(_ text: String, offline: Bool = true) throws -> PawlProcess {
        let own = environment.merging(["HF_HUB_OFFLINE": offline ? "1" : "0", "HF_HUB_DISABLE_XET": "1"]) { $1 }
        let process = try PawlProcess(HubClients.path, ["-c", text], environment: own, folder: folder.path)
        process.wait()
        return process
    }

    private func difference(_ name: String) -> String? {
        FileSystem.difference(of: folder.path(name), from: weights).map { "\($0)" }
    }

    @Test func `a repository becomes a folder, by its commit, and is not fetched again`() throws {
        let run = try get("hf://org/model", "-d", "out")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(difference("out/model.safetensors") == nil)
        #expect(FileSystem.contents(folder.path("out/sub/a b.txt")) == Array("text\n".utf8))
        #expect(FileSystem.size(folder.path("out/empty")) == 0)
        let log = try hub.log()
        let files = log.filter { $0["path"]?.string?.contains("/resolve/") == true }
        #expect(files.count == 5 && !files.contains { $0["path"]?.string?.contains("/resolve/main/") == true })
        try hub.forget()
        let again = try get("hf://org/model", "-d", "out")
        #expect(again.code == .code(0) && again.errors.contains("5 are there already"), "\(again.errors)")
        #expect(try hub.log().count == 2)
        let some = try get("hf://org/model", "-d", "some", "--include", "*.json", "--exclude", "sub/*")
        #expect(some.code == .code(0) && FileSystem.names(in: folder.path("some")) == ["config.json"], "\(some.errors)")
        let one = try get("hf://org/model@main/sub/a b.txt", "-o", "one")
        #expect(one.code == .code(0) && FileSystem.size(folder.path("one")) == 5, "\(one.errors)")
    }

    @Test func `a repository is listed with sizes and digests, and nothing is downloaded`() throws {
        let entries = try list("hf://org/model", "--exclude", "sub/*")
        #expect(entries.compactMap { $0["path"]?.string }.sorted() == ["config.json", "empty", "model.safetensors"])
        let large = try #require(entries.first { $0["path"]?.string == "model.safetensors" })
        #expect(large["total"]?.integer == 3_000_001 && large["isExact"]?.bool == true)
        #expect(large["checksum"]?.string?.hasPrefix("sha-256=") == true)
        #expect(try hub.log().allSatisfy { $0["path"]?.string?.contains("/resolve/") == false })
        #expect(!FileSystem.exists(folder.path("hf")))
    }

    @Test func `the token goes to the hub and to no other host`() throws {
        try hub.control(#"{"private":["org/model"]}"#)
        let without = try get("hf://org/model", "-d", "out")
        #expect(without.code == .code(24) && without.errors.contains("or it is private"), "\(without.errors)")
        let run = try get("hf://org/model", "-d", "out", "-v", environment: ["HF_TOKEN": HubServer.token])
        #expect(run.code == .code(0) && difference("out/model.safetensors") == nil, "\(run.errors)")
        #expect(!run.errors.contains(HubServer.token))
        let log = try hub.log()
        let others = log.filter { $0["server"]?.string == "cdn" }
        #expect(!others.isEmpty && others.allSatisfy { $0["authorization"]?.string == nil })
        #expect(log.contains { $0["authorization"]?.string == "Bearer \(HubServer.token)" })
        // The place of huggingface_hub's login.
        try FolderPath.make(folder.path("hf"))
        try FileSystem.write(Array((HubServer.token + "\n").utf8), to: folder.path("hf/token"))
        #expect(try get("hf://org/model", "-d", "other").code == .code(0))
        // A listing that goes on elsewhere is not followed.
        try hub.forget()
        try hub.control(#"{"page":2,"elsewhere":true}"#)
        let elsewhere = try get("hf://org/model", "-d", "third")
        #expect(elsewhere.code == .code(22) && elsewhere.errors.contains("another host"), "\(elsewhere.errors)")
        #expect(try hub.log().allSatisfy { $0["server"]?.string == "hub" })
    }

    @Test func `a byte that is not the hub's is never published`() throws {
        try hub.control(#"{"flip":["model.safetensors","config.json"]}"#)
        let run = try get("hf://org/model", "-d", "out")
        #expect(run.code == .code(32) && run.errors.contains("checksum mismatch"), "\(run.errors)")
        #expect(!FileSystem.exists(folder.path("out/model.safetensors")))
        #expect(!FileSystem.exists(folder.path("out/config.json")))
        #expect(FileSystem.exists(folder.path("out/sub/a b.txt")))
        // In the cache neither, and the revision has no name while a file is missing.
        let cached = try get("hf://org/model")
        #expect(cached.code == .code(32), "\(cached.errors)")
        let cache = folder.path("hf/hub/models--org--model")
        #expect(FileSystem.names(in: cache + "/snapshots").count == 1 && !FileSystem.exists(cache + "/refs/main"))
        try hub.control(#"{"flip":[]}"#)
        #expect(try get("hf://org/model", "--retry-corrupt").code == .code(0))
        #expect(FileSystem.exists(cache + "/refs/main"))
    }

    @Test func `signed URLs that expire are asked for anew, and what was received stays`() throws {
        try hub.control(#"{"cut":1000000,"uses":1}"#)
        let run = try get("hf://org/model/model.safetensors", "-d", "out", "-x", "1")
        #expect(run.code == .code(0) && difference("out/model.safetensors") == nil, "\(run.errors)")
        let log = try hub.log()
        let parts = log.filter { $0["server"]?.string == "cdn" }.compactMap { $0["range"]?.string }
        #expect(parts.count >= 2 && !parts.contains { $0.hasPrefix("bytes=0-") })
        #expect(log.count { $0["path"]?.string?.contains("/resolve/") == true } >= 2)
    }

    @Test func `killed again and again, it goes on where it was`() throws {
        let file = Payload(seed: 60, length: 16_000_001)
        try hub.put("w.bin", file.bytes, in: "org/big")
        try hub.control(#"{"pace":0.002}"#)
        let blobs = folder.path("hf/hub/models--org--big/blobs")
        var written: Int64 = 0
        for _ in 0..<8 {
            try hub.forget()
            let process = try PawlProcess(
                PawlBinary.path, ["get", "-q", "-x", "1", "hf://org/big"], environment: environment,
                folder: folder.path)
            try hub.wait(forSent: 1_500_000)
            process.send(SIGKILL)
            #expect(process.wait() == .signal(SIGKILL))
            let request = try hub.log().first { $0["path"]?.string?.contains("/resolve/") == true }
            let start = request?["range"]?.string?.dropFirst(6).prefix { $0 != "-" }
            // What is compared, and a write whose end was not recorded.
            #expect(start.flatMap { Int64($0) } ?? 0 >= written - ((64 + 512) << 10))
            let part = FileSystem.names(in: blobs).first { $0.hasSuffix(".part") }
            written = part.flatMap { FileSystem.size("\(blobs)/\($0)") } ?? 0
        }
        #expect(written > 2_000_000)
        try hub.control(#"{"pace":0}"#)
        let run = try get("hf://org/big")
        #expect(run.code == .code(0), "\(run.errors)")
        let names = FileSystem.names(in: blobs)
        #expect(names.count == 1 && FileSystem.difference(of: "\(blobs)/\(names[0])", from: file) == nil)
    }

    @Test func `another hub serves what the digests of the first allow, and gets no token`() throws {
        let mirror = try HubServer()
        try mirror.put("model.safetensors", weights.bytes)
        for (path, text) in [("config.json", #"{"model_type":"bert"}"#), ("sub/a b.txt", "text\n"), ("empty", "")] {
            try mirror.put(path, Array(text.utf8))
        }
        try mirror.put("sub/same.json", Array(#"{"model_type":"bert"}"#.utf8))
        // A hub knows the commits that it was asked for.
        _ = try PawlProcess.run("/usr/bin/curl", ["-sS", mirror.endpoint + "/api/models/org/model/revision/main"])
        try mirror.forget()
        // The first one breaks off each large response.
        try hub.control(#"{"cut":65536}"#)
        let token = ["HF_TOKEN": HubServer.token]
        let run = try get(
            "hf://org/model", "-d", "out", "--mirror", mirror.endpoint, "--retries", "1", environment: token)
        #expect(run.code == .code(0) && difference("out/model.safetensors") == nil, "\(run.errors)")
        let asked = try mirror.log()
        #expect(asked.contains { $0["path"]?.string?.contains("model.safetensors") == true }, "\(run.errors)")
        #expect(asked.allSatisfy { $0["authorization"]?.string == nil })
        // What another hub has instead is never given the name.
        try mirror.control(#"{"flip":["model.safetensors"]}"#)
        let wrong = try get("hf://org/model", "-d", "wrong", "--mirror", mirror.endpoint, "--retries", "1")
        #expect(wrong.code == .code(0) || wrong.code == .code(32), "\(wrong.errors)")
        if FileSystem.exists(folder.path("wrong/model.safetensors")) {
            #expect(difference("wrong/model.safetensors") == nil)
        }
        let tree = try get("--recursive", "http://127.0.0.1:1/x/", "--mirror", mirror.endpoint)
        #expect(tree.code == .code(28) && tree.errors.contains("for a repository of a hub"), "\(tree.errors)")
        let bad = try get("hf://org/model", "--mirror", "ftp://127.0.0.1/")
        #expect(bad.code == .code(28) && bad.errors.contains("not the URL of a hub"), "\(bad.errors)")
    }

    @Test func `a limited hub is waited for, and refusals are sentences`() throws {
        try hub.control(#"{"limited":1}"#)
        #expect(try get("hf://org/model/config.json", "-d", "out").code == .code(0))
        for (address, code, words) in [
            ("hf://org/none", 24, "no such repository"), ("hf://org/model@none", 3, "no such revision"),
            ("hf://org/model/none", 3, "no such file"), ("hf://org/..", 28, "no repository"),
        ] {
            let run = try get(address, "-d", "out")
            #expect(run.code == .code(Int32(code)) && run.errors.contains(words), "\(run.errors)")
        }
        try hub.control(#"{"gated":["org/model"]}"#)
        let gated = try get("hf://org/model", "-d", "out")
        #expect(gated.code == .code(24) && gated.errors.contains("give access on request"), "\(gated.errors)")
        try hub.control(#"{"gated":[],"endless":true}"#)
        let endless = try get("hf://org/model", "-d", "out")
        #expect(endless.code == .code(22) && endless.errors.contains("has no end"), "\(endless.errors)")
    }

    @Test func `paths that lead elsewhere are told, and the others are fetched`() throws {
        let blob = String(repeating: "ab", count: 20)
        let rows = ["../up", "/etc/x", "a/../../b", "nul\\u0000"].map {
            #"{"type":"file","oid":"\#(blob)","size":3,"path":"\#($0)"}"#
        }
        try hub.control(#"{"rows":[\#(rows.joined(separator: ","))]}"#)
        let run = try get("hf://org/model", "-d", "out")
        #expect(run.code == .code(22) && difference("out/model.safetensors") == nil, "\(run.errors)")
        #expect(!FileSystem.exists(folder.path("up")) && !FileSystem.exists(folder.path("b")))
    }

    @Test(.enabled(if: HubClients.areThere, "needs huggingface_hub and transformers from PyPI"))
    func `huggingface_hub and transformers find the cache offline`() throws {
        let run = try get("hf://org/model")
        #expect(run.code == .code(0), "\(run.errors)")
        let read = try python(
            """
            from huggingface_hub import hf_hub_download, scan_cache_dir, snapshot_download
            from transformers import AutoConfig
            folder = snapshot_download("org/model")
            print(sorted(open(f"{folder}/{name}").read() for name in ("config.json", "sub/a b.txt")))
            print(hf_hub_download("org/model", "model.safetensors") == f"{folder}/model.safetensors")
            print(len(scan_cache_dir().warnings), AutoConfig.from_pretrained("org/model").model_type)
            """)
        #expect(read.exit == .code(0) && read.output.contains("True\n0 bert"), "\(read.output) \(read.errors)")
        let blobs = "hf/hub/models--org--model/blobs"
        let large = try #require(FileSystem.names(in: folder.path(blobs)).first { $0.utf8.count == 64 })
        #expect(difference("\(blobs)/\(large)") == nil)
    }

    @Test(.enabled(if: HubClients.areThere, "needs huggingface_hub and transformers from PyPI"))
    func `what huggingface_hub fetched is found, and the rest is added`() throws {
        let read = try python(
            """
            from huggingface_hub import hf_hub_download
            hf_hub_download("org/model", "model.safetensors")
            """, offline: false)
        #expect(read.exit == .code(0), "\(read.errors)")
        try hub.forget()
        let run = try get("hf://org/model")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(try hub.log().allSatisfy { $0["path"]?.string?.contains("safetensors") == false })
        let cache = folder.path("hf/hub/models--org--model")
        #expect(FileSystem.names(in: cache + "/blobs").count == 4)
    }
}
