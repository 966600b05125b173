import PawlBase
import Testing

@Suite struct RequestFieldTests {
    @Test func `only harmless fields are sent to another origin`() {
        for name in ["accept", "accept-language", "accept-charset", "user-agent"] {
            #expect(RequestField.mayCross(name))
        }
        for name in [
            "authorization", "cookie", "x-api-key", "private-token", "acceptable", "referer", "user-agent-x",
            "x-accept", "", "cache-control", "origin", "proxy-authorization",
        ] { #expect(!RequestField.mayCross(name)) }
    }

    @Test(
        arguments: [
            ("https://a.example/b?c=d", WebAddress.Scheme.https, "https://a.example/"),
            ("http://u:p@a.example:81/b", .https, "http://a.example:81/"),
            ("http://a.example", .http, "http://a.example/"), ("https://a.example/", .http, nil),
            ("ftp://a.example/b", .https, nil), ("a.example", .https, nil), ("", .https, nil),
            ("http://a.example/\r\nX: y", .https, nil),
        ] as [(String, WebAddress.Scheme, String?)]) func `a Referer is cut to its origin`(
            _ text: String, _ scheme: WebAddress.Scheme, _ cut: String?
        )
    {
        let crossed = RequestField.referer(text, acrossTo: scheme)
        #expect(crossed == cut || crossed == cut?.replacing("a.example/", with: "a.example:443/"))
    }

    @Test func `no value in a request can end its line`() {
        #expect(FieldText.isSafe("a b\tc ü\u{202E}"))
        for evil in ["\r", "\n", "\u{0}", "\u{1B}", "\u{7F}", "\r\n"] { #expect(!FieldText.isSafe("a" + evil)) }
    }
}
