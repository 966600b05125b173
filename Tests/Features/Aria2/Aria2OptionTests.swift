import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlBase
@testable import PawlWeb

@Suite struct Aria2OptionTests {
    private func take(_ text: String, scope: Aria2Option.Scope = .initial) throws -> [String: String] {
        var options = Aria2Options()
        try options.take(try JSON.parse(text), scope: scope)
        return options.values
    }

    @Test func `the longest file is not reported in millions of pieces`() {
        let mebi: Int64 = 1 << 20
        for (total, length) in [(0, mebi), (mebi << 20 - 1, mebi), (mebi << 20, 2 * mebi), (.max, 1 << 43)] {
            #expect(Aria2Status.pieceLength(of: total) == length)
            #expect(total / length < 1 << 20)
        }
    }

    @Test func `sizes are reported in plain digits`() throws {
        #expect(
            try take(#"{"max-download-limit":"10K","min-split-size":"2m"}"#) == [
                "max-download-limit": "10240", "min-split-size": "2097152",
            ])
    }

    @Test func `what follows the unit of a size has no meaning`() throws {
        #expect(try take(#"{"max-download-limit":"10MB"}"#) == ["max-download-limit": "10485760"])
        #expect(try take(#"{"max-download-limit":"1kB/s"}"#) == ["max-download-limit": "1024"])
    }

    @Test func `of several options none is taken when one is invalid`() throws {
        var options = Aria2Options(["split": "5"])
        #expect(throws: RPCError.self) {
            try options.take(try JSON.parse(#"{"split":"7","max-tries":"x"}"#), scope: .global)
        }
        #expect(options.values == ["split": "5"])
    }

    @Test func `an empty name is none`() throws {
        var target = DownloadOptions()
        try Aria2Options(["out": ""]).apply(to: &target, of: "http://h/a", root: "/r")
        #expect(target.fileName == nil)
    }

    @Test func `a call by GET may have empty parameters`() {
        let message = RPCMessage.parse { ["method": "aria2.tellActive", "id": "1", "params": ""][$0] }
        guard case .one(.call(let call)) = message else {
            Issue.record("not a call: \(message)")
            return
        }
        #expect(call.method == "aria2.tellActive" && call.parameters.isEmpty)
    }

    @Test(arguments: [
        #"{"split":"0"}"#, #"{"max-download-limit":"1G"}"#, #"{"max-connection-per-server":"17"}"#,
        #"{"select-file":"x"}"#, #"{"all-proxy":"::"}"#, #"{"split":"-1"}"#, #"{"split":""}"#, #"{"split":"1x"}"#,
        #"{"pause":"yes"}"#, #"{"max-download-limit":"K"}"#, #"{"max-download-limit":"9999999999999G"}"#,
        #"{"checksum":"sha-1=00"}"#, #"{"checksum":"crc=00"}"#, #"{"checksum":"adler32=0000"}"#,
        #"{"file-allocation":"some"}"#,
    ]) func `an invalid value of an option is an error`(_ text: String) {
        #expect(throws: RPCError.self) { try take(text) }
    }

    @Test func `unknown names, other types and other scopes are ignored`() throws {
        #expect(try take(#"{"split":8,"nope":"1","pause":true,"rpc-secret":"x","log":"/etc/x"}"#) == [:])
        #expect(try take(#"{"gid":"0000000000000001","out":"a"}"#, scope: .changeable) == ["out": "a"])
        #expect(
            try take(#"{"save-session":"/x","log":"/y","save-cookies":"/z","dir":"d"}"#, scope: .global) == ["dir": "d"]
        )
    }

    @Test func `headers are accepted as one text or several`() throws {
        #expect(try take(#"{"header":["A: 1","B: 2"]}"#) == ["header": "A: 1\nB: 2"])
        #expect(try take(#"{"header":"A: 1"}"#) == ["header": "A: 1"])
    }

    @Test(arguments: ["user-agent", "referer", "ftp-user", "http-passwd", "all-proxy", "no-proxy", "http-proxy-user"])
    func `no option that becomes part of a request can end its line`(name: String) {
        for evil in ["\\r\\nX: 1", "\\n", "\\u0000", "\\r"] {
            #expect(throws: RPCError.self) { try take(#"{"\#(name)":"a\#(evil)"}"#) }
        }
        #expect(throws: RPCError.self) { try take(#"{"header":["A: 1\rX: 2"]}"#) }
    }

    @Test(arguments: ["\n dir=/etc", "\r\n dir=/etc", "\r dir=/etc", "\0"])
    func `a folder or a name with a line break is refused, and adds no options to a session file`(end: String) {
        for name in ["dir", "out"] {
            let members = [JSON.Member(name, .string("a" + end))]
            #expect(throws: RPCError.self) {
                var options = Aria2Options()
                try options.take(.object(members), scope: .initial)
            }
            let lines = Aria2Option.sessionLines(name, "a" + end).joined().utf8.split { $0 == 0x0A || $0 == 0x0D }
            #expect(lines.allSatisfy { $0.starts(with: " \(name)=".utf8) })
        }
        #expect(Aria2Option.sessionLines("header", "A: 1\nB: 2") == [" header=A: 1\n", " header=B: 2\n"])
    }

    @Test(arguments: ["/etc/x", "http://", "ftp://h:1", "http://h:99999", "a@b@c"])
    func `a proxy that nothing can use is refused for all downloads`(value: String) throws {
        var options = Aria2Options()
        for name in ["all-proxy", "http-proxy", "https-proxy", "ftp-proxy"] {
            #expect(throws: RPCError.self) {
                try options.take(.object([JSON.Member(name, .string(value))]), scope: .global)
            }
        }
        try options.take(.object([JSON.Member("all-proxy", .string(""))]), scope: .global)
        try options.take(.object([JSON.Member("http-proxy", .string("u:p@h:80"))]), scope: .global)
        #expect(options["http-proxy"] == "u:p@h:80")
    }

    @Test func `every default is a valid value of its option`() {
        for option in Aria2Option.table.values {
            guard let fallback = option.fallback else { continue }
            #expect(option.normal(fallback) == fallback, "\(option.name)")
        }
        #expect(Aria2Option.table.count > 100)
    }
}
