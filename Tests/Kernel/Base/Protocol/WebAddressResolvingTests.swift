import PawlBase
import PawlTestKit
import Testing

struct WebAddressResolvingTests {
    /// RFC 3986 §5.4.1 and §5.4.2, the examples that are http URLs.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g"),
    ]) func `references resolve as in RFC 3986`(_ reference: String, _ result: String) throws {
        let base = try WebAddress.parse("http://a/b/c/d;p?q").address
        #expect(try base.resolving(reference).text == result)
    }

    @Test(arguments: [
        ("https://other.example/x", "https://other.example/x"), ("HTTP://Other.example", "http://other.example/"),
        ("//cdn.example:444/x?y", "https://cdn.example:444/x?y"), ("//user:pw@cdn.example/x", "https://cdn.example/x"),
        ("https://user:pw@cdn.example/x", "https://cdn.example/x"),
        ("https://%00:%FF@cdn.example/x", "https://cdn.example/x"),
        ("/my file (1).zip", "https://h.example:8443/my%20file%20(1).zip"),
        (" next \t", "https://h.example:8443/dir/next"), ("/ümlaut?ü", "https://h.example:8443/%C3%BCmlaut?%C3%BC"),
        ("/a%2Fb%zz", "https://h.example:8443/a%2Fb%25zz"), ("?", "https://h.example:8443/dir/file?"),
        ("/\\evil.example", "https://h.example:8443/%5Cevil.example"),
        ("a@b:c/d", "https://h.example:8443/dir/a@b:c/d"), ("ftp://h.example/x", "ftp://h.example/x"),
    ]) func `references are resolved in the forms that servers send`(_ reference: String, _ result: String) throws {
        let base = try WebAddress.parse("https://h.example:8443/dir/file?sig=1").address
        #expect(try base.resolving(reference).text == result)
    }

    @Test(arguments: [
        "file:///etc/passwd", "javascript:alert(1)", "data:,x", "gopher://h/", "name:with-colon.zip", "http:g",
        "https:///x", "//", "//user@", "http://a b/", "//good\\@bad/", "/a\u{0}b", "/a\nb", "http://h:99999/",
        "http://127.1/",
    ]) func `a reference that resolves to nothing is refused with code 22`(_ reference: String) throws {
        let base = try WebAddress.parse("https://h.example/dir/file?sig=secret").address
        let error = #expect(throws: Failure.self) { try base.resolving(reference) }
        #expect(error?.code == .badResponse)
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("from https://h.example/dir/file?…") == true)
    }

    @Test(arguments: [
        ("http://localhost/", true), ("http://LOCALHOST:81/", true), ("http://a.localhost/", true),
        ("http://localhost./", true), ("http://127.0.0.1/", true), ("http://127.255.0.9/", true),
        ("http://[::1]/", true), ("http://[::ffff:127.0.0.1]/", true), ("http://localhost.example/", false),
        ("http://notlocalhost/", false), ("http://128.0.0.1/", false), ("http://[::2]/", false),
        ("http://[::ffff:10.0.0.1]/", false), ("http://127.example/", false), ("http://10.127.0.1/", false),
    ]) func `loopback is distinguished from the network`(_ text: String, _ isLoopback: Bool) throws {
        #expect(try WebAddress.parse(text).address.isLoopback == isLoopback)
    }

    @Test func `a host that was not parsed is no loopback`() {
        #expect(!WebAddress(scheme: .http, host: "::x", port: 80, path: "/", query: nil).isLoopback)
    }

    @Test(arguments: [
        ("http://h/a/b.zip", "b.zip"), ("http://h/a/b%20c.zip?x=/y.zip", "b c.zip"), ("http://h/", ""),
        ("http://h/a/", ""), ("http://h", ""), ("http://h/%E6%97%A5", "日"), ("http://h/caf%E9", "caf\u{FFFD}"),
        ("http://h/a%2Fb", "a/b"), ("http://h/a%2", "a%2"), ("ftp://h/a.txt;type=i", "a.txt"),
        ("ftps://h/a.txt;type=A", "a.txt"), ("http://h/a.txt;type=i", "a.txt;type=i"), ("ftp://h/;type=i", ""),
    ]) func `the last path component is decoded`(_ text: String, _ name: String) throws {
        #expect(try WebAddress.parse(text).address.lastPathComponent == name)
    }

    @Test func `the redacted form shows that there is a query, not which`() throws {
        let address = try WebAddress.parse("https://user:pw@h.example:8443/a b?sig=secret#x").address
        #expect(address.redacted == "https://h.example:8443/a%20b?…")
        #expect(try WebAddress.parse("http://[::1]/a").address.redacted == "http://[::1]/a")
    }

    @Test(arguments: [
        "http://h.example/a/b.c", "https://h.example/", "http://127.0.0.1:8080/f1", "https://h.example:443/a",
        "http://h.example:080/a", "http://1.2.3/a", "http://h.example:0/a", "http://h.example:65536/a",
        "http://H.example/a", "http://h.example/.a", "http://h.example/a/../b", "http://h.example/a%2f",
        "http://h.example/a?b", "http://h.example/a#b", "http://u@h.example/a", "http://h.example", "http:///a",
        "http://h.example:/a", "http://h..example/a", "http://h.1/a", "http://h.example/a b", "https://h:8443//a",
    ]) func `a text that is the address's own is read as any other`(_ text: String) throws {
        func parts(_ text: String) -> [String]? {
            guard let address = try? WebAddress.parse(text).address else { return nil }
            let query = address.query ?? "none"
            return [address.text, address.scheme.name, address.host, "\(address.port)", address.path, query]
        }
        #expect(parts(text) == parts(" " + text))
    }

    @Test func `a changed part is a part of the text`() throws {
        var address = try WebAddress.parse("https://h.example:8443/a b?x=y").address
        let other = address
        address.query = nil
        #expect(address.text == "https://h.example:8443/a%20b")
        #expect(address != other)
        address.query = "x=y"
        #expect(address == other && address.hashValue == other.hashValue)
        address.path = "/c"
        #expect(address.text == "https://h.example:8443/c?x=y")
        #expect(other.text == "https://h.example:8443/a%20b?x=y")
    }

    @Test func `an origin is scheme, host and port, however they are written`() throws {
        func origin(_ text: String) throws -> Origin { try WebAddress.parse(text).address.origin }
        #expect(try origin("http://a.example/x") == origin("HTTP://u:p@A.example:80/y?z"))
        #expect(try origin("http://b\u{FC}cher.example/") == origin("http://xn--bcher-kva.example/"))
        #expect(try origin("http://[::1]/") == origin("http://[0::0:1]/"))
        #expect(try origin("http://a.example/") != origin("https://a.example/"))
        #expect(try origin("http://a.example/") != origin("http://a.example:81/"))
        #expect(try origin("http://a.example/") != origin("http://b.example/"))
    }

    @Test func `a URL that was built and not parsed still resolves`() throws {
        let base = WebAddress(scheme: .http, host: "h", port: 80, path: "", query: nil)
        #expect(try base.resolving("x").text == "http://h/x")
    }

    @Test func `no reference traps`() throws {
        var dice = Dice(seed: 2)
        let base = try WebAddress.parse("https://h.example/dir/file?sig=1").address
        for _ in 0..<20_000 {
            let bytes = dice.bytes(upTo: 24, from: "http:/..?#%2e[]@\\ab")
            guard let result = try? base.resolving(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(try WebAddress.parse(result.text).address == result)
        }
    }
}
