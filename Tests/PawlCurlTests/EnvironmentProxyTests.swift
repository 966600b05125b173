import PawlCore
import Testing

@testable import PawlCurl

/// A proxy of the environment, for downloads that may not use its login.
@Suite struct EnvironmentProxyTests {
    @Test(arguments: [
        ("http://u:p@proxy:8080", "http://proxy:8080"), ("u:p@proxy:8080/", "proxy:8080/"),
        ("socks5h://a@b@proxy", "socks5h://proxy"), ("http://u:p%40@[::1]:1/x@y", "http://[::1]:1/x@y"),
    ])
    func `a login is omitted`(proxy: String, plain: String) {
        #expect(EnvironmentProxy.withoutLogin(proxy) == plain)
    }

    @Test(arguments: ["http://proxy:8080", "proxy", "http://proxy/a@b", ""])
    func `one without a login is left to libcurl`(proxy: String) {
        #expect(EnvironmentProxy.withoutLogin(proxy) == nil)
    }
}
