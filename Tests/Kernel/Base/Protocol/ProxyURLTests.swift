import PawlBase
import Testing

@Suite struct ProxyURLTests {
    @Test(arguments: [
        "", "h", "h:3128", "http://h", "HTTPS://u:p@h:3128/", "socks5h://[::1]:1080", "socks4://127.0.0.1:9", "u:p@h",
        "http://u:p%20w@h.example", "http://h?@x", "[fe80::1%eth0]:1", "h_1", "bücher.example",
    ]) func `a proxy that libcurl can use is accepted`(text: String) { #expect(ProxyURL.isUsable(text)) }

    @Test(arguments: [
        "http://[", "http://[]", "http://[h]", "http://", "ftp://h", "h:0", "h:99999", "h:x", ":3128", "http://a b",
        "http://[::1]x", "[::1]:", "socks6://h", "http://h\r\nX: y", "://h", "http://@", "u:p@x@h", "[zz:1]",
        "[1.2.3.4]", "h%00", "h!", "a,b", "h;b", "[::1%]",
    ]) func `what cannot be a proxy is refused when it is set`(text: String) { #expect(!ProxyURL.isUsable(text)) }

    @Test(arguments: [
        ("http://u:p@proxy:8080", "http://proxy:8080"), ("u:p@proxy:8080/", "proxy:8080/"),
        ("socks5h://a@b@proxy", "socks5h://proxy"), ("http://u:p%40@[::1]:1/x@y", "http://[::1]:1/x@y"),
        ("http://u@h?@x", "http://h?@x"),
    ]) func `a login is omitted`(proxy: String, plain: String) { #expect(ProxyURL.withoutLogin(proxy) == plain) }

    @Test(arguments: ["http://proxy:8080", "proxy", "http://proxy/a@b", "http://proxy?a@b", "h#@b", ""])
    func `without a login there is nothing to omit`(proxy: String) { #expect(ProxyURL.withoutLogin(proxy) == nil) }
}
