import Testing

@testable import PawlBase

@Suite struct CookieJarTests {
    private let now = UnixTime(seconds: 1_700_000_000)

    private func address(_ text: String) throws -> WebAddress { try WebAddress.parse(text).address }

    /// The jar after a response with these Set-Cookie fields.
    private func jar(_ fields: String..., from url: String = "https://www.example.com/in/page") throws -> CookieJar {
        var jar = CookieJar()
        jar.store(fields, from: try address(url), now: now)
        return jar
    }

    private func sent(_ jar: CookieJar, to url: String) throws -> String? { jar.field(for: try address(url), now: now) }

    // MARK: RFC 6265

    @Test func `the examples of the RFC`() throws {
        // §3.1
        var jar = try jar("SID=31d4d96e407aad42; Path=/; Domain=example.com")
        #expect(try sent(jar, to: "https://example.com/") == "SID=31d4d96e407aad42")
        #expect(try sent(jar, to: "https://a.www.example.com/x") == "SID=31d4d96e407aad42")
        jar = try self.jar("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly", "lang=en-US; Path=/; Domain=example.com")
        #expect(try sent(jar, to: "https://www.example.com/") == "SID=31d4d96e407aad42; lang=en-US")
        #expect(try sent(jar, to: "http://www.example.com/") == "lang=en-US")
        let other = try address("https://www.example.com/other")
        jar.store(["lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT"], from: other, now: now)
        #expect(try sent(jar, to: "https://www.example.com/") == "SID=31d4d96e407aad42; lang=en-US")
        let field = "lang=; Path=/; Domain=Example.com; Expires=Sun, 06 Nov 1994 08:49:37 GMT"
        jar.store([field], from: other, now: now)
        #expect(try sent(jar, to: "https://www.example.com/") == "SID=31d4d96e407aad42")
    }

    @Test(arguments: [
        ("a=1", "www.example.com", true), ("a=1", "example.com", false), ("a=1", "a.www.example.com", false),
        ("a=1; Domain=example.com", "example.com", true), ("a=1; Domain=.Example.Com", "b.example.com", true),
        ("a=1; Domain=example.com", "badexample.com", false), ("a=1; Domain=other.com", "other.com", false),
        ("a=1; Domain=com", "example.com", false), ("a=1; Domain=a.www.example.com", "a.www.example.com", false),
        ("a=1; Domain=", "www.example.com", true), ("a=1; Domain=", "a.www.example.com", false),
    ]) func `a cookie goes to the hosts of its domain`(field: String, host: String, isSent: Bool) throws {
        #expect(try sent(try jar(field), to: "https://\(host)/in/page") == (isSent ? "a=1" : nil))
    }

    @Test func `a numeric host has no domains above it`() throws {
        let jar = try jar("a=1; Domain=192.0.2.7", "b=2; Domain=0.2.7", from: "http://192.0.2.7/")
        #expect(try sent(jar, to: "http://192.0.2.7/") == "a=1")
        #expect(CookieJar(netscape: Array("2.7\tTRUE\t/\tFALSE\t0\ta\t1".utf8)).lines.count == 1)
        #expect(
            try sent(CookieJar(netscape: Array("2.7\tTRUE\t/\tFALSE\t0\ta\t1".utf8)), to: "http://192.0.2.7/") == nil)
    }

    @Test(
        arguments: [
            ("/in/page", nil, "/in", true), ("/in/page", nil, "/in/other?q", true), ("/in/page", nil, "/inner", false),
            ("/in/page", nil, "/", false), ("/in/", nil, "/in", true), ("/page", nil, "/anything", true),
            ("/", "/foo", "/foo", true), ("/", "/foo", "/foo/bar", true), ("/", "/foo", "/foobar", false),
            ("/", "/foo/", "/foo", false), ("/", "/foo/", "/foo/bar", true), ("/", "/foo", "/FOO", false),
            ("/in/page", "foo", "/in/x", true), ("/in/page", "", "/in/x", true), ("/in/page", "/", "/", true),
        ] as [(String, String?, String, Bool)])
    func `a cookie goes to the paths below its own`(from: String, path: String?, to: String, isSent: Bool) throws {
        let jar = try jar("a=1" + (path.map { "; Path=\($0)" } ?? ""), from: "https://a.example\(from)")
        #expect(try sent(jar, to: "https://a.example\(to)") == (isSent ? "a=1" : nil))
    }

    @Test func `longer paths come first, then older cookies`() throws {
        var jar = try jar("a=1; Path=/", "b=2; Path=/in", "c=3; Path=/", "d=4; Path=/in/page")
        #expect(try sent(jar, to: "https://www.example.com/in/page") == "d=4; b=2; a=1; c=3")
        // What replaces a cookie keeps its age.
        jar.store(["a=9; Path=/"], from: try address("https://www.example.com/"), now: now)
        #expect(try sent(jar, to: "https://www.example.com/") == "a=9; c=3")
    }

    @Test func `name, domain, path and whether it is for one host alone identify a cookie`() throws {
        let fields = [
            "a=1; Path=/", "a=2; Path=/in", "a=3; Path=/; Domain=www.example.com", "A=4; Path=/", "a=5; Path=/",
        ]
        var jar = CookieJar()
        jar.store(fields, from: try address("https://www.example.com/in/page"), now: now)
        #expect(try sent(jar, to: "https://www.example.com/in/page") == "a=2; a=5; a=3; A=4")
    }

    @Test func `the age precedes the date, and neither keeps a cookie for more than 400 days`() throws {
        let past = "Expires=Thu, 01-Jan-1970 00:00:01 GMT"
        var jar = try jar(
            "a=1; Max-Age=60; \(past)", "b=2; \(past)", "c=3; Max-Age=99999999999999999999", "d=4; Max-Age=-1")
        #expect(try sent(jar, to: "https://www.example.com/in/") == "a=1; c=3")
        let ends = jar.lines.map { $0.split(separator: "\t")[4] }
        #expect(ends == ["\(now.seconds + 60)", "\(now.seconds + 400 * 86_400)"])
        let later = UnixTime(seconds: now.seconds + 60)
        #expect(jar.field(for: try address("https://www.example.com/in/"), now: later) == "c=3")
        jar.store(["c=; Max-Age=0"], from: try address("https://www.example.com/in/"), now: now)
        #expect(try sent(jar, to: "https://www.example.com/in/") == "a=1")
    }

    // MARK: RFC 6265bis

    @Test func `what came over TLS is neither sent nor replaced without it`() throws {
        var jar = try jar("a=1; Path=/; Secure", "b=2; Path=/", from: "https://a.example/")
        let open = try address("http://a.example/in/x")
        jar.store(["a=evil; Path=/", "a=evil", "b=3; Path=/", "c=4; Secure; Path=/"], from: open, now: now)
        #expect(try sent(jar, to: "https://a.example/in/x") == "a=1; b=3")
        #expect(jar.field(for: open, now: now) == "b=3")
        jar.store(["a=; Path=/; Max-Age=0"], from: open, now: now)
        #expect(try sent(jar, to: "https://a.example/") == "a=1; b=3")
    }

    @Test(arguments: ["http://127.0.0.1:81/", "http://localhost/", "http://[::1]/"])
    func `this machine is as good as TLS`(url: String) throws {
        #expect(try sent(try jar("a=1; Secure", from: url), to: url) == "a=1")
    }

    @Test(arguments: [
        ("__Secure-a=1", false), ("__Secure-a=1; Secure", true), ("__Host-a=1; Secure; Path=/", true),
        ("__Host-a=1; Secure", false), ("__Host-a=1; Path=/", false),
        ("__host-a=1; Secure; Path=/; Domain=www.example.com", false), ("__Hostess=1", true),
    ]) func `the prefix of a name states how it was set`(field: String, isStored: Bool) throws {
        #expect(try jar(field).isEmpty == !isStored)
    }

    // MARK: limits

    @Test func `what is larger than the limit is not stored`() throws {
        let longest = String(repeating: "x", count: 4_096 - "a/in".utf8.count - "www.example.com".utf8.count)
        #expect(try jar("a=\(longest)").lines.count == 1)
        #expect(try jar("a=\(longest)x").isEmpty)
        var jar = CookieJar()
        jar.store((0..<60).map { "n\($0)=1" }, from: try address("https://a.example/"), now: now)
        #expect(jar.lines.count == 50)
    }

    @Test func `a server cannot fill the memory, and a user's file stays`() throws {
        let file = (0..<500).map { "f.example\tFALSE\t/\tFALSE\t0\tn\($0)\t1\n" }.joined()
        var jar = CookieJar(netscape: Array(file.utf8))
        let from = try address("https://\((0..<20).map { "n\($0)" }.joined(separator: ".")).f.example/")
        for number in 0..<190 {
            // The one that expires goes first.
            let age = number == 100 ? "; Max-Age=5" : ""
            jar.store(["c\(number)=1\(age)"], from: from, now: UnixTime(seconds: now.seconds + Int64(number)))
        }
        let host = from.host
        #expect(jar.lines.count { $0.hasPrefix("f.example\t") } == 500)
        let names = jar.lines.filter { $0.hasPrefix(host) }.map { String($0.split(separator: "\t")[5]) }
        #expect(names == (9..<190).filter { $0 != 100 }.map { "c\($0)" })
        for level in 0..<20 {
            let domain = host.split(separator: ".").dropFirst(level).joined(separator: ".")
            for number in 0..<4 {
                jar.store((0..<50).map { "m\(number)-\($0)=1; Domain=\(domain)" }, from: from, now: now)
            }
        }
        #expect(jar.lines.count == 500 + 3_000)
    }

    @Test func `a field ends before it is too long for a server`() throws {
        let value = String(repeating: "v", count: 1_000)
        let file = (0..<20).map { "a.example\tFALSE\t/\tFALSE\t0\tn\($0)\t\(value)\n" }.joined()
        let field = try #require(try sent(CookieJar(netscape: Array(file.utf8)), to: "http://a.example/"))
        #expect(field.split(separator: "; ").count == 8)
        let many = (0..<200).map { "a.example\tFALSE\t/\tFALSE\t0\tn\($0)\t\n" }.joined()
        let names = try #require(try sent(CookieJar(netscape: Array(many.utf8)), to: "http://a.example/"))
        #expect(names.split(separator: "; ").count == 150)
    }

    // MARK: the file

    private static let file = """
        # Netscape HTTP Cookie File
        # https://curl.se/docs/http-cookies.html
        # This file was generated by libcurl! Edit at your own risk.

        .example.com\tTRUE\t/\tFALSE\t2000000000\tall\t1
        #HttpOnly_www.example.com\tFALSE\t/in\tTRUE\t0\tsession\ts3cret=
        www.example.com\tFALSE\t/\tFALSE\t0\tempty\t
        other.example\tFALSE\t/\tFALSE\t1600000000\tgone\t2

        """

    @Test func `curl's file is read and written`() throws {
        let jar = CookieJar(netscape: Array(Self.file.utf8))
        let lines = Self.file.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("# ") }
        #expect(jar.lines == lines)
        #expect(try sent(jar, to: "https://www.example.com/in/x") == "session=s3cret=; all=1; empty=")
        #expect(try sent(jar, to: "http://www.example.com/in/x") == "all=1; empty=")
        #expect(try sent(jar, to: "http://example.com/") == "all=1")
        #expect(try sent(jar, to: "http://other.example/") == nil)
    }

    @Test(
        arguments: [
            ("a.example\tFALSE\t/\tFALSE\t0\tn\tv\r", "a.example\tFALSE\t/\tFALSE\t0\tn\tv"),
            ("  A.Example\tfalse\t/\tfalse\t0\tn\tv", "a.example\tFALSE\t/\tFALSE\t0\tn\tv"),
            ("a.example\ttrue\t/\tTrue\t7.25\tn\tv", ".a.example\tTRUE\t/\tTRUE\t7\tn\tv"),
            ("a.example\tFALSE\t\tFALSE\t\tn\tv", "a.example\tFALSE\t/\tFALSE\t0\tn\tv"),
            ("a.example\tFALSE\t/\tFALSE\t-1\tn\tv", "a.example\tFALSE\t/\tFALSE\t1\tn\tv"), ("# a comment", nil),
            ("#a.example\tFALSE\t/\tFALSE\t0\tn\tv", nil), ("a.example\tFALSE\t/\tFALSE\t0\t\tv", nil),
            ("a.example FALSE / FALSE 0 n v", nil), ("\tFALSE\t/\tFALSE\t0\tn\tv", nil),
            ("a.example\tFALSE\t/\tFALSE\tnever\tn\tv", nil), ("a.example\tFALSE\t/\tFALSE\t0\tn\tv\tmore", nil),
            ("a.example\tFALSE\t/\tFALSE\t0\tn\tv; Path=/", nil), ("a.example\tFALSE\t/\tFALSE\t0\tn\tv\u{1}", nil),
        ] as [(String, String?)]) func `a line of a file`(line: String, written: String?)
    {
        #expect(CookieJar(netscape: Array(line.utf8)).lines == (written.map { [$0] } ?? []))
    }

    @Test func `what responses set is written too`() throws {
        let jar = try jar(
            "session=new; Path=/; HttpOnly", "all=2; Domain=example.com; Secure; Max-Age=10",
            from: "https://www.example.com/")
        #expect(
            jar.lines == [
                "#HttpOnly_www.example.com\tFALSE\t/\tFALSE\t0\tsession\tnew",
                ".example.com\tTRUE\t/\tTRUE\t1700000010\tall\t2",
            ])
    }

    // MARK: dates

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("6/november/94 8:49:37", 784_111_777),
            ("08:49:37 1994 6 NOV", 784_111_777), ("1994 06 Nov 08:49:37", 784_111_777),
            ("08:49:37 6 NOV 1994 +0100", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 PST", 784_111_777), ("06 Nov 1994 08:49:37abc", 784_111_777),
            ("06th Nov 1994 08:49:37", 784_111_777), ("Thu, 01-Jan-70 00:00:01 GMT", 1),
            ("Thu, 01-Jan-69 00:00:00 GMT", 3_124_224_000), ("29 Feb 2024 00:00:00", 1_709_164_800),
            ("29 Feb 2023 00:00:00", nil), ("31 Apr 2024 00:00:00", nil), ("00 Jan 2024 00:00:00", nil),
            ("01 Jan 1600 00:00:00", nil), ("01 Jan 1601 00:00:00", -11_644_473_600), ("01 Jan 2024 24:00:00", nil),
            ("01 Jan 2024 00:60:00", nil), ("01 Jan 2024 00:00:60", nil), ("01 Jan 2024 00:00", nil),
            ("01 Jan 00:00:00", nil), ("Jan 2024 00:00:00", nil), ("01 2024 00:00:00", nil), ("", nil), ("0", nil),
            ("01 Jan 02024 00:00:00", nil), ("001 Jan 2024 00:00:00", nil),
        ] as [(String, Int64?)]) func `a date of a cookie`(text: String, seconds: Int64?)
    {
        #expect(UnixTime(cookieDate: text)?.seconds == seconds)
    }
}
