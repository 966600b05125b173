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
        _ bench: ExampleBench, _ example: String, _ arguments: [String], every bytes: Int64,
        environment: [String: String] = [:]
    ) throws -> (last: PawlProcess, kills: Int) {
        var kills = 0
        while true {
            let process = try bench.start(example, arguments, environment: environment)
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
        let commit = String(repeating: "c1", count: 20)
        var rows: [String] = []
        for (name, payload) in zip(["a.bin", "onnx/b.bin"], payloads) {
            _ = bench.origin.serve("/cdn/\(name)", payload) { $0.pace = 2_000_000 }
            _ = bench.origin.redirect("/hub/org/model/resolve/\(commit)/\(name)", to: "/cdn/\(name)")
            let large = #"{"oid":"\#(try digest(payload, scratch))","size":\#(payload.length)}"#
            rows.append(
                #"{"type":"file","path":"\#(name)","oid":"\#(commit)","size":\#(payload.length),"lfs":\#(large)}"#)
        }
        _ = bench.origin.serve("/hub/api/models/org/model/revision/main", Payload(text: #"{"sha":"\#(commit)"}"#))
        _ = bench.origin.serve(
            "/hub/api/models/org/model/tree/\(commit)", Payload(text: "[\(rows.joined(separator: ","))]"))
        let hub = ["HF_ENDPOINT": bench.origin.url("/hub"), "HOME": scratch.path]
        let arguments = [bench.folder.path, "hf://org/model"]
        let (last, _) = try complete(bench, "ModelHub", arguments, every: 1_000_000, environment: hub)
        #expect(last.exit == .code(0), "\(last.output) \(last.errors)")
        for (name, payload) in zip(["a.bin", "onnx/b.bin"], payloads) {
            #expect(bench.folder.difference(name, from: payload) == nil)
        }
        let before = bench.origin.log.of("/cdn/a.bin").count
        let again = try bench.start("ModelHub", arguments, environment: hub)
        again.wait()
        #expect(again.exit == .code(0) && again.output.contains("0 fetched, 2 there already"), "\(again.output)")
        #expect(bench.origin.log.of("/cdn/a.bin").count == before)
        let none = try bench.start("ModelHub", [bench.folder.path, "hf://org/none"], environment: hub)
        none.wait()
        #expect(none.exit != .code(0) && none.output.contains("cannot list"), "\(none.output) \(none.errors)")
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

    @Test func `an image is pulled with a token, its layers by their digests`() throws {
        let bench = try ExampleBench()
        let scratch = try TemporaryFolder()
        let layer = Payload(seed: 953, length: 6_000_000)
        let config = Payload(text: "{}\n")
        _ = bench.origin.serve("/token", Payload(text: #"{"token":"t1"}"#))
        let challenge =
            "Bearer realm=\"\(bench.origin.url("/token"))\",service=\"r\",scope=\"repository:library/app:pull\""
        func guarded(_ path: String, _ payload: Payload, _ change: (inout Behaviour) -> Void = { _ in }) {
            _ = bench.origin.serve(path, payload, change)
            bench.origin.vary(path) { facts, behaviour in
                guard facts.request.header("Authorization") != "Bearer t1" else { return }
                behaviour.instead = .init(401, lines: ["WWW-Authenticate: \(challenge)"], body: "no")
            }
        }
        var rows: [String] = []
        let types = ["application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar"]
        for (payload, type) in zip([config, layer], types) {
            let digest = "sha256:\(try digest(payload, scratch))"
            guarded("/v2/library/app/blobs/\(digest)", payload) { $0.pace = 2_000_000 }
            rows.append(#"{"mediaType":"\#(type)","digest":"\#(digest)","size":\#(payload.length)}"#)
        }
        let type = "application/vnd.oci.image.manifest.v1+json"
        let manifest = #"{"schemaVersion":2,"mediaType":"\#(type)","config":\#(rows[0]),"layers":[\#(rows[1])]}"#
        guarded("/v2/library/app/manifests/v1", Payload(text: manifest)) { $0.contentType = type }
        let image = "oci://\(bench.origin.root.dropFirst("http://".count))/library/app:v1"
        let arguments = [bench.folder.path, image]
        let (last, _) = try complete(bench, "OCILayer", arguments, every: 1_000_000)
        #expect(last.exit == .code(0), "\(last.output) \(last.errors)")
        #expect(last.output.contains(types[1]), "\(last.output)")
        #expect(bench.folder.difference("blobs/sha256/\(try digest(layer, scratch))", from: layer) == nil)
        #expect(FileSystem.exists(bench.folder.path("index.json")))
        #expect(bench.origin.log.of("/token").first?.request.target.contains("scope=repository") == true)
        let again = try bench.run("OCILayer", bench.folder.path, image)
        #expect(again.output.contains("0 fetched, 2 there already"), "\(again.output) \(again.errors)")
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
