import PawlBase
import Testing

@Suite struct NoProxyListTests {
    @Test(arguments: [
        ("h:80", "h"), ("h:81", ""), ("a, h:80 b:81,.c", "a,h,.c"), ("[::1]:80", "[::1]"), ("[::1]:81", ""),
        ("*:80,a", "*"), ("*:81,a", "a"), (".example.org:80", ".example.org"),
    ]) func `an entry with a port is for that port only`(list: String, hosts: String) {
        #expect(NoProxyList.namesPorts(list))
        #expect(NoProxyList.hosts(of: list, port: 80) == hosts)
    }

    @Test(arguments: ["", "*", "h", "::1", "[::1]", "fe80::1", "10.0.0.0/8", "h:", "h:x", ":80", "h:99999", "a,b c"])
    func `other entries have none`(list: String) {
        #expect(!NoProxyList.namesPorts(list))
        #expect(NoProxyList.hosts(of: list, port: 80) == list.replacing(" ", with: ","))
    }
}
