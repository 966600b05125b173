import PawlBase
import PawlTestKit
import Testing

/// `oci://`, `docker://` and `ollama://` with the real program.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct `Registries`
{
    private let folder: TemporaryFolder
    private let registry: RegistryServer

    init() throws {
        folder = try TemporaryFolder()
        registry = try RegistryServer()
    }

    private func get(
        _ arguments: String..., environment: [String: String] = [:]
    ) throws -> (code: PawlProcess.Exit?, errors: String) {
        let process = try PawlProcess(
            PawlBinary.path, ["get", "--retry-delay", "0.01", "--timeout", "20"] + arguments,
            environment: ["HOME": folder.path, "REGISTRY_AUTH_FILE": folder.path("auth.json")].merging(environment) {
                $1
            },
            folder: folder.path)
        return (process.wait(), process.errors)
    }

    private func image(_ tag: String = "v1") -> String { "oci://\(registry.name)/org/img:\(tag)" }

    private func logIn() throws {
        let login = Base64.encode(Array("user:secret".utf8))
        let text = #"{"auths":{"\#(registry.name)":{"auth":"\#(login)"}}}"#
        try FileSystem.write(Array(text.utf8), to: folder.path("auth.json"))
    }

    /// The blobs of a layout whose content does not have the digest that names them.
    private func wrongBlobs(_ layout: String) throws -> [String] {
        let blobs = folder.path(layout + "/blobs/sha256")
        return try FileSystem.names(in: blobs).filter { name in
            let sum = try PawlProcess.run("/usr/bin/sha256sum", ["\(blobs)/\(name)"])
            return !sum.output.hasPrefix(name)
        }
    }

    private func index(_ layout: String) throws -> [JSON] {
        let bytes = try #require(FileSystem.contents(folder.path(layout + "/index.json")))
        return try JSON.parse(bytes)["manifests"]?.array ?? []
    }

    @Test func `an image becomes a layout, and blobs that are there are not asked for`() throws {
        let run = try get(image(), "-d", "out", "--platform", "linux/amd64")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(try wrongBlobs("out").isEmpty && index("out").count == 1)
        #expect(FileSystem.names(in: folder.path("out/blobs/sha256")).count == 4)
        // Blobs, an index, a manifest, and once a challenge and a token.
        #expect(try registry.log().count { $0["server"]?.string == "registry" } == 3 + 4)
        try registry.forget()
        let again = try get(image(), "-d", "out", "--platform", "linux/amd64")
        #expect(again.code == .code(0) && again.errors.contains("3 are there already"), "\(again.errors)")
        #expect(try !registry.log().contains { $0["path"]?.string?.contains("/blobs/") == true })
        // The other image shares a layer.
        try registry.forget()
        #expect(try get(image(), "-d", "out", "--platform", "all").code == .code(0))
        #expect(try registry.log().count { $0["server"]?.string == "blobs" } == 2)
        #expect(try wrongBlobs("out").isEmpty && index("out").count == 1)
        let none = try get(image(), "-d", "out", "--platform", "linux/s390x")
        #expect(none.code == .code(3) && none.errors.contains("linux/amd64, linux/arm64"), "\(none.errors)")
    }

    @Test func `an image is listed with media types and digests, and no blob is asked for`() throws {
        let process = try PawlProcess(
            PawlBinary.path, ["list-remote", "--json", image(), "--platform", "linux/amd64"],
            environment: ["HOME": folder.path], folder: folder.path)
        #expect(process.wait() == .code(0), "\(process.errors)")
        let entries = process.output.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }
        #expect(
            entries.count == 3 && entries.allSatisfy { $0["mediaType"]?.string?.hasPrefix("application/vnd.") == true })
        #expect(
            entries.allSatisfy { $0["checksum"]?.string?.hasPrefix("sha-256=") == true && $0["total"]?.integer != nil })
        #expect(try !registry.log().contains { $0["path"]?.string?.contains("/blobs/") == true })
        #expect(FileSystem.names(in: folder.path).isEmpty)
    }

    @Test func `a token that ends in the middle is renewed, and closed ranges continue a layer`() throws {
        try registry.control(#"{"uses":1,"open":false,"cut":200000,"direct":true}"#)
        let run = try get(image(), "-d", "out", "--platform", "linux/amd64", "-x", "1")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(try wrongBlobs("out").isEmpty)
        let log = try registry.log()
        let ranges = log.compactMap { $0["range"]?.string }
        #expect(ranges.count >= 4 && !ranges.contains { $0.hasSuffix("-") })
        #expect(log.count { $0["path"]?.string?.hasPrefix("/token") == true } >= 5)
    }

    @Test func `a login goes to the registry's own server of tokens, and a token to the registry alone`() throws {
        try registry.control(#"{"login":true}"#)
        let without = try get(image(), "-d", "out")
        #expect(without.code == .code(24) && without.errors.contains("podman login"), "\(without.errors)")
        try logIn()
        let run = try get(image(), "-d", "out", "-v", "--platform", "linux/amd64")
        #expect(run.code == .code(0) && !run.errors.contains("dXNlcjpzZWNyZXQ"), "\(run.errors)")
        let blobs = try registry.log().filter { $0["server"]?.string == "blobs" }
        #expect(blobs.count == 3 && blobs.allSatisfy { $0["authorization"]?.string == nil })
        // Another server of tokens is asked without the login.
        try registry.forget()
        try registry.control(#"{"realm":"http://127.0.0.2:\#(registry.blobPort)/token"}"#)
        #expect(try get(image(), "-d", "other").code != .code(0))
        let asked = try registry.log().filter { $0["server"]?.string == "blobs" }
        #expect(!asked.isEmpty && asked.allSatisfy { $0["authorization"]?.string == nil })
        #expect(asked.allSatisfy { $0["path"]?.string?.contains("user") == false })
    }

    @Test func `what does not have its digest is not published, and no index names it`() throws {
        #expect(try get(image(), "-d", "good", "--platform", "linux/amd64").code == .code(0))
        let blobs = FileSystem.names(in: folder.path("good/blobs/sha256"))
        let large = try #require(blobs.first { FileSystem.size(folder.path("good/blobs/sha256/\($0)")) == 900_000 })
        try registry.control(#"{"flip":["sha256:\#(large)"]}"#)
        let run = try get(image(), "-d", "out", "--platform", "linux/amd64")
        #expect(run.code == .code(32), "\(run.errors)")
        #expect(!FileSystem.exists(folder.path("out/blobs/sha256/\(large)")))
        #expect(!FileSystem.exists(folder.path("out/index.json")))
        // A manifest, by its digest and by its tag.
        let manifest = try #require(try index("good").first?["digest"]?.string)
        try registry.control(#"{"flip":["\#(manifest)"]}"#)
        let changed = try get(image(), "-d", "third", "--platform", "linux/amd64")
        #expect(changed.code == .code(32) && changed.errors.contains("does not have the digest"), "\(changed.errors)")
        #expect(!FileSystem.exists(folder.path("third/index.json")))
        try registry.control(#"{"flip":[],"large":true}"#)
        let endless = try get(image(), "-d", "fourth")
        #expect(endless.code == .code(22), "\(endless.errors)")
    }

    @Test func `an artifact becomes files under its titles, below the folder`() throws {
        let run = try get(image("art"), "--artifact", "-d", "files")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(FileSystem.contents(folder.path("files/a.txt")) == Array("a file\n".utf8))
        #expect(FileSystem.size(folder.path("files/sub/b.bin")) == 50_000)
        for title in ["../up", "/up", "a\\\\b", ""] {
            try registry.control(#"{"title":"\#(title)"}"#)
            let hostile = try get(image("art"), "--artifact", "-d", "hostile")
            #expect(hostile.code == .code(22) && hostile.errors.contains("its title"), "\(hostile.errors)")
            #expect(FileSystem.names(in: folder.path("hostile")) == ["a.txt"])
        }
        #expect(!FileSystem.exists(folder.path("up")))
    }

    @Test func `a model of Ollama becomes its folder, the manifest last`() throws {
        let models = ["OLLAMA_MODELS": folder.path("models")]
        let run = try get("ollama://\(registry.name)/org/img:art", environment: models)
        #expect(run.code == .code(0), "\(run.errors)")
        let names = FileSystem.names(in: folder.path("models/blobs"))
        #expect(names.count == 3 && names.allSatisfy { $0.hasPrefix("sha256-") })
        #expect(FileSystem.exists(folder.path("models/manifests/\(registry.name)/org/img/art")))
    }

    @Test(.enabled(if: DebianRegistry.isThere, "needs docker-registry and skopeo"), arguments: ["oci", "v2s2"])
    func `skopeo reads what comes from Debian's registry, in either form of manifests`(_ form: String) throws {
        let debian = try DebianRegistry()
        #expect(try get(image(), "-d", "source", "--platform", "linux/amd64").code == .code(0))
        let push = try PawlProcess.run(
            "/usr/bin/skopeo",
            ["copy", "--format", form, "--dest-tls-verify=false", "oci:source:v1", "docker://\(debian.name)/a/b:1"],
            folder: folder.path)
        #expect(push.exit == .code(0), "\(push.errors)")
        let run = try get("docker://\(debian.name)/a/b:1", "-d", "out", "--platform", "linux/amd64")
        #expect(run.code == .code(0), "\(run.errors)")
        #expect(try wrongBlobs("out").isEmpty)
        let copy = try PawlProcess.run(
            "/usr/bin/skopeo", ["copy", "oci:out:1", "oci:copy:1"], folder: folder.path)
        #expect(copy.exit == .code(0), "\(copy.errors)")
        let layers = FileSystem.names(in: folder.path("out/blobs/sha256")).filter { name in
            FileSystem.size(folder.path("out/blobs/sha256/\(name)")) ?? 0 > 100_000
        }
        let copied = FileSystem.names(in: folder.path("copy/blobs/sha256"))
        #expect(layers.count == 2 && Set(layers).isSubset(of: copied))
    }
}
