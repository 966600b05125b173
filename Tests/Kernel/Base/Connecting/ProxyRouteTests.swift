import Testing

@testable import PawlBase

@Suite struct ProxyRouteTests {
    private func route(
        _ url: String = "http://host.example/", _ environment: [String: String] = [:],
        _ change: (inout TransferSettings.Values) -> Void = { _ in }
    ) throws -> ProxyRoute? {
        var values = TransferSettings.Values()
        change(&values)
        let address = try WebAddress.parse(url).address
        return try ProxyRoute.route(to: address, values, environment: { environment[$0] })
    }

    @Test(
        arguments: [
            ("p", .http(isSecure: false), "p", 1080), ("http://P:3128/x", .http(isSecure: false), "p", 3128),
            ("HTTPS://p", .http(isSecure: true), "p", 443), ("socks4://p", .socks4(resolves: false), "p", 1080),
            ("socks4a://p", .socks4(resolves: true), "p", 1080), ("socks5://p:9", .socks5(resolves: false), "p", 9),
            ("socks5h://[::1]:9", .socks5(resolves: true), "::1", 9),
            ("u:p@[FE80::1%25eth0]", .http(isSecure: false), "fe80::1%eth0", 1080),
            ("http://bücher.example", .http(isSecure: false), "xn--bcher-kva.example", 1080),
        ] as [(String, ProxyRoute.Kind, String, UInt16)])
    func `scheme, host and port`(text: String, kind: ProxyRoute.Kind, host: String, port: UInt16) throws {
        let route = try #require(try route { $0.proxy = text })
        #expect(route.kind == kind && route.host == host && route.port == port)
        #expect(!route.place.contains("@"))
    }

    @Test func `the login of the URL is decoded, and another one replaces it`() throws {
        let text = "http://us%40er:p:w%2F@p"
        #expect(try route { $0.proxy = text }?.login == Credentials(user: "us@er", password: "p:w/"))
        #expect(try route { $0.proxy = "http://user@p" }?.login == Credentials(user: "user", password: ""))
        #expect(try route { $0.proxy = "http://p" }?.login == nil)
        let other = Credentials(user: "o", password: "x")
        let replaced = try route {
            $0.proxy = text
            $0.proxyLogin = other
        }
        #expect(replaced?.login == other)
    }

    @Test func `variables of the environment`() throws {
        #expect(try route("http://h/", ["http_proxy": "a", "all_proxy": "b"])?.host == "a")
        #expect(try route("http://h/", ["HTTP_PROXY": "a"]) == nil, "CGI sets it from a request's field")
        #expect(try route("https://h/", ["HTTPS_PROXY": "a"])?.host == "a")
        #expect(try route("https://h/", ["http_proxy": "a", "ALL_PROXY": "b"])?.host == "b")
        #expect(try route("http://h/", ["http_proxy": "a"]) { $0.proxy = "" } == nil)
        #expect(try route("http://h/", ["http_proxy": "a"]) { $0.proxy = "g" }?.host == "g")
        #expect(try route("http://h/", ["http_proxy": "a", "no_proxy": "h"]) == nil)
        #expect(try route("http://h/", ["NO_PROXY": "h"]) { $0.proxy = "g" } == nil)
        #expect(try route("http://h/", ["http_proxy": "a", "no_proxy": "h"]) { $0.noProxy = "" }?.host == "a")
    }

    @Test func `strangers do not use the login of the environment`() throws {
        let environment = ["http_proxy": "http://user:secret@p"]
        #expect(try route("http://h/", environment)?.login?.user == "user")
        let route = try #require(try route("http://h/", environment) { $0.usesOwnersSecrets = false })
        #expect(route.host == "p" && route.login == nil)
    }

    @Test func `a URL that cannot be used is refused, and the variable is named, not its value`() {
        #expect(throws: TransferFault.unusableProxy) { try route { $0.proxy = "ftp://p" } }
        let fault = TransferFault.unusableProxy(in: "all_proxy")
        #expect(throws: fault) { try route("http://h/", ["all_proxy": "http://u:secret@x@p"]) }
        #expect(!fault.text.contains("secret"))
    }

    @Test(arguments: [
        ("host.example", true), ("example", true), (".example", true), ("example.", true), ("HOST.Example", true),
        ("ost.example", false), ("other, host.example:80", true), ("host.example:81", false), ("*", true),
        ("a,*", true),
        ("*.example", false), ("", false), (".", false), ("sub.host.example", false), ("10.0.0.0/8", false),
    ]) func `a list covers hosts and what is below them`(list: String, isCovered: Bool) {
        #expect(NoProxyList.covers(list, host: "host.example", port: 80) == isCovered)
        #expect(NoProxyList.covers(list, host: "host.example.", port: 80) == isCovered)
    }

    @Test(arguments: [
        ("10.1.2.3", "10.1.2.3", true), ("10.0.0.0/8", "10.1.2.3", true), ("10.1.2.0/23", "10.1.3.4", true),
        ("10.1.2.0/24", "10.1.3.4", false), ("10.1.2.3/32", "10.1.2.4", false), ("0.0.0.0/0", "10.1.2.3", true),
        ("10.0.0.0/33", "10.1.2.3", false), ("10.0.0.0/x", "10.1.2.3", false), ("10.0.0.0/-1", "10.1.2.3", false),
        ("1.2.3", "10.1.2.3", false), ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
        ("[::1]", "::1", true), ("0:0::1", "::1", true), ("[::1]:80", "::1", true), ("[::1]:81", "::1", false),
        ("10.0.0.0/8", "::1", false), ("::/0", "10.1.2.3", false), ("10.0.0.0/8:80", "10.1.2.3", true),
    ]) func `a list covers networks`(list: String, host: String, isCovered: Bool) {
        #expect(NoProxyList.covers(list, host: host, port: 80) == isCovered)
    }
}
