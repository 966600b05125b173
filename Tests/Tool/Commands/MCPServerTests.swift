import PawlBase
import PawlTerminal
import Testing

@testable import PawlServiceCommands

/// The decisions of `pawl mcp`.
@Suite struct MCPServerTests {
    private let server = MCPServer(allowsAdding: false)

    private func reply(_ text: String, _ server: MCPServer? = nil) -> JSON? {
        if case .reply(let reply) = (server ?? self.server).hear(text.utf8) { reply } else { nil }
    }

    @Test(arguments: [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-06-18")])
    func `a known revision of the protocol is kept`(wanted: String, got: String) {
        let text = #"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"\#(wanted)"}}"#
        let result = reply(text)?["result"]
        #expect(result?["protocolVersion"]?.string == got && result?["capabilities"]?["tools"] != nil)
        #expect(reply(text)?["id"]?.integer == 7)
    }

    @Test func `notifications and responses get no reply`() {
        #expect(server.hear(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.utf8) == .none)
        #expect(server.hear(#"{"jsonrpc":"2.0","id":1,"result":{}}"#.utf8) == .none)
    }

    @Test(arguments: [
        ("x", -32700), ("[]", -32600), (#"{"id":1}"#, -32600), (#"{"id":1,"method":"resources/list"}"#, -32601),
        (#"{"id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32602),
        (#"{"id":1,"method":"tools/call"}"#, -32602),
        (#"{"id":1,"method":"tools/call","params":{"name":"add_download"}}"#, -32602),
        (#"{"id":1,"method":"tools/call","params":{"name":"list_downloads","arguments":[]}}"#, -32602),
        (#"{"id":1,"method":"tools/call","params":{"name":"list_downloads","arguments":{"folder":"/"}}}"#, -32602),
    ]) func `what is not understood is refused`(text: String, code: Int64) {
        #expect(reply(text)?["error"]?["code"]?.integer == code)
    }

    @Test func `tools only read, unless adding is allowed`() throws {
        func names(_ server: MCPServer) -> [String] {
            reply(#"{"id":1,"method":"tools/list"}"#, server)?["result"]?["tools"]?.array?.compactMap {
                $0["name"]?.string
            } ?? []
        }
        #expect(names(server) == ["list_downloads", "wait_for_download", "verify_download"])
        let adding = MCPServer(allowsAdding: true)
        #expect(names(adding) == names(server) + ["add_download"])
        let call = #"{"id":"a","method":"tools/call","params":{"name":"add_download","arguments":{"url":"u"}}}"#
        #expect(adding.hear(call.utf8) == .run(.add, arguments: ["url": "u"], id: "a"))
    }

    @Test func `an address that is refused is allowed by an option of this command`() {
        func error(_ remedy: String) -> JSON {
            [
                "code": .number(33), "message": .string("cannot fetch u: no; \(remedy)"), "what": "cannot fetch",
                "place": "u",
                "why": "no", "remedy": .string(remedy),
            ]
        }
        func remedy(_ text: String, allowsPrivate: Bool = false) -> JSON {
            MCPServer.worded(["downloads": [["error": error(text)]]], allowsPrivate: allowsPrivate)
        }
        let refused = "disable the blocking of private addresses if this is intended"
        for (json, text) in [
            (remedy(refused), "start 'pawl mcp' with --allow-private-addresses if this is intended"),
            (
                remedy(refused, allowsPrivate: true),
                "add it with 'pawl add' to a service without --deny-private-addresses if this is intended"
            ), (remedy("increase the timeout"), "increase --timeout ('pawl set ID' changes options)"),
        ] { #expect(json == ["downloads": [["error": error(text)]]], "\(json.text)") }
    }

    @Test func `half of a surrogate pair is no parameter`() {
        let reply = reply(#"{"id":5,"method":"tools/call","params":{"name":"\ud800"}}"#)
        #expect(reply?["error"]?["code"]?.integer == -32602 && reply?["id"]?.integer == 5)
    }

    @Test func `results are text and structure, and a failure is a result that says so`() {
        let result = MCPServer.result(.success(["a": .number(1)]), of: "i")["result"]
        #expect(
            result?["content"]?.array?.first?["text"] == #"{"a":1}"# && result?["structuredContent"]?["a"]?.integer == 1
        )
        let failure = Failure(.notFound, "cannot show", at: "3f", because: "there is no download 3f")
        let failed = MCPServer.result(.failure(failure), of: "i")["result"]
        #expect(failed?["isError"]?.bool == true)
        #expect(failed?["content"]?.array?.first?["text"]?.string == "cannot show 3f: there is no download 3f")
    }
}
