import Glibc
import PawlTestKit
import Testing

/// What people who know curl, wget or aria2 try first.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) final class `Habits from other tools` {
    private let origin: OriginServer
    private let folder: TemporaryFolder
    private let content = Payload(seed: 75, length: 300_001)

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    deinit { origin.stop() }

    private func pawl(_ arguments: String..., home: String? = nil) throws -> PawlProcess {
        let process = try PawlProcess(
            PawlBinary.path, arguments, environment: ["HOME": home ?? folder.path("home")], folder: folder.path)
        process.wait()
        return process
    }

    @Test func `a URL alone is downloaded, with the options of other tools`() throws {
        let url = origin.serve("/f", content)
        #expect(try pawl(url).exit == .code(0))
        #expect(folder.difference("f", from: content) == nil)
        for options in [["-c", "-L", "-s16"], ["-fSL", "-C", "-"], ["-x4", "--split=4", "--continue"], ["-O"]] {
            let process = try PawlProcess(PawlBinary.path, options + ["-P", "sub", url], folder: folder.path)
            process.wait()
            #expect(process.exit == .code(0), "\(options): \(process.errors)")
        }
        #expect(folder.difference("sub/f", from: content) == nil)
    }

    @Test func `a URL without a scheme gets http where nothing speaks TLS`() throws {
        let url = origin.serve("/f", content)
        let process = try pawl("get", String(url.dropFirst("http://".count)))
        #expect(process.exit == .code(0), "\(process.errors)")
        #expect(folder.difference("f", from: content) == nil)
    }

    @Test(arguments: [
        (["ls"], "pawl list"), (["rm", "1"], "pawl remove"), (["version"], "pawl --version"),
        (["--verison"], "pawl --version"), (["get", "-T", "5", "http://h/"], "--timeout"),
        (["get", "-O", "a.iso", "http://h/"], "-o a.iso"), (["gte", "http://h/"], "'get'"),
    ]) func `what cannot be gets one line with the right word`(arguments: [String], word: String) throws {
        let process = try PawlProcess.run(PawlBinary.path, arguments)
        #expect(process.exit == .code(28))
        #expect(process.errors.contains(word) && process.errors.filter { $0 == "\n" }.count == 1)
    }

    @Test func `a URL without a scheme may have a login, as in curl`() throws {
        let url = origin.serve("/f", content) { $0.login = .basic(user: "me", password: "hidden") }
        let process = try pawl("me:hidden@" + url.dropFirst("http://".count))
        #expect(process.exit == .code(0), "\(process.errors)")
        #expect(folder.difference("f", from: content) == nil)
        #expect(!process.errors.contains("hidden"))
    }

    @Test(arguments: [
        ["me:hidden@h/x"], ["get", "me:hidden@h/x"], ["get", "me:hid/hidden@h/x"], ["--user=me:hidden"],
        ["-ume:hidden"], ["list", "me:hidden@h.org/x"], ["help", "me:hidden@h/x"],
    ]) func `a refused word is shown without its password`(arguments: [String]) throws {
        let process = try PawlProcess.run(PawlBinary.path, arguments)
        #expect(process.exit == .code(28), "\(process.errors)")
        #expect(process.errors.hasPrefix("pawl: ") && !process.errors.contains("hidden"), "\(process.errors)")
    }

    @Test(arguments: ["u:hidden@z:99999999", "u:hid hidden@z", "u:hid'hidden@z:99999999", "//u:hidden@z:1", "foo://z"])
    func `a proxy variable that is no proxy is refused at once, without its login`(value: String) throws {
        let url = origin.serve("/f", content)
        let process = try PawlProcess(
            PawlBinary.path, ["get", "--json", url], environment: ["http_proxy": value], folder: folder.path)
        process.wait()
        #expect(process.exit == .code(28), "\(process.errors)")
        #expect(process.errors.contains("http_proxy") && !process.errors.contains("retry"), "\(process.errors)")
        #expect(!(process.errors + process.output).contains("hidden"), "\(process.errors)")
    }

    @Test func `dry run asks for name and size, and saves nothing`() throws {
        let url = origin.serve("/f", content) { $0.disposition = Array("attachment; filename=\"n.iso\"".utf8) }
        let process = try pawl("get", "--dry-run", "-d", "sub", url, origin.url("/none"))
        #expect(process.exit == .code(3))
        #expect(process.output.contains("sub/n.iso: 292 KiB, can be resumed"), "\(process.output)")
        #expect(process.errors.contains("404 Not Found"))
        #expect(folder.names.isEmpty)
    }

    @Test func `verbose shows requests, responses and decisions, without secrets`() throws {
        let url = origin.serve("/f", content) { behaviour in
            behaviour.login = .basic(user: "me", password: "hidden1")
            behaviour.add(header: "Set-Cookie: sid=hidden2")
        }
        let address = url.replacing("http://", with: "http://me:hidden1@") + "?token=hidden3"
        let process = try pawl("get", "-v", "-H", "X-Api-Key: hidden4", address)
        #expect(process.exit == .code(0), "\(process.errors)")
        for line in [
            "> GET /f?… HTTP/1.1", "> Host: ", "> X-Api-Key: …", "< HTTP/1.1 200", "< Set-Cookie: …", "* accepted",
        ] { #expect(process.errors.contains("\n" + line) || process.errors.hasPrefix(line), "\(line)") }
        #expect(!process.errors.contains("hidden"), "\(process.errors)")
    }

    @Test func `without a terminal progress is a line for each tenth`() throws {
        let url = origin.serve("/f", content) { $0.pace = 100_000 }
        let process = try pawl("get", "-x", "1", url)
        let lines = process.errors.split(separator: "\n").filter { $0.contains("%, ") }
        #expect(process.exit == .code(0))
        #expect(!lines.isEmpty && lines.count <= 9, "\(process.errors)")
        #expect(lines.allSatisfy { $0.hasPrefix("f: ") && $0.contains("KiB/s") })
    }

    @Test func `netrc is read like in wget, unless others can read it`() throws {
        let url = origin.serve("/f", content) { $0.login = .basic(user: "me", password: "pw") }
        _ = try PawlProcess.run("/bin/mkdir", [folder.path("home")])
        let path = folder.path("home/.netrc")
        try FileSystem.write(Array("machine 127.0.0.1 login me password pw\n".utf8), to: path)
        try #require(unsafe chmod(path, 0o600) == 0)
        #expect(try pawl("get", url).exit == .code(0))
        #expect(try pawl("get", "--no-netrc", "--if-exists", "overwrite", url).exit == .code(24))
        try #require(unsafe chmod(path, 0o644) == 0)
        // A file that is given is used, and nothing else is said about it.
        let given = try pawl("get", "--netrc", "--if-exists", "overwrite", url)
        #expect(given.exit == .code(0) && !given.errors.contains("chmod"), "\(given.errors)")
        let open = try pawl("get", "--if-exists", "overwrite", url)
        #expect(open.exit == .code(24))
        #expect(open.errors.contains("chmod 600") && !open.errors.contains("pw\n"))
        #expect(try pawl("get", "--netrc=\(path)", "--if-exists", "overwrite", url).exit == .code(0))
    }
}
