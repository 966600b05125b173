import PawlCore
import Testing

@Suite struct ProxyURLTests {
    @Test(arguments: [
        "", "h", "h:3128", "http://h", "HTTPS://u:p@h:3128/", "socks5h://[::1]:1080", "socks4://127.0.0.1:9",
        "u:p@h", "http://u:p%20w@h.example",
    ])
    func `a proxy that libcurl can use is accepted`(text: String) { #expect(ProxyURL.isUsable(text)) }

    @Test(arguments: [
        "http://[", "http://[]", "http://[h]", "http://", "ftp://h", "h:0", "h:99999", "h:x", ":3128",
        "http://a b",
        "http://[::1]x", "[::1]:", "socks6://h", "http://h\r\nX: y", "://h", "http://@",
    ])
    func `what cannot be a proxy is refused when it is set`(text: String) {
        #expect(!ProxyURL.isUsable(text))
    }
}
