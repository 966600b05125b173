import Glibc
import PawlTestKit
import Testing

/// The recipes: each is killed until it is complete.
@Suite struct RecipeTests {
    private func digest(_ payload: Payload, _ folder: TemporaryFolder) throws -> String {
        let path = folder.path(".digest")
        try FileSystem.write(payload.bytes, to: path)
        let process = try PawlProcess.run("/usr/bin/sha256sum", [path], folder: folder.path)
        FileSystem.remove(path)
        return String(process.output.prefix(64))
    }

    /// Runs the example and kills it whenever that much more has been sent, until it ends by itself.
    private func complete(
        _ bench: ExampleBench, _ example: String, _ arguments: [String], every bytes: Int64
    ) throws -> (last: PawlProcess, kills: Int) {
        var kills = 0
        while true {
            let process = try bench.start(example, arguments)
            guard kills < 3 else {
                process.wait()
                return (process, kills)
            }
            let sent = bench.origin.log.bodySent()
            #expect(bench.origin.wait { log in log.bodySent() - sent > bytes })
            process.send(SIGKILL)
            process.wait()
            kills += 1
        }
    }

    @Test func `files of a model hub are complete after kills, and not fetched again`() throws {
        let bench = try ExampleBench()
        let scratch = try TemporaryFolder()
        let payloads = [Payload(seed: 951, length: 6_000_000), Payload(seed: 952, length: 4_000_000)]
        var arguments = [bench.folder.path, bench.origin.url("/hub"), "org/model", "main"]
        for (name, payload) in zip(["a.bin", "onnx/b.bin"], payloads) {
            _ = bench.origin.serve("/cdn/\(name)", payload) { $0.pace = 2_000_000 }
            _ = bench.origin.redirect("/hub/org/model/resolve/main/\(name)", to: "/cdn/\(name)")
            arguments.append("\(name)=\(try digest(payload, scratch))")
        }
        let (last, _) = try complete(bench, "ModelHub", arguments, every: 1_000_000)
        #expect(last.exit == .code(0), "\(last.output) \(last.errors)")
        for (name, payload) in zip(["a.bin", "onnx/b.bin"], payloads) {
            #expect(bench.folder.difference("org/model/main/\(name)", from: payload) == nil)
        }
        let before = bench.origin.log.bodySent()
        let again = try bench.start("ModelHub", arguments)
        again.wait()
        #expect(again.exit == .code(0))
        #expect(bench.origin.log.bodySent() == before)
        // What cannot be added is reported, and the rest is fetched.
        let partly = try bench.start("ModelHub", arguments + ["c.bin=00", "../d.bin=\(digest(payloads[0], scratch))"])
        partly.wait()
        #expect(partly.exit == .code(1), "\(partly.output) \(partly.errors)")
        #expect(partly.output.contains("2 files"), "\(partly.output)")
    }

    @Test func `a feed or an index that is none is reported`() throws {
        let bench = try ExampleBench()
        let page = bench.origin.serve("/page", Payload(text: "<html></html>"))
        let feed = try bench.start("FeedImages", [bench.origin.url("/none"), "1000"])
        feed.wait()
        #expect(feed.exit == .code(3), "\(feed.output) \(feed.errors)")
        let artifact = try bench.start("Artifact", [bench.folder.path, page, "a"])
        artifact.wait()
        #expect(artifact.exit == .code(22), "\(artifact.output) \(artifact.errors)")
    }

    @Test func `a layer is pulled with a token, by its digest`() throws {
        let bench = try ExampleBench()
        let scratch = try TemporaryFolder()
        let payload = Payload(seed: 953, length: 6_000_000)
        let digest = try digest(payload, scratch)
        _ = bench.origin.serve("/token", Payload(text: #"{"token":"t1"}"#))
        let path = "/v2/library/app/blobs/sha256:\(digest)"
        let challenge =
            "Bearer realm=\"\(bench.origin.url("/token"))\",service=\"r\",scope=\"repository:library/app:pull\""
        _ = bench.origin.serve(path, payload) { $0.pace = 2_000_000 }
        bench.origin.vary(path) { facts, behaviour in
            guard facts.request.header("Authorization") != "Bearer t1" else { return }
            behaviour.instead = .init(401, lines: ["WWW-Authenticate: \(challenge)"], body: "no")
        }
        let arguments = [bench.folder.path, bench.origin.root, "library/app", digest]
        let (last, _) = try complete(bench, "OCILayer", arguments, every: 1_000_000)
        #expect(last.exit == .code(0), "\(last.output) \(last.errors)")
        #expect(bench.folder.difference("blobs/sha256/\(digest)", from: payload) == nil)
        #expect(bench.origin.log.of("/token").first?.request.target.contains("scope=repository") == true)
    }

    @Test(.enabled(if: ServerProcess.isInstalled("docker-registry"), "needs docker-registry"))
    func `a layer is pulled from Debian's registry, once, and a wrong digest is none`() throws {
        let bench = try ExampleBench()
        let scratch = try TemporaryFolder()
        let payload = Payload(seed: 958, length: 6_000_000)
        let digest = try digest(payload, scratch)
        let port = try FreePort.choose()
        let configuration = """
            version: 0.1
            storage: {filesystem: {rootdirectory: \(scratch.path("storage"))}}
            http: {addr: '127.0.0.1:\(port)'}

            """
        try FileSystem.write(Array(configuration.utf8), to: scratch.path("config.yml"))
        let registry = try ServerProcess(
            "docker-registry", ["serve", scratch.path("config.yml")], in: scratch, ports: [port])
        defer { withExtendedLifetime(registry) {} }
        let root = "http://127.0.0.1:\(port)"
        try FileSystem.write(payload.bytes, to: scratch.path("layer"))
        let push = """
            there=$(curl -sSf -D - -o /dev/null -X POST \(root)/v2/library/app/blobs/uploads/ \
                | tr -d '\\r' | sed -n 's/^[Ll]ocation: //p')
            curl -sSf -X PUT --data-binary @layer -H 'Content-Type: application/octet-stream' \
                "$there&digest=sha256:\(digest)"
            """
        let pushed = try PawlProcess.run("/bin/sh", ["-c", push], folder: scratch.path)
        #expect(pushed.exit == .code(0), "\(pushed.errors)")
        let first = try bench.run("OCILayer", bench.folder.path, root, "library/app", digest)
        #expect(first.exit == .code(0), "\(first.output) \(first.errors)")
        #expect(first.output.hasPrefix("complete: "))
        #expect(bench.folder.difference("blobs/sha256/\(digest)", from: payload) == nil)
        let again = try bench.run("OCILayer", bench.folder.path, root, "library/app", digest)
        #expect(again.output.hasPrefix("already there: "))
        let wrong = String(digest.reversed())
        let refused = try bench.run("OCILayer", bench.folder.path, root, "library/app", wrong)
        #expect(refused.exit == .code(3))
        #expect(!FileSystem.exists(bench.folder.path("blobs/sha256/\(wrong)")))
    }

    @Test func `an artifact is complete after kills, and a page of a portal is none`() throws {
        let bench = try ExampleBench()
        let scratch = try TemporaryFolder()
        let payload = Payload(seed: 954, length: 6_000_000)
        let url = bench.origin.serve("/pool/a.tar", payload) { $0.pace = 2_000_000 }
        let index =
            #"{"artifacts":[{"name":"a.tar","urls":["\#(url)"],"size":6000000,"sha256":"\#(try digest(payload, scratch))"}]}"#
        let indexURL = bench.origin.serve("/index.json", Payload(text: index))
        let arguments = [bench.folder.path, indexURL, "a.tar"]
        let (last, _) = try complete(bench, "Artifact", arguments, every: 1_000_000)
        #expect(last.exit == .code(0), "\(last.output) \(last.errors)")
        #expect(bench.folder.difference("a.tar", from: payload) == nil)
        bench.origin.adjust("/pool/a.tar") { $0.instead = .loginPage }
        let refused = try bench.run("Artifact", bench.folder.path, indexURL, "a.tar")
        #expect(refused.exit != .code(0))
        #expect(bench.folder.difference("a.tar", from: payload) == nil)
    }

    @Test func `images of a feed are in memory only, up to the limit`() throws {
        let bench = try ExampleBench()
        let small = bench.origin.serve("/a.png", Payload(seed: 955, length: 1000)) { $0.contentType = "image/png" }
        let large = bench.origin.serve("/b.png", Payload(seed: 956, length: 100_000)) { $0.contentType = "image/png" }
        let page = bench.origin.serve("/c.png", Payload(seed: 957, length: 10)) { $0.contentType = "text/html" }
        let items = [small, large, page].map { "<enclosure type=\"image/png\" url=\"\($0)\"/>" }.joined()
        let feed = bench.origin.serve("/feed", Payload(text: "<rss>\(items)</rss>"))
        let process = try bench.run("FeedImages", feed, "50000")
        let lines = process.lines.sorted()
        #expect(lines.count == 3 && lines.first == "1000 B \(small)", "\(lines) \(process.errors)")
        #expect(lines.count { $0.hasPrefix("left out") } == 2)
    }
}
