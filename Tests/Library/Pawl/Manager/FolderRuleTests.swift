import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase

/// Folders of new downloads by rules.
@Suite struct FolderRuleTests {
    private func folder(
        _ rules: [(String, String)], _ url: String, name: String? = nil, type: String? = nil
    ) throws -> String? {
        let all = try FolderRules(rules.map { match, folder throws(Failure) in try FolderRule(match, folder: folder) })
        let address = try WebAddress.parse(url).address
        return all.folder(
            of: FolderRule.Subject(address: address, name: name ?? address.lastPathComponent, mediaType: type))
    }

    @Test func `the first rule that matches decides`() throws {
        let rules = [
            ("type:video", "Films"), ("host:example.org", "Example"), ("*.ISO", "no"), ("name:*.iso", "Images"),
        ]
        #expect(try folder(rules, "https://example.org/a/film.MKV") == "Films")
        #expect(try folder(rules, "https://example.org/a/b.iso") == "Example")
        #expect(try folder(rules, "https://dl.EXAMPLE.org:8443/b") == "Example")
        #expect(try folder(rules, "https://notexample.org/b.iso") == "Images")
        #expect(try folder(rules, "https://h/get?file=b.iso") == nil)
        #expect(try folder(rules, "https://h/get", name: "b.iso") == "Images")
        #expect(try folder(rules, "https://h/get", type: "video/mp4; codecs=x") == "Films")
        #expect(try folder(rules, "https://h/get.zip", type: "video/mp4") == nil, "the name's ending counts first")
        #expect(try folder([("url:h/nightly/*", "n")], "https://h/nightly/a/b.deb?x=1") == "n")
    }

    @Test(arguments: [
        ("type:film", "a"), ("kind:video", "a"), ("", "a"), ("name:", "a"), ("name:a/b", "a"), ("host:", "a"),
        ("host:a/b", "a"), ("type:video", "../a"), ("type:video", "/a"), ("type:video", ".pawl"), ("a\tb", "a"),
        ("type:video", "a\nb"), ("type:video", " "), ("type:video", "a/\u{A0}/b"), ("host:example.org:8443", "a"),
        ("host:example.org:80", "a"), ("host:[::1]:80", "a"),
    ]) func `what is no rule is refused with a reason`(match: String, folder: String) {
        let failure = #expect(throws: Failure.self) { try FolderRule(match, folder: folder) }
        #expect(failure?.code == .badOption && failure?.why.isEmpty == false)
    }

    @Test func `rules survive as a text`() throws {
        let rules = try FolderRules([
            FolderRule("type:video", folder: "Films/new"), FolderRule("*.iso", folder: "./Images/"),
            FolderRule("HOST:Example.ORG", folder: ""),
        ])
        #expect(rules.all.map(\.text) == ["type:video", "name:*.iso", "host:example.org"])
        #expect(rules.all.map(\.folder) == ["Films/new", "Images", ""])
        #expect(FolderRules(stored: rules.stored) == rules)
        #expect(FolderRules(stored: "nonsense\ntype:video\t../x\ntype:audio\tMusic").all.map(\.text) == ["type:audio"])
        #expect(throws: Failure.self) {
            try FolderRules(Array(repeating: FolderRule("type:video", folder: "a"), count: FolderRules.most + 1))
        }
    }

    // MARK: in a queue

    private let content = Payload(seed: 4901, length: 50_001)

    private func rules(_ manager: DownloadManager, _ rules: (String, String)...) async throws {
        try await manager.perform(.rules(rules.map { try FolderRule($0.0, folder: $0.1) }))
    }

    @Test func `a new download gets the folder of its rule, unless one was chosen, also after a restart`() async throws
    {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try await rules(manager, ("type:archive", "Archives"))
        await manager.shutDown()

        let again = try await bench.open()
        let url = bench.origin.serve("/a.zip", content)
        let file = try await again.add(bench.request(url)).file
        #expect(file.path == bench.root.path("Archives/a.zip"))
        let chosen = try await again.add(bench.request(url) { $0.options.folder = "mine" }).file
        #expect(chosen.path == bench.root.path("mine/a.zip"))
        let known = try await again.add(bench.request(url)).snapshot
        #expect(known.state == .finished, "it is the known one, wherever it is")
        #expect(try await again.downloads().count == 2)
        await again.shutDown()
    }

    @Test func `a folder that a link leads out of the root is refused`() async throws {
        let bench = try ManagerBench()
        let elsewhere = try TemporaryFolder()
        try #require(unsafe symlink(elsewhere.path, bench.root.path("Films")) == 0)
        try #require(unsafe symlink(".", bench.root.path("here")) == 0)
        var configuration = DownloadManager.Configuration()
        configuration.staysInRoot = true
        let manager = try await bench.open(configuration)
        let error = await #expect(throws: PawlError.self) { try await rules(manager, ("type:video", "Films/new")) }
        #expect(error?.code == .badOption)
        try await rules(manager, ("type:video", "here/new"), ("host:[::1]", "a"))
        #expect(try await manager.folderRules().map(\.folder) == ["here/new", "a"])
        await manager.shutDown()
    }

    @Test func `a file whose name and type come with the response is moved at its end`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try await rules(manager, ("name:*.mkv", "Films"), ("host:127.0.0.1", "Local"))
        let url = bench.origin.serve("/get", content) { $0.disposition = Array("attachment; filename=film.mkv".utf8) }
        let download = try await manager.add(bench.request(url))
        let file = try await download.file
        #expect(file.path == bench.root.path("Films/film.mkv"))
        #expect(bench.root.difference("Films/film.mkv", from: content) == nil)
        #expect(FileSystem.contents(bench.root.path("Local/film.mkv")) == nil)
        let snapshot = try #require(try await manager.snapshot(of: download.id))
        #expect(snapshot.folder == "Films" && snapshot.file == .there)
        await manager.shutDown()
    }

    /// What `--if-exists` makes of a name that is taken in the folder of a rule.
    @Test(arguments: [
        (DownloadOptions.ExistingFile.rename, "Films/film (1).mkv", false), (.overwrite, "Films/film.mkv", true),
        (.resume, "Films/film (1).mkv", false), (.skip, "film.mkv", false), (.fail, "film.mkv", false),
    ]) func `where a file has the name already, the policy for existing files decides`(
        policy: DownloadOptions.ExistingFile, path: String, isReplaced: Bool
    ) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try await rules(manager, ("name:*.mkv", "Films"))
        _ = try PawlProcess.run("/bin/mkdir", [bench.root.path("Films")])
        try FileSystem.write([1], to: bench.root.path("Films/film.mkv"))
        let url = bench.origin.serve("/get", content) { $0.disposition = Array("attachment; filename=film.mkv".utf8) }
        let download = try await manager.add(bench.request(url) { $0.options.existingFile = policy })
        let file = try await download.file
        #expect(file.path == bench.root.path(path))
        #expect(bench.root.difference(path, from: content) == nil)
        #expect((FileSystem.contents(bench.root.path("Films/film.mkv")) == [1]) == !isReplaced)
        #expect(try await manager.snapshot(of: download.id)?.file == .there)
        let names = FileSystem.names(in: bench.root.path("Films")) + bench.root.names.filter { $0 == "film.mkv" }
        #expect(names.count == (isReplaced ? 1 : 2), "\(names)")
        await manager.shutDown()
    }

    @Test func `the number is the same whether the rule knows the name before the response or after it`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try await rules(manager, ("name:*.mkv", "Films"))
        _ = try PawlProcess.run("/bin/mkdir", [bench.root.path("Films")])
        try FileSystem.write([1], to: bench.root.path("Films/film.mkv"))
        let before = try await manager.add(bench.request(bench.origin.serve("/film.mkv", content))).file
        #expect(before.path == bench.root.path("Films/film (1).mkv"))
        let url = bench.origin.serve("/get", content) { $0.disposition = Array("attachment; filename=film.mkv".utf8) }
        let after = try await manager.add(bench.request(url)).file
        #expect(after.path == bench.root.path("Films/film (2).mkv"))
        await manager.shutDown()
    }
}
