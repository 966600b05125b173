import PawlBase
import PawlWeb
import Testing

/// `say` returns its parameters, `change` must not be called by GET, `fail` fails.
private struct Echo: RPCMethods {
    let names = ["test.say", "test.change", "test.fail", "test.options"]
    let notifications = ["test.onSay"]
    func isReadOnly(_ method: String) -> Bool { !["test.change", "test.options"].contains(method) }
    func returnsOptions(_ method: String) -> Bool { ["test.fail", "test.options"].contains(method) }
    func call(_ method: String, _ parameters: [JSON], _ rights: RPCRights) async throws(RPCError) -> JSON {
        if method == "test.fail" { throw RPCError("it failed") }
        return .array(parameters)
    }
}

@Suite struct RPCDispatcherTests {
    @Test func `wrong secrets are checked a few times, then none is, except from an authenticated caller`() async throws
    {
        let secret = try #require(Secret("right"))
        let dispatcher = RPCDispatcher(Echo(), secret: secret)
        // More than are checked, however slowly this runs.
        let guess: JSON = ["id": .number(1), "method": "test.say", "params": ["token:wrong"]]
        let right: JSON = ["id": .number(2), "method": "test.say", "params": ["token:right"]]
        let message = RPCMessage.parse(JSON.array(Array(repeating: guess, count: 90)).utf8)
        var rights = RPCRights(isTrusted: false, isReadOnly: false)
        for _ in 0..<100 { #expect(await dispatcher.respond(to: message, rights: rights).json.array?.count == 90) }
        let outcome = await dispatcher.respond(to: RPCMessage.parse(right.utf8), rights: rights)
        #expect(outcome.json["error"]?["message"] == "Unauthorized")
        #expect(!outcome.showedSecret && outcome.isUnauthorized)
        rights.isKnown = true
        let known = await dispatcher.respond(to: RPCMessage.parse(right.utf8), rights: rights)
        #expect(known.showedSecret && known.json["result"] == [])
    }

    @Test func `a long secret is accepted however many wrong ones came before`() async throws {
        let text = String(repeating: "0123456789abcdef", count: 2)
        let secret = try #require(Secret(text))
        for _ in 0..<10_000 { #expect(!secret.admits(String(repeating: "0", count: 32))) }
        #expect(secret.admits(text))
    }

    @Test func `without the secret a message causes neither much work nor a large response`() async throws {
        func size(_ text: String) async -> Int { await ask(text, secret: "s").text.utf8.count }
        let most = RPCDispatcher.largestUnauthenticatedResponse
        let objects = "[" + Array(repeating: "{}", count: 9000).joined(separator: ",") + "]"
        #expect(await size(objects) < most)
        let lists = Array(repeating: #"{"id":1,"method":"system.listMethods"}"#, count: 9000)
        #expect(await size("[" + lists.joined(separator: ",") + "]") < 2 * most)
        let nested = Array(repeating: #"{"methodName":"system.listMethods"}"#, count: 9000).joined(separator: ",")
        #expect(await size(#"{"id":1,"method":"system.multicall","params":[[\#(nested)]]}"#) < 2 * most)
        let long = String(repeating: "x", count: 60_000)
        #expect(await size(#"{"id":"\#(long)","method":"system.listMethods"}"#) < most)
        // The first correct one lifts the limits.
        let right = Array(repeating: #"{"id":1,"method":"test.say","params":["token:s"]}"#, count: 900)
        let outcome = await ask("[" + right.joined(separator: ",") + "]", secret: "s")
        #expect(try JSON.parse(outcome.text).array?.count == 900)
        let many = "[" + Array(repeating: "{}", count: RPCDispatcher.mostCalls + 1).joined(separator: ",") + "]"
        #expect(await ask(many).text.contains("One request takes no more than"))
    }

    @Test func `no options are returned to a script`() async {
        let dispatcher = RPCDispatcher(Echo(), secret: nil)
        var rights = RPCRights(isTrusted: false, isReadOnly: true)
        rights.isScript = true
        for text in [
            #"{"id":1,"method":"test.fail"}"#,
            #"{"id":1,"method":"system.multicall","params":[[{"methodName":"test.fail"}]]}"#,
        ] {
            let outcome = await dispatcher.respond(to: RPCMessage.parse(Array(text.utf8)), rights: rights)
            #expect(outcome.json.text.contains("test.fail is not available to JSONP callbacks."))
        }
    }

    @Test func `a rate limit for guesses refills, and the right secret uses none of it`() {
        let start = ContinuousClock.now
        var budget = AuthRateLimit(now: start)
        func looks(_ wanted: Int, after seconds: Int) -> Int {
            (0..<wanted).reduce(0) { sum, _ in sum + (budget.take(now: start + .seconds(seconds)) ? 1 : 0) }
        }
        for _ in 0..<1000 {
            #expect(looks(1, after: 0) == 1)
            budget.refund()
        }
        #expect(looks(1000, after: 0) == Int(AuthRateLimit.burst))
        #expect(looks(1000, after: 1) == Int(AuthRateLimit.perSecond))
        // Nothing accumulates beyond the burst.
        #expect(looks(1000, after: 100_000) == Int(AuthRateLimit.burst))
    }

    private func ask(
        _ text: String, secret: String? = nil, isTrusted: Bool = false, isReadOnly: Bool = false
    ) async -> (text: String, status: Int, isUnauthorized: Bool) {
        let dispatcher = RPCDispatcher(Echo(), secret: secret.flatMap(Secret.init))
        let rights = RPCRights(isTrusted: isTrusted, isReadOnly: isReadOnly)
        let outcome = await dispatcher.respond(to: RPCMessage.parse(Array(text.utf8)), rights: rights)
        return (outcome.json.text, outcome.status, outcome.isUnauthorized)
    }

    /// Requests and responses of aria2, with methods of this test.
    @Test(arguments: [
        (#"{"id":1,"method":"test.say"}"#, #"{"id":1,"jsonrpc":"2.0","result":[]}"#, 200),
        (#"{"method":"test.say"}"#, invalid("null"), 400), (#"{"id":7}"#, invalid("7"), 400),
        (#"{"id":7,"method":3}"#, invalid("7"), 400),
        (#"{"id":1,"method":"test.say","params":{}}"#, refused("1", -32602, "Invalid params."), 500),
        ("{", refused("null", -32700, "Parse error."), 500), ("5", invalid("null"), 400),
        (#"{"id":"x","method":"no"}"#, refused(#""x""#, 1, "No such method: no"), 400),
        (#"{"id":1,"method":"test.fail"}"#, refused("1", 1, "it failed"), 400),
        (#"{"id":[1.50,{}],"method":"test.say","params":[2]}"#, #"{"id":[1.50,{}],"jsonrpc":"2.0","result":[2]}"#, 200),
        (#"{"id":1,"method":"test.say","params":["token:x",3]}"#, #"{"id":1,"jsonrpc":"2.0","result":[3]}"#, 200),
        (#"[1,{"id":1,"method":"test.say"}]"#, #"[{"id":1,"jsonrpc":"2.0","result":[]}]"#, 200),
        (#"[{"id":1,"method":"test.fail"}]"#, "[\(refused("1", 1, "it failed"))]", 200), ("[]", "[]", 200),
    ]) func `messages have aria2's responses`(_ text: String, _ expected: String, _ status: Int) async {
        let got = await ask(text)
        #expect(got.text == expected)
        #expect(got.status == status)
    }

    @Test func `without the secret nothing is done, and the methods are not listed`() async {
        for call in ["test.say", "none"] {
            for parameters in ["[]", #"["token:wrong"]"#, #"["token:"]"#, "[1]"] {
                let got = await ask(#"{"id":1,"method":"\#(call)","params":\#(parameters)}"#, secret: "right")
                #expect(got.text == refused("1", 1, "Unauthorized"))
                #expect(got.isUnauthorized)
            }
        }
        let right = await ask(#"{"id":1,"method":"test.say","params":["token:right",1]}"#, secret: "right")
        #expect(right.text == #"{"id":1,"jsonrpc":"2.0","result":[1]}"#)
        #expect(!right.isUnauthorized)
        let local = await ask(#"{"id":1,"method":"test.say","params":[1]}"#, secret: "right", isTrusted: true)
        #expect(local.text == #"{"id":1,"jsonrpc":"2.0","result":[1]}"#)
    }

    @Test func `the calls of a batch have their responses in order, each with its own secret`() async {
        let calls = #"""
            {"id":1,"method":"system.multicall","params":[[{"methodName":"test.say","params":["token:s",1]},5,{},
            {"methodName":"system.multicall","params":[[]]},{"methodName":"test.say"},{"methodName":"test.say","params":{}},
            {"methodName":"test.fail","params":["token:s"]}]]}
            """#
        let got = await ask(calls, secret: "s")
        let elements = [
            "[[1]]", error(1, "system.multicall expected struct."), error(1, "Missing methodName."),
            error(1, "Recursive system.multicall forbidden."), error(1, "Unauthorized"), error(1, "Unauthorized"),
            error(1, "it failed"),
        ]
        #expect(got.text == #"{"id":1,"jsonrpc":"2.0","result":["# + elements.joined(separator: ",") + "]}")
        #expect(got.status == 200)
        let outer = await ask(#"{"id":1,"method":"system.multicall","params":["token:s",[]]}"#, secret: "s")
        #expect(outer.text == refused("1", 1, "The parameter at 0 has wrong type."))
        let none = await ask(#"{"id":1,"method":"system.multicall"}"#)
        #expect(none.text == refused("1", 1, "The parameter at 0 is required but missing."))
    }

    @Test func `a GET cannot change anything, not even inside a multicall`() async {
        let words = "test.change changes state and must be sent with POST or over a WebSocket."
        let plain = await ask(#"{"id":1,"method":"test.change"}"#, isReadOnly: true)
        #expect(plain.text == refused("1", 1, words))
        let secret = await ask(#"{"id":1,"method":"test.options"}"#, isReadOnly: true)
        #expect(secret.text.contains("test.options can return secrets and must be sent with POST"))
        let nested = await ask(
            #"{"id":1,"method":"system.multicall","params":[[{"methodName":"test.change"}]]}"#, isReadOnly: true)
        #expect(nested.text == #"{"id":1,"jsonrpc":"2.0","result":["# + error(1, words) + "]}")
        #expect(await ask(#"{"id":1,"method":"test.say"}"#, isReadOnly: true).status == 200)
    }

    @Test func `the lists need no secret`() async {
        let methods = await ask(#"{"id":1,"method":"system.listMethods"}"#, secret: "s")
        #expect(methods.text.contains(#""test.say""#))
        #expect(methods.text.contains(#""system.multicall""#))
        let notifications = await ask(#"{"id":1,"method":"system.listNotifications"}"#, secret: "s")
        #expect(notifications.text == #"{"id":1,"jsonrpc":"2.0","result":["test.onSay"]}"#)
    }

    @Test func `a small message causes neither much work nor a huge response`() async {
        func multicall(_ count: Int, _ call: String) -> String {
            let calls = Array(repeating: call, count: count).joined(separator: ",")
            return #"{"id":1,"method":"system.multicall","params":[[\#(calls)]]}"#
        }
        let many = await ask(multicall(RPCDispatcher.mostCalls, #"{"methodName":"test.say"}"#))
        #expect(many.text.contains("One request takes no more than"))
        let long = String(repeating: "x", count: 1 << 20)
        let call = #"{"methodName":"test.say","params":["\#(long)"]}"#
        let large = await ask(multicall(70, call))
        #expect(large.text.utf8.count < RPCDispatcher.largestResponse + 1 << 20)
        #expect(large.text.contains("The responses are too large for one request."))
        let deep = await ask(String(repeating: "[", count: 1 << 20))
        #expect(deep.text == refused("null", -32700, "Parse error."))
    }

    @Test func `a message whose strings are no text is refused as a whole, with its id`() async throws {
        let text = #"{"id":7,"method":"test.say","params":["a",{"out":"\ud800"}]}"#
        let why = "a string has half of a surrogate pair, such as \\\\ud800, which is no character"
        func refusal(_ id: JSON) -> RPCMessage { .one(.refused(id: id, .notText)) }
        #expect(RPCMessage.parse(Array(text.utf8)) == refusal(.number("7")))
        #expect(RPCMessage.parse(Array("[\(text)]".utf8)) == refusal(.null))
        let params = ["method": "m", "id": "q", "params": "WyJcdWQ4MDAiXQ"]
        #expect(RPCMessage.parse { params[$0] } == refusal(.string("q")))
        #expect(await ask(text).text == refused("7", -32602, why))
    }

    @Test func `a query is a call too`() {
        func parse(_ query: [String: String]) -> RPCMessage { RPCMessage.parse { query[$0] } }
        let call = RPCCall(id: .string("q"), method: "m", parameters: [])
        #expect(parse(["method": "m", "id": "q", "params": "W10="]) == .one(.call(call)))
        #expect(parse(["method": "m", "id": "q", "params": "W10"]) == .one(.call(call)))
        #expect(parse(["method": "m", "id": "q"]) == .one(.call(call)))
        #expect(parse(["method": "m", "id": "q", "params": "%"]) == .one(.refused(id: .null, .invalidRequest)))
        #expect(
            parse(["method": "m", "id": "q", "params": "e30="]) == .one(.refused(id: .string("q"), .invalidParameters)))
        #expect(parse(["params": "W10="]) == .batch([]))
        #expect(parse([:]) == .one(.refused(id: .null, .invalidRequest)))
        #expect(parse(["method": "m"]) == .one(.refused(id: .null, .invalidRequest)))
        #expect(parse(["id": "q"]) == .one(.refused(id: .string("q"), .invalidRequest)))
        #expect(parse(["params": "e30="]) == .one(.refused(id: .null, .invalidRequest)))
    }

    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Pz8_Pj4-", "???>>>"), ("Pz8/Pj4+", "???>>>"),
    ]) func `both alphabets of base64 are accepted`(_ coded: String, _ plain: String) {
        #expect(Base64.decode(coded.utf8) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Z===", "Zg=x", "Z g=", "Zm9vZ"]) func `invalid base64 is refused`(_ text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}

private func error(_ code: Int, _ message: String) -> String { #"{"code":\#(code),"message":"\#(message)"}"# }
private func refused(_ id: String, _ code: Int, _ message: String) -> String {
    #"{"id":\#(id),"jsonrpc":"2.0","error":\#(error(code, message))}"#
}
private func invalid(_ id: String) -> String { refused(id, -32600, "Invalid Request.") }
