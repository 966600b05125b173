import Testing

@testable import PawlBase

@Suite struct AddressOverrideTests {
    @Test(
        arguments: [
            ("Example.ORG:443:192.0.2.1", "example.org", 443, "192.0.2.1"),
            ("example.org:80:2001:db8::1", "example.org", 80, "2001:db8::1"),
            ("example.org:80:[2001:db8::1]", "example.org", 80, "2001:db8::1"),
            ("[::1]:8080:127.0.0.1", "::1", 8080, "127.0.0.1"), ("*:443:127.0.0.1", "", 443, "127.0.0.1"),
        ] as [(String, String, UInt16, String)]) func `host, port and one numeric address`(
            text: String, host: String, port: UInt16, address: String
        )
    {
        let found = AddressOverride(text)
        #expect(found?.host == host && found?.port == port && found?.address == address)
    }

    @Test(arguments: [
        "", ":", "a", "a:80", "a:80:", "a:0:127.0.0.1", "a:65536:127.0.0.1", "a:+80:127.0.0.1", "a:80:b.example",
        "a:80:127.0.0.1,127.0.0.2", "a:80:127.0.0", "a:80:127.0.0.256", "a:80:1.2.3.4.5", "a:80:[::1",
        "[::1:80:1.2.3.4", "a/b:80:127.0.0.1", "u@a:80:127.0.0.1", ":80:127.0.0.1", "a b:80:127.0.0.1",
        "a:80:127.0.0.1\n", "+a:80:::g",
    ]) func `anything else is refused`(text: String) { #expect(AddressOverride(text) == nil) }
}
