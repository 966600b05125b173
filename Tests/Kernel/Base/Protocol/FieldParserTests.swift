import PawlBase
import PawlTestKit
import Testing

struct FieldParserTests {
    private static let now = UnixTime(seconds: 784_111_777)

    @Test(arguments: [
        ("0", 0), ("120", 120), (" 120 ", 120), ("0120", 120), ("1.5", 2), ("1.0", 1), ("1.", 1), ("86400", 86_400),
        ("86401", 86_400), ("9223372036854775807", 86_400), ("99999999999999999999999", 86_400),
        ("9223372036854775807.5", 86_400), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Sun, 06 Nov 1993 08:49:37 GMT", 0), ("Sun, 06 Nov 2094 08:49:37 GMT", 86_400),
    ]) func `Retry-After is seconds or a date, at most a day, never negative`(_ text: String, _ seconds: Double) {
        #expect(RetryAfter.parse(text, now: Self.now) == .seconds(seconds))
    }

    @Test(arguments: ["", " ", "-1", "+1", "soon", "1s", "1,5", "1.5.5", ".5", "1e3", "Sun, 06 Foo 1994 08:50:37 GMT"])
    func `an empty Retry-After is none`(_ text: String) { #expect(RetryAfter.parse(text, now: Self.now) == nil) }

    @Test func `no clock makes Retry-After trap`() {
        let date = "Sun, 06 Nov 1994 08:50:37 GMT"
        #expect(RetryAfter.parse(date, now: UnixTime(seconds: .min)) == RetryAfter.longest)
        #expect(RetryAfter.parse(date, now: UnixTime(seconds: .max)) == .zero)
    }

    @Test(arguments: [
        ("text/html", "text", "html", []), ("TEXT/Html; Charset=UTF-8", "text", "html", ["charset=UTF-8"]),
        ("multipart/byteranges; boundary=\"a;b\\\"c\"; x", "multipart", "byteranges", ["boundary=a;b\"c", "x="]),
        ("application/zip;;; a = b ;c=\"d\" e;f=g", "application", "zip", ["a=b", "c=d", "f=g"]),
        ("text/plain; a=\"open", "text", "plain", ["a=open"]), ("text/plain; a=\"x\\", "text", "plain", ["a=x\\"]),
        ("text/plain, text/html; a=b", "text", "plain", []), ("application/x-tar ; =b", "application", "x-tar", []),
    ]) func `a media type is parsed`(_ text: String, _ type: String, _ subtype: String, _ parameters: [String]) {
        let media = MediaType(parsing: text)
        #expect(media?.type == type)
        #expect(MediaType.name(in: text) == "\(type)/\(subtype)")
        #expect(media?.subtype == subtype)
        #expect(media?.parameters.map { "\($0.name)=\($0.value)" } == parameters)
    }

    @Test(arguments: ["", "text", "text/", "/html", "text/html/x", "te xt/html", "text/ht\u{E9}ml", "; a=b"])
    func `an invalid media type is none`(_ text: String) {
        #expect(MediaType(parsing: text) == nil)
        #expect(MediaType.name(in: text) == nil)
    }

    @Test func `parameters are found by name, the first of several`() {
        let media = MediaType(parsing: "a/b; c=1; d=2; c=3")
        #expect(media?["c"] == "1")
        #expect(media?["e"] == nil)
    }

    @Test func `links of mirrors and descriptions are parsed`() {
        let links = WebLink.parse(
            """
            <http://a.example/f>; rel=duplicate; pri=1; geo=uk, </f.meta4>; rel="describedby  Other"; \
            type="application/metalink4+xml", <b c,d>;REL="Duplicate";rel=next , < e >
            """)
        #expect(links.map(\.target) == ["http://a.example/f", "/f.meta4", "b c,d", "e"])
        #expect(links.map(\.relations) == [["duplicate"], ["describedby", "other"], ["duplicate"], []])
        #expect(links.map { $0["pri"] } == ["1", nil, nil, nil])
        #expect(links[1]["type"] == "application/metalink4+xml")
    }

    @Test(arguments: [
        ("", []), ("nonsense", []), ("<a", []), ("<a>, <b", ["a"]), ("junk <a>; rel=x", ["a"]),
        ("<a>junk, <b>", ["a", "b"]), ("<>", [""]), ("<a>; title=\"x, <b>\"; rel=y", ["a"]),
        ("<a>; title=\"open, <b>", ["a"]), (",,<a>,,<b>,", ["a", "b"]),
    ]) func `an invalid link is skipped`(_ field: String, _ targets: [String]) {
        #expect(WebLink.parse(field).map(\.target) == targets)
    }

    @Test func `no field traps`() {
        var dice = Dice(seed: 6)
        for _ in 0..<10_000 {
            let text = String(decoding: dice.bytes(upTo: 40, from: "</>;=\", arel\\0123456789."), as: UTF8.self)
            _ = (WebLink.parse(text), RetryAfter.parse(text, now: Self.now))
            let media = MediaType(parsing: text)
            #expect(MediaType.name(in: text) == media.map { "\($0.type)/\($0.subtype)" })
            _ = RetryAfter.parse(String(decoding: dice.damaged("120"), as: UTF8.self), now: Self.now)
        }
    }
}
