import PawlBase
import PawlTestKit
import Testing

/// The keys in the owner's `~/.ssh`, with an OpenSSH server that accepts them.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && SSHServer.isAvailable, "needs the built program, root, mount namespaces and OpenSSH"))
struct `The owner's SSH keys` {
    @Test func `downloads of the Unix socket use them, those of the port do not, not even after one that did`() throws {
        let site = try RealOriginSite()
        let server = try SSHServer(site.served)
        let port = try FreePort.choose()
        let house = try ServiceHouse(port: "\(port)")
        let service = try house.start(["serve", "--background"], more: ["HOME": server.withKey])
        service.wait()
        try #require(service.exit == .code(0), "\(service.errors)")
        let secret = String(decoding: FileSystem.contents(house.folder.path("root/.pawl/secret")) ?? [], as: UTF8.self)
            .prefix { !$0.isWhitespace }

        /// Adds the file under a name, at the port or the socket; returns its state when it has ended.
        func fetch(_ name: String, _ listener: [String], _ token: [JSON]) throws -> String? {
            let item: JSON = [
                "url": .string("sftp://\(server.user)@127.0.0.1:\(server.port)\(site.served.path)/\(site.name)"),
                "options": ["output": .string(name), "retries": "0"],
            ]
            let call: JSON = ["id": .number(1), "method": "pawl.add", "params": .array(token + [[item]])]
            let curl = try PawlProcess.run("/usr/bin/curl", ["-sS", "--data-binary", call.text] + listener)
            let id = try JSON.parse(curl.output)["result"]?.array?.first?["id"]?.string
            try house.run("wait", try #require(id, "\(curl.output) \(curl.errors)"))
            return try house.ask("show", try #require(id)).first?["state"]?.string
        }
        let atSocket = ["--unix-socket", house.folder.path("socket"), "http://pawl/jsonrpc"]
        let atPort = ["http://127.0.0.1:\(port)/jsonrpc"]
        let token: [JSON] = [.string("token:\(secret)")]

        #expect(try fetch("first", atPort, token) == "failed")
        #expect(try fetch("owner", atSocket, []) == "finished")
        #expect(house.difference("owner", from: site.content) == nil)
        // The server keeps the connection of the second one open.
        #expect(try fetch("third", atPort, token) == "failed")
    }
}
