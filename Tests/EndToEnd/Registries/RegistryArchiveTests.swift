import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

/// `-o FILE.tar` and `--credential-helper` with the real program.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct `Archives and helpers of registries`
{
    private let folder: TemporaryFolder
    private let registry: RegistryServer

    init() throws {
        folder = try TemporaryFolder()
        registry = try RegistryServer()
    }

    private var image: String { "oci://\(registry.name)/org/img:v1" }

    private func get(
        _ arguments: String..., environment: [String: String] = [:]
    ) throws -> (code: PawlProcess.Exit?, errors: String) {
        let process = try start(arguments, environment)
        process.wait()
        return (process.wait(), process.errors)
    }

    private func start(_ arguments: [String], _ environment: [String: String] = [:]) throws -> PawlProcess {
        try PawlProcess(
            PawlBinary.path,
            ["get", "--retry-delay", "0.01", "--timeout", "20", "--platform", "linux/amd64"] + arguments,
            environment: ["HOME": folder.path].merging(environment) { $1 }, folder: folder.path)
    }

    private func blobRequests() throws -> [String] {
        try registry.log().filter { $0["server"]?.string == "blobs" }.compactMap { $0["path"]?.string }
    }

    /// The members of an archive as tar has them, blobs with their digests compared.
    private func wrongMembers(_ archive: String) throws -> [String] {
        let out = folder.path("unpacked")
        try FolderPath.make(out)
        let tar = try PawlProcess.run("/usr/bin/tar", ["-xf", folder.path(archive), "-C", out])
        #expect(tar.exit == .code(0), "\(tar.errors)")
        let blobs = out + "/blobs/sha256"
        let names = FileSystem.names(in: blobs)
        #expect(names.count == 4)
        return try names.filter { name in
            try !PawlProcess.run("/usr/bin/sha256sum", ["\(blobs)/\(name)"]).output.hasPrefix(name)
        }
    }

    @Test func `an image becomes one archive, which replaces nothing and is not fetched again`() throws {
        let run = try get(image, "-o", "sub/image.tar")
        #expect(run.code == .code(0) && run.errors.contains("sub/image.tar"), "\(run.errors)")
        #expect(FileSystem.names(in: folder.path("sub")) == ["image.tar"])
        #expect(try wrongMembers("sub/image.tar").isEmpty)
        // The same again is recognized by its bytes.
        try registry.forget()
        let again = try get(image, "-o", "sub/image.tar")
        #expect(again.code == .code(0) && again.errors.contains("is there already"), "\(again.errors)")
        #expect(try blobRequests().isEmpty && FileSystem.names(in: folder.path("sub")) == ["image.tar"])
        // Another file of the name stays, unless it may be replaced.
        for (policy, code) in [("fail", Int32(13)), ("skip", 0), ("rename", 0), ("overwrite", 0)] {
            try FileSystem.write(Array("mine".utf8), to: folder.path("\(policy).tar"))
            let run = try get(image, "-o", "\(policy).tar", "--if-exists", policy)
            #expect(run.code == .code(code), "\(run.errors)")
            let isMine = FileSystem.contents(folder.path("\(policy).tar")) == Array("mine".utf8)
            #expect(isMine == (policy != "overwrite"))
        }
        #expect(FileSystem.contents(folder.path("rename (1).tar")) == FileSystem.contents(folder.path("sub/image.tar")))
        // What would not be an image's archive.
        for arguments in [[image, "-o", "image"], [image, "--artifact", "-o", "a.tar"], [image, "-o", "-"]] {
            let refused = try start(arguments)
            #expect(refused.wait() == .code(28), "\(refused.errors)")
        }
    }

    @Test func `an archive is made of what an interrupted run has fetched, and of right blobs only`() throws {
        try registry.control(#"{"cut":200000,"direct":true}"#)
        let cut = try get(image, "-o", "image.tar", "--retries", "0", "-x", "1")
        #expect(cut.code != .code(0) && !FileSystem.exists(folder.path("image.tar")), "\(cut.errors)")
        let kept = FileSystem.names(in: folder.path("image.tar.blobs/blobs/sha256")).filter { $0.utf8.count == 64 }
        #expect(!kept.isEmpty)
        try registry.control(#"{"cut":0,"direct":false}"#)
        try registry.forget()
        let run = try get(image, "-o", "image.tar")
        #expect(run.code == .code(0), "\(run.errors)")
        let asked = try blobRequests()
        #expect(kept.allSatisfy { name in !asked.contains { $0.contains(name) } })
        #expect(try wrongMembers("image.tar").isEmpty)
        #expect(!FileSystem.exists(folder.path("image.tar.blobs")))
        // A blob that is damaged on disk is fetched anew.
        try FolderPath.make(folder.path("b.tar.blobs/blobs/sha256"))
        try FileSystem.write(
            [UInt8](repeating: 0, count: 900_000), to: folder.path("b.tar.blobs/blobs/sha256/\(kept[0])"))
        let repaired = try get(image, "-o", "b.tar")
        #expect(repaired.code == .code(0), "\(repaired.errors)")
        #expect(FileSystem.contents(folder.path("b.tar")) == FileSystem.contents(folder.path("image.tar")))
    }

    @Test(.enabled(if: ServerProcess.isInstalled("skopeo"), "needs skopeo"))
    func `skopeo reads the archive`() throws {
        let run = try get(image, "-o", "image.tar")
        #expect(run.code == .code(0), "\(run.errors)")
        let inspect = try PawlProcess.run(
            "/usr/bin/skopeo", ["inspect", "--raw", "oci-archive:image.tar:v1"], folder: folder.path)
        #expect(inspect.exit == .code(0) && inspect.output.contains("layers"), "\(inspect.errors)")
        let copy = try PawlProcess.run(
            "/usr/bin/skopeo", ["copy", "oci-archive:image.tar", "oci:copy:1"], folder: folder.path)
        #expect(copy.exit == .code(0), "\(copy.errors)")
    }

    /// A helper that answers as its file says, and notes what it was asked.
    private func install(_ answer: String, code: Int32 = 0) throws {
        try FolderPath.make(folder.path("bin"))
        let program = folder.path("bin/docker-credential-test")
        let script = """
            #!/bin/sh
            { echo "$1"; cat; echo; } >> '\(folder.path("asked"))'
            printf '%s' '\(answer)'
            exit \(code)
            """
        try FileSystem.write(Array(script.utf8), to: program)
        #expect(unsafe chmod(program, 0o755) == 0)
    }

    private var environment: [String: String] {
        ["PATH": folder.path("bin") + ":/usr/bin:/bin", "DOCKER_CONFIG": folder.path("docker")]
    }

    private func configure(_ json: String) throws {
        try FolderPath.make(folder.path("docker"))
        try FileSystem.write(Array(json.utf8), to: folder.path("docker/config.json"))
    }

    @Test func `a helper is asked once, and only with the option`() throws {
        try registry.control(#"{"login":true}"#)
        try configure(#"{"credHelpers":{"\#(registry.name)":"test"}}"#)
        try install(#"{"ServerURL":"x","Username":"user","Secret":"secret"}"#)
        let without = try get(image, "-d", "out", environment: environment)
        #expect(without.code == .code(24) && without.errors.contains("--credential-helper"), "\(without.errors)")
        #expect(!FileSystem.exists(folder.path("asked")))
        let run = try get(image, "-d", "out", "-v", "--credential-helper", environment: environment)
        #expect(run.code == .code(0) && !run.errors.contains("secret"), "\(run.errors)")
        #expect(FileSystem.contents(folder.path("asked")) == Array("get\n\(registry.name)\n".utf8))
        // That of all registries; one that has no login, fails, says nonsense, or is none.
        try configure(#"{"credsStore":"test"}"#)
        #expect(try get(image, "-d", "two", "--credential-helper", environment: environment).code == .code(0))
        for (answer, code, words) in [
            ("credentials not found in native keychain", Int32(1), "there is no login"),
            ("the keyring is locked", 1, "the keyring is locked"), ("{}", 0, "its answer is not a login"),
        ] {
            try install(answer, code: code)
            let refused = try get(image, "-d", "three", "--credential-helper", environment: environment)
            #expect(refused.code == .code(24) && refused.errors.contains(words), "\(refused.errors)")
        }
        try configure(#"{"credsStore":"../bin/x"}"#)
        let path = try get(image, "-d", "three", "--credential-helper", environment: environment)
        #expect(path.code == .code(24) && path.errors.contains("there is no login"), "\(path.errors)")
        try configure(#"{"credsStore":"missing"}"#)
        let missing = try get(image, "-d", "three", "--credential-helper", environment: environment)
        #expect(missing.code == .code(24) && missing.errors.contains("cannot be started"), "\(missing.errors)")
        #expect(missing.errors.contains("put docker-credential-missing into a folder of PATH"), "\(missing.errors)")
    }
}
