import PawlBase
import PawlCurl
import PawlTestKit
import Testing

/// The header sections of requests, byte for byte as libcurl 7.88.1 sent them for the same settings.
///
/// Servers and their filters know clients by such details.
@Suite struct RequestHeadTests {
    struct Recorded: Sendable, CustomTestStringConvertible {
        /// Given by the user.
        var lines: [String]
        var host: String?
        /// What follows Host and Range.
        var fields: [String]
        /// The same where no secrets go, and caches are bypassed.
        var fieldsToOthers = [
            "User-Agent: Pawl/1", "Accept: */*", "Referer: http://before.example/", "Accept-Encoding: identity",
            "Cache-Control: no-cache", "Pragma: no-cache",
        ]

        var testDescription: String { "\(lines)" }
    }

    private static let usual = ["User-Agent: Pawl/1", "Accept: */*", "Referer: http://before.example/x?y"]

    private static let recorded = [
        Recorded(lines: [], fields: usual + ["Accept-Encoding: identity"]),
        Recorded(
            lines: ["X-One: 1", "X-Two:2"], fields: usual + ["Accept-Encoding: identity", "X-One: 1", "X-Two:2"]),
        Recorded(
            lines: ["X-Empty;", "X-Gone:", "X-Blank:   ", "no field at all", ": nothing"],
            fields: usual + ["Accept-Encoding: identity", "X-Empty:"]),
        Recorded(
            lines: ["Accept: text/plain", "user-agent: other"],
            fields: [
                "Referer: http://before.example/x?y", "Accept-Encoding: identity", "Accept: text/plain",
                "user-agent: other",
            ],
            fieldsToOthers: [
                "Referer: http://before.example/", "Accept-Encoding: identity", "Accept: text/plain",
                "user-agent: other", "Cache-Control: no-cache", "Pragma: no-cache",
            ]),
        Recorded(
            lines: ["Accept:", "User-Agent:", "Referer:"], fields: ["Accept-Encoding: identity"],
            fieldsToOthers: [
                "Referer: http://before.example/", "Accept-Encoding: identity", "Cache-Control: no-cache",
                "Pragma: no-cache",
            ]),
        Recorded(
            lines: ["Cache-Control: max-age=0", "Cookie: a=b", "Authorization: Bearer x"],
            fields: usual + [
                "Cookie: a=b", "Accept-Encoding: identity", "Cache-Control: max-age=0", "Authorization: Bearer x",
            ]),
        Recorded(
            lines: ["Cookie: a=1", "cookie: b=2"],
            fields: usual + ["Cookie: a=1; b=2", "Accept-Encoding: identity"]),
        Recorded(
            lines: ["X-Ümlaut: ä", "X-Last: y"],
            fields: usual + ["Accept-Encoding: identity", "X-Ümlaut: ä", "X-Last: y"]),
        Recorded(
            lines: ["Range: bytes=1-", "If-Range: \"x\"", "Accept-Encoding: br"],
            fields: usual + ["Accept-Encoding: identity"]),
        Recorded(
            lines: ["X;y: z", "X-Semi ;", "X-More;  "],
            fields: usual + ["Accept-Encoding: identity", "X;y: z", "X-Semi :"]),
        // Fields that change the exchange.
        Recorded(
            lines: ["Host: other.example"], host: "other.example", fields: usual + ["Accept-Encoding: identity"]),
        Recorded(
            lines: ["Connection: close"], fields: usual + ["Accept-Encoding: identity", "Connection: close"]),
        Recorded(
            lines: ["Expect: 100-continue"], fields: usual + ["Accept-Encoding: identity", "Expect: 100-continue"]),
        Recorded(lines: ["TE: gzip"], fields: usual + ["Accept-Encoding: identity", "TE: gzip"]),
        Recorded(lines: ["Upgrade: x"], fields: usual + ["Accept-Encoding: identity", "Upgrade: x"]),
    ]

    private static let ranges: [(RequestedRange, [String])] = [
        (.whole, []), (.closed(ByteRange(5, 10)), ["Range: bytes=5-9"]), (.from(3), ["Range: bytes=3-"]),
        (.suffix(7), ["Range: bytes=-7"]),
    ]

    private func values(_ lines: [String]) -> TransferSettings.Values {
        var values = TransferSettings.Values()
        values.proxy = ""
        values.headers = lines
        values.userAgent = "Pawl/1"
        values.referer = "http://before.example/x?y"
        return values
    }

    private func head(_ lines: [String]) -> String { lines.map { $0 + "\r\n" }.joined() + "\r\n" }

    @Test(arguments: recorded) func `a request has the bytes that libcurl sent`(recorded: Recorded) throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try Bench()
        let settings = TransferSettings(values(recorded.lines))
        for (range, field) in Self.ranges {
            for isOther in [false, true] {
                let address = WebAddress(
                    scheme: .http, host: "127.0.0.1", port: server.port, path: "/a%20b/c;d",
                    query: isOther ? nil : "q=1&r")
                var request = TransferRequest(address: address, range: range, settings: settings)
                request.bypassesCaches = isOther
                request.carriesSecrets = !isOther
                try bench.fetch(request)
                let host = isOther ? nil : recorded.host
                let begin = [
                    "GET /a%20b/c;d\(isOther ? "" : "?q=1&r") HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(server.port)")",
                ]
                let fields = isOther ? recorded.fieldsToOthers : recorded.fields
                #expect(server.requests.last?.head == head(begin + field + fields))
            }
        }
    }

    @Test func `cookies of the file precede those of the user, in one field`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        var values = values(["X-A: 1", "Cookie: own=1"])
        values.cookieFile = try folder.file("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tfile\t1\n")
        var request = TransferRequest(port: server.port, settings: TransferSettings(values))
        request.range = .closed(ByteRange(5, 10))
        try Bench().fetch(request)
        let fields = ["Cookie: file=1; own=1", "Accept-Encoding: identity", "X-A: 1"]
        let begin = ["GET /file HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "Range: bytes=5-9"]
        #expect(server.requests.first?.head == head(begin + Self.usual + fields))
    }

    @Test func `a plain request to a proxy names the whole address`() throws {
        let proxy = try ScriptedServer { _ in .body([1]) }
        defer { proxy.stop() }
        var values = values(["X-A: 1", "Cookie: own=1"])
        values.proxy = "http://127.0.0.1:\(proxy.port)"
        let address = WebAddress(scheme: .http, host: "origin.example", port: 80, path: "/p", query: "q")
        let range = RequestedRange.closed(ByteRange(5, 10))
        try Bench().fetch(TransferRequest(address: address, range: range, settings: TransferSettings(values)))
        let begin = ["GET http://origin.example/p?q HTTP/1.1", "Host: origin.example", "Range: bytes=5-9"]
        let fields = ["Proxy-Connection: Keep-Alive", "Cookie: own=1", "Accept-Encoding: identity", "X-A: 1"]
        #expect(proxy.requests.first?.head == head(begin + Self.usual + fields))
    }
}
