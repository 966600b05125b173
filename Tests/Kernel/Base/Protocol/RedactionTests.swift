import PawlBase
import PawlTestKit
import Testing

struct RedactionTests {
    @Test(arguments: [
        ("Authorization: Basic abc", "Authorization: …"), ("authorization:abc", "authorization: …"),
        ("Cookie: a=b", "Cookie: …"), ("Set-Cookie: a=b; Path=/", "Set-Cookie: …"),
        ("Proxy-Authorization: x", "Proxy-Authorization: …"), ("X-Api-Key: abc", "X-Api-Key: …"),
        ("PRIVATE-TOKEN : abc", "PRIVATE-TOKEN : …"), ("X-Amz-Security-Token: abc", "X-Amz-Security-Token: …"),
        ("X-Session: a:b", "X-Session: …"), ("Accept: */*", "Accept: */*"), ("Content-Length: 5", "Content-Length: 5"),
        ("Location: https://u:p@h/a?sig=x#y", "Location: https://…@h/a?…"), ("Location: /a?sig=x", "Location: /a?…"),
        ("Referer: http://h/?", "Referer: http://h/?"), ("Range: bytes=0-5", "Range: bytes=0-5"),
        ("GET /a?sig=x HTTP/1.1", "GET /a?… HTTP/1.1"), ("X: a\u{1B}[1mb\u{0}", "X: a\u{FFFD}[1mb\u{FFFD}"),
        ("\u{1B}Cookie: a", "\u{FFFD}Cookie: …"), ("", ""), (":", ":"), ("no colon", "no colon"),
    ]) func `secret headers keep their name only`(_ line: String, _ shown: String) {
        #expect(Redaction.header(line) == shown)
    }

    @Test(arguments: [
        ("could not fetch https://user:pw@h:81/p/q?token=x&y now", "could not fetch https://…@h:81/p/q?… now"),
        ("\"ftp://h/a?b\", <sftp://u@h/c#d>", "\"ftp://h/a?…\", <sftp://…@h/c#…>"),
        ("socks5h://u:p@proxy:1080", "socks5h://…@proxy:1080"), ("http://a@b:c@h/", "http://…@h/"),
        ("see url=http://u:p@h/x", "see url=http://…@h/x"), ("http://p/http://u:pw@h/x?y=z", "http://p/http://…@h/x?…"),
        ("http://u:p/w@h/x", "http://…"), ("http://h:80/@scope/x", "http://h:80/@scope/x"),
        ("http://[::1]:80/a", "http://[::1]:80/a"), ("http://h?x", "http://h?…"), ("http://h#x", "http://h#…"),
        ("http://h/a?u=http://x:y@z/", "http://h/a?…"), ("://u:p@h", "://…@h"), ("what? a=b", "what? a=b"),
        ("what?a=b", "what?…"), ("a:b://", "a:b://"), ("why?", "why?"), ("x#http://u:p@h/", "x#…"),
        ("/a#top", "/a#top"), ("http://h:x/a/http://i:y/b", "http://h:x/a/http://i:y/b"),
        ("one\ntwo\thttp://u@h", "one\ntwo\thttp://…@h"), ("plain", "plain"), ("", ""),
    ]) func `addresses in texts lose user info, query and fragment`(_ text: String, _ shown: String) {
        #expect(Redaction.text(text) == shown)
    }

    @Test(arguments: [
        ("u:pw@h/x", "…@h/x"), ("u:p@w@h:80/x?y=z", "…@h:80/x?…"), ("u:p/w@h/x", "…"), ("u:p?w@h/x", "…"),
        ("h:80/@scope/x", "h:80/@scope/x"), ("h.org/a:b@c", "h.org/a:b@c"), ("u@h/x", "u@h/x"),
        ("[::1]:80/a@b", "[::1]:80/a@b"), ("plain", "plain"), (":@", "…@"), ("http://u:p@h/x", "http://…@h/x"),
    ]) func `an address without a scheme loses its login`(_ text: String, _ shown: String) {
        #expect(Redaction.address(text) == shown)
    }

    @Test(arguments: ["://", "://a:b/", "://a@", "?://", "\"", "://a:b@c:d/?"])
    func `redacting a long text takes linear time`(_ part: String) {
        // Half a megabyte: seconds become hours if the time is quadratic.
        let text = String(repeating: part, count: 500_000 / part.utf8.count)
        #expect(!Redaction.text(text).contains("a@"))
        #expect(Redaction.address(text).count <= 301)
    }

    @Test func `long texts are truncated with a mark`() {
        #expect(Redaction.clipped("abc", to: 3) == "abc")
        #expect(Redaction.clipped("abcd", to: 3) == "abc…")
        #expect(Redaction.clipped("", to: 0) == "")
    }

    @Test func `a password never survives, wherever it is`() {
        var dice = Dice(seed: 7)
        for _ in 0..<5000 {
            let before = String(decoding: dice.bytes(upTo: 12, from: "ab:/ ."), as: UTF8.self)
            let path = String(decoding: dice.bytes(upTo: 12, from: "ab:/.@"), as: UTF8.self)
            let text = "\(before) https://user:SECRET@h/\(path)?q=SECRET"
            #expect(!Redaction.text(text).contains("SECRET"), "\(text.debugDescription)")
        }
    }
}
