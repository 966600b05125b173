import PawlBase
import PawlTestKit
import Testing

struct WebAddressParsingTests {
    @Test(arguments: [
        ("http://example.org", "http://example.org/"), ("HTTPS://EXAMPLE.org:443/A?b", "https://example.org/A?b"),
        ("http://example.org:80/", "http://example.org/"), ("http://example.org:/x", "http://example.org/x"),
        ("http://example.org:00080/x", "http://example.org/x"), ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org:65535/", "http://example.org:65535/"),
        ("ftp://example.org/pub/a.tar.gz", "ftp://example.org/pub/a.tar.gz"),
        ("ftp://example.org:21//etc/motd", "ftp://example.org//etc/motd"),
        ("ftps://example.org:990/a", "ftps://example.org/a"), ("sftp://example.org:22/~/a", "sftp://example.org/~/a"),
        ("sftp://example.org:2222/a", "sftp://example.org:2222/a"),
        ("  \t\r\nhttp://example.org/a \n", "http://example.org/a"),
        ("http://example.org/a b/c.txt", "http://example.org/a%20b/c.txt"),
        ("http://example.org/bücher/日本.zip", "http://example.org/b%C3%BCcher/%E6%97%A5%E6%9C%AC.zip"),
        ("http://example.org/?q=ü x&r=%20", "http://example.org/?q=%C3%BC%20x&r=%20"),
        ("http://example.org?x=1", "http://example.org/?x=1"), ("http://example.org?", "http://example.org/?"),
        ("http://example.org/?a?b", "http://example.org/?a?b"), ("http://example.org#top", "http://example.org/"),
        ("http://example.org/a?b#c?d", "http://example.org/a?b"),
        ("http://example.org/a#b/../c", "http://example.org/a"),
        ("http://example.org/100%.txt", "http://example.org/100%25.txt"),
        ("http://example.org/a%2", "http://example.org/a%252"),
        ("http://example.org/a%zzb", "http://example.org/a%25zzb"),
        ("http://example.org/a%2fb", "http://example.org/a%2fb"),
        ("http://example.org/%%41", "http://example.org/%25%41"),
        ("http://example.org/[a]{b}|c\\d^e`f\"<>", "http://example.org/%5Ba%5D%7Bb%7D%7Cc%5Cd%5Ee%60f%22%3C%3E"),
        ("http://example.org/?a[]=1&b={2}", "http://example.org/?a[]=1&b=%7B2%7D"),
        ("http://example.org/a:b@c,d;e=f!$&'()*+", "http://example.org/a:b@c,d;e=f!$&'()*+"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/../../etc", "http://example.org/etc"),
        ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
        ("http://example.org/a/.%2e/%2e/b", "http://example.org/b"), ("http://example.org/a/..", "http://example.org/"),
        ("http://example.org/a/b/..", "http://example.org/a/"), ("http://example.org/a/.", "http://example.org/a/"),
        ("http://example.org/...", "http://example.org/..."),
        // No parser takes these for an IPv4 address; a proxy may know them.
        ("http://a.1/", "http://a.1/"), ("http://files.example.206:80/", "http://files.example.206/"),
        ("http://x.0x7f/", "http://x.0x7f/"), ("http://256.256.256.256/", "http://256.256.256.256/"),
        ("http://1.2.3.256:81/a", "http://1.2.3.256:81/a"), ("http://256.0.0.1./", "http://256.0.0.1./"),
        ("http://1.2.65536/", "http://1.2.65536/"), ("http://1.16777216/", "http://1.16777216/"),
        ("http://99999999999999999999.1/", "http://99999999999999999999.1/"),
        ("http://example.org//a//b", "http://example.org//a//b"),
        ("http://user:pw@example.org/a", "http://example.org/a"),
        ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
        ("http://straße.example/", "http://xn--strae-oqa.example/"),
        ("http://i♥.example/", "http://xn--i-n3p.example/"),
        ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
        ("http://ex%61mple.org/", "http://example.org/"), ("http://example.org./a", "http://example.org./a"),
        ("http://a_b-c.example/", "http://a_b-c.example/"), ("http://1and1.example/", "http://1and1.example/"),
        ("http://localhost:8080/x", "http://localhost:8080/x"), ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://[2001:DB8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/"),
        ("http://[2001:db8::]/", "http://[2001:db8::]/"), ("http://[::]/", "http://[::]/"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://[1:2:3:4:5:6:7:8]:81/", "http://[1:2:3:4:5:6:7:8]:81/"),
        ("http://[::ffff:192.0.2.1]/", "http://[::ffff:c000:201]/"),
        ("http://[64:ff9b::192.0.2.33]/", "http://[64:ff9b::c000:221]/"),
        ("http://[1:0:2:0:3:0:4:0]/", "http://[1:0:2:0:3:0:4:0]/"), ("http://[0:0:1::]/", "http://[0:0:1::]/"),
        ("http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"),
    ]) func `a URL is kept in the form that is sent`(_ text: String, _ sent: String) throws {
        let address = try WebAddress.parse(text).address
        #expect(address.text == sent)
        // The written form parses to the same value.
        #expect(try WebAddress.parse(sent).address == address)
    }

    @Test(arguments: [
        ("", "empty"), ("   ", "empty"), ("example.org/file", "no scheme"), ("/etc/passwd", "no scheme"),
        ("example.org:8080/a", "no scheme"), ("localhost:8080", "no scheme"), ("://example.org", "no scheme"),
        ("1http://example.org", "no scheme"), ("gopher://example.org/", "unsupported scheme 'gopher'"),
        ("file:///etc/passwd", "http, https, ftp, ftps, sftp"), ("javascript:alert(1)", "unsupported scheme '"),
        ("data:text/plain,hi", "unsupported scheme '"), ("magnet:?xt=x", "magnet links need peers"),
        ("http:/example.org", "no host"), ("http:example.org", "no host"), ("http://", "no host"),
        ("http:///a", "no host"), ("http://?a", "no host"), ("http://#a", "no host"), ("http://:80/", "no host"),
        ("http://user@/", "no host"), ("http://user:pw@:80/", "no host"), ("http://h:0/", "port"),
        ("http://h:65536/", "port"), ("http://h:99999999999999999999/", "port"), ("http://h:-1/", "port"),
        ("http://h:8o/", "port"), ("http://h: 80/", "port"), ("http://h:80:80/", "port"), ("http://a b/", "character"),
        ("http://a\tb/", "control"), ("http://h/a\nb", "control"), ("http://h/\u{0}", "control"),
        ("http://h/\u{7F}", "control"), ("http://h/a\r\nHost: x", "control"),
        ("http://good.example\\@bad.example/", "backslash"), ("http://h\\x/", "backslash"),
        ("http://a..b/", "empty part"), ("http://.a/", "empty part"), ("http://./", "empty part"),
        ("http://a../", "empty part"), ("http://a!b/", "character"), ("http://a,b/", "character"),
        ("http://a*b/", "character"), ("http://a%2Fb/", "character"), ("http://a%00b/", "character"),
        ("http://a%40b/", "character"), ("http://a%zz/", "UTF-8"), ("http://a%FF/", "UTF-8"), ("http://a%/", "UTF-8"),
        ("http://good.example\u{FF0F}.bad.example/", "character"), ("http://a\u{2100}b/", "character"),
        ("http://a\u{3002}b/", "character"), ("http://a\u{200D}b/", "character"), ("http://a\u{202E}b/", "character"),
        ("http://\u{FF41}.example/", "character"), ("http://\u{301}a/", "character"),
        ("http://a.\u{301}b/", "character"), ("http://a\u{AD}b/", "character"), ("http://a\u{E000}/", "character"),
        ("http://127.1/", "IPv4"), ("http://0x7f000001/", "IPv4"), ("http://2130706433/", "IPv4"),
        ("http://0177.0.0.1/", "IPv4"), ("http://256/", "IPv4"), ("http://4294967296/", "IPv4"),
        ("http://256.256.256.0256/", "IPv4"), ("http://256.1.1.0x1/", "IPv4"), ("http://1.65535/", "IPv4"),
        ("http://1.2.65535/", "IPv4"), ("http://1.16777215/", "IPv4"), ("http://1.2.3.0x4/", "IPv4"),
        ("http://127.0.0.1./", "IPv4"), ("http://0x/", "IPv4"), ("http://[::1/", "not closed"),
        ("http://[]/", "malformed"), ("http://[:]/", "malformed"), ("http://[:::]/", "malformed"),
        ("http://[1::2::3]/", "malformed"), ("http://[1:2:3:4:5:6:7]/", "malformed"),
        ("http://[1:2:3:4:5:6:7:8:9]/", "malformed"), ("http://[1:2:3:4:5:6:7::8]/", "malformed"),
        ("http://[12345::]/", "malformed"), ("http://[g::]/", "malformed"), ("http://[::1.2.3]/", "malformed"),
        ("http://[::1.2.3.256]/", "malformed"), ("http://[1.2.3.4::]/", "malformed"), ("http://[1:]/", "malformed"),
        ("http://[:1]/", "malformed"), ("http://[::1.2.3.4.5]/", "malformed"), ("http://[::1..2.3]/", "malformed"),
        ("http://[fe80::1%eth0]/", "zone"), ("http://[fe80::1%25eth0]/", "zone"), ("http://[::1]x/", "follows"),
        ("http://[::1]80/", "follows"), ("http://::1/", "no host"), ("http://a::1/", "port"),
        ("ftp://u%0d%0aDELE%20x:p@h/", "control"), ("ftp://u:p%00@h/", "control"), ("http://%FF:p@h/", "UTF-8"),
        ("http://u:%FF@h/", "UTF-8"),
    ]) func `a URL that two parsers could read differently is refused with code 28`(_ text: String, _ why: String) {
        do {
            let result = try WebAddress.parse(text)
            Issue.record("\(text.debugDescription) was read as \(result.address.text)")
        } catch {
            #expect(error.code == .badOption)
            #expect(error.description.contains(why), "\(error)")
            #expect(!error.description.utf8.contains { $0 < 0x20 })
        }
    }

    /// After RFC 3492 §7.1, and letters with a separate combining mark.
    @Test(arguments: [
        ("ليهمابتكلموشعربي", "xn--mgbcah9ar9a4efegftvvn"), ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
        ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"), ("日本語", "xn--wgv71a119e"), ("안녕하세요", "xn--o70b841ad5c9qb763b"),
        ("bu\u{308}cher", "xn--bcher-kva"), ("e\u{302}\u{301}", "xn--ilg"), ("e\u{301}", "xn--9ca"),
        ("か\u{3099}が", "xn--v8ja"), ("Ж", "xn--f1a"), ("XN--BCHER-KVA", "xn--bcher-kva"), ("q\u{301}", "xn--q-xbb"),
    ]) func `internationalized names are sent in their DNS form`(_ name: String, _ ascii: String) throws {
        #expect(try WebAddress.parse("http://\(name).example/").address.host == ascii + ".example")
    }

    @Test(arguments: [
        String(repeating: "ü", count: 58), String(repeating: "u\u{308}", count: 58), String(repeating: "ü", count: 64),
        String(repeating: "ü", count: 100_000), "u" + String(repeating: "\u{308}", count: 300),
    ]) func `an internationalized name that is too long is refused`(_ name: String) throws {
        let error = #expect(throws: Failure.self) { try WebAddress.parse("http://\(name)/") }
        #expect(error?.why == "its host name is too long")
    }

    @Test func `the longest internationalized name is accepted`() throws {
        let name = String(repeating: "u\u{308}", count: 57)
        #expect(try WebAddress.parse("http://\(name)/").address.host.utf8.count == 63)
    }

    @Test func `a host name has at most 253 bytes, a label 63`() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(try WebAddress.parse("http://\(longest)/").address.host == longest)
        #expect(try WebAddress.parse("http://\(longest)./").address.host == longest + ".")
        #expect(throws: Failure.self) { try WebAddress.parse("http://\(longest)b/") }
        #expect(throws: Failure.self) { try WebAddress.parse("http://\(label)a.example/") }
    }

    @Test(arguments: [
        ("http://user:pw@h/", "user", "pw"), ("http://user@h/", "user", ""), ("http://user:@h/", "user", ""),
        ("http://:pw@h/", "", "pw"), ("http://us%3Aer:p%40w%2F%25@h/", "us:er", "p@w/%"),
        ("ftp://me@mail.example:a:b@h/", "me@mail.example", "a:b"),
        ("ftp://anonymous:me@mail.example@h/", "anonymous", "me@mail.example"), ("http://%C3%BC:100%@h/", "ü", "100%"),
        ("http://a b:c d@h/", "a b", "c d"),
    ]) func `user info becomes credentials and is removed from the URL`(
        _ text: String, user: String, password: String
    ) throws {
        let (address, credentials) = try WebAddress.parse(text)
        #expect(credentials == Credentials(user: user, password: password))
        #expect(address.host == "h")
        #expect(!address.text.contains("@"))
    }

    @Test(arguments: ["http://h/", "http://@h/", "http://h/a@b", "http://h/?a@b"])
    func `a URL without user info has no credentials`(_ text: String) throws {
        #expect(try WebAddress.parse(text).credentials == nil)
    }

    @Test(arguments: [
        ("http://user:secret@a b/p?token=secret", "http://…@a b/p?…"), ("http://user:sec/ret@h:x/", "http://…@h:x/"),
        ("http://user:se?cret@h/", "http://…"), ("htp://h/f?mail=a@b&token=secret", "htp://h/f?…"),
        ("http://h:8o/f?mail=a@b&token=secret", "http://…"), ("http://h:0/\u{1B}[31m", "http://h:0/\u{FFFD}[31m"),
    ]) func `a rejection contains no secret and no control character`(_ text: String, _ place: String) {
        do {
            _ = try WebAddress.parse(text)
            Issue.record("\(text) was accepted")
        } catch {
            #expect(!error.description.contains("secret"))
            #expect(!error.description.contains("cret@"))
            #expect(!error.description.contains("\u{1B}"))
            if !text.contains("sec/ret") { #expect(error.place == place) }
        }
    }

    @Test func `a rejection of a very long text is short`() {
        let error = #expect(throws: Failure.self) { try WebAddress.parse(String(repeating: "x", count: 100_000)) }
        #expect((error?.description.utf8.count ?? 0) < 1000)
    }

    @Test func `no text traps, and an accepted one is parsed back as the same`() throws {
        var dice = Dice(seed: 1)
        var accepted = 0
        for round in 0..<20_000 {
            let bytes =
                round % 2 == 0
                ? dice.bytes(upTo: 40, from: "http://a.b:8[]@%?#/..\\1f ")
                : dice.damaged("https://us%20er:pw@[2001:db8::1.2.3.4]:8080/a/../b%2e?q=ü#f")
            guard let (address, _) = try? WebAddress.parse(String(decoding: bytes, as: UTF8.self)) else { continue }
            accepted += 1
            #expect(try WebAddress.parse(address.text).address == address)
            #expect(address.path.utf8.first == UInt8(ascii: "/"))
            _ = (address.lastPathComponent, address.isLoopback)
        }
        #expect(accepted > 100)
    }
}
