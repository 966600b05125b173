import PawlBase
import PawlTestKit
import Testing

/// `pawl mcp`: tools for language models, over standard input and output.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct MCPTests {
    private let house: ServiceHouse
    private let content = Payload(seed: 4909, length: 50_001)

    init() throws { house = try ServiceHouse.serving() }

    /// The results of calls of tools, each with its arguments as JSON.
    private func results(_ calls: [(tool: String, arguments: String)], _ options: String...) throws -> [JSON] {
        let lines = calls.map { call in
            #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(call.tool)","arguments":\#(call.arguments)}}"#
        }
        let path = house.folder.path("calls")
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: path)
        let process = try PawlProcess(
            "/bin/sh", ["-c", "exec \(PawlBinary.path) mcp \(options.joined(separator: " ")) <\(path)"],
            environment: house.environment)
        #expect(process.wait() == .code(0))
        return try process.lines.map { line in try #require(JSON.parse(line)["result"]) }
    }

    @Test func `a download is added, waited for, listed and verified`() throws {
        let url = house.origin.serve("/f", content)
        let digest = Hexadecimal.text(MessageDigest5.digest(content.bytes(in: ByteRange(0, content.length))))
        let arguments = #"{"url":"\#(url)","folder":"models","checksum":"md5=\#(digest)"}"#
        let added = try results([("add_download", arguments)], "--allow-add", "--allow-private-addresses")
        let id = try #require(added.first?["structuredContent"]?["id"]?.string)
        let ended = try results([
            ("wait_for_download", #"{"id":"\#(id)","seconds":600}"#), ("list_downloads", #"{"state":"finished"}"#),
            ("verify_download", #"{"id":"\#(id.prefix(8))"}"#),
        ])
        #expect(ended[0]["structuredContent"]?["state"] == "finished")
        #expect(ended[1]["structuredContent"]?["downloads"]?.array?.first?["folder"] == "models")
        #expect(ended[2]["structuredContent"]?["right"]?.bool == true)
        #expect(house.difference("models/f", from: content) == nil)
    }

    @Test func `a download that is added reaches no private address`() throws {
        let url = house.origin.serve("/f", content)
        let added = try results([("add_download", #"{"url":"\#(url)"}"#)], "--allow-add")
        let id = try #require(added.first?["structuredContent"]?["id"]?.string)
        #expect(try house.run("wait", id).exit != .code(0))
        #expect(try house.ask("show", id).first?["error"]?["why"]?.string?.contains("private address") == true)
        #expect(house.origin.ended("/f").isEmpty)
        // The owner's own downloads do.
        #expect(try house.run("wait", house.add(url + "?own")).exit == .code(0))
    }

    @Test func `a failure is a result, and a wait ends when its time is over`() throws {
        let url = house.origin.serve("/slow", content) { $0.cut = .stall(at: 10_000) }
        let id = try house.add("-x", "1", url)
        let found = try results([
            ("wait_for_download", #"{"id":"\#(id)","seconds":0}"#), ("verify_download", #"{"id":"ffffffff"}"#),
            ("wait_for_download", "{}"),
        ])
        #expect(found[0]["structuredContent"]?["state"]?.string != "finished" && found[0]["isError"]?.bool == false)
        #expect(found[1]["isError"]?.bool == true && found[2]["isError"]?.bool == true)
        #expect(found[2]["content"]?.array?.first?["text"]?.string?.contains("needs the id") == true)
    }
}
