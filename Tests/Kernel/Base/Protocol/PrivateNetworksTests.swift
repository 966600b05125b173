import Testing

@testable import PawlBase

@Suite struct PrivateNetworksTests {
    private func old(_ text: String) -> [UInt8] { text.split(separator: ".").compactMap { UInt8($0) } }
    private func new(_ text: String) throws -> [UInt8] {
        try #require(IPv6Address(Array(text.utf8)[...])).groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    @Test(arguments: [
        "0.0.0.0", "10.255.1.2", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.168.0.1", "198.18.0.1", "198.19.255.255", "224.0.0.1",
        "239.1.1.1", "255.255.255.255",
    ]) func `addresses of this machine and of private networks are private`(_ text: String) throws {
        #expect(PrivateNetworks.contains(old(text)))
        #expect(PrivateNetworks.contains(try new("::ffff:\(text)")))
        #expect(PrivateNetworks.contains(try new("64:ff9b::\(text)")))
        #expect(PrivateNetworks.contains(try new("::ffff:0:\(text)")))
        #expect(PrivateNetworks.contains(try new("::\(text)")))
        #expect(PrivateNetworks.contains(try new("2606:4700::5efe:\(text)")))
        #expect(PrivateNetworks.contains(try new("2606:4700::200:5efe:\(text)")))
        let bytes = old(text)
        #expect(PrivateNetworks.contains([0x20, 0x02] + bytes + [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]))
        // Teredo: the server as it is, the client with every bit inverted.
        #expect(PrivateNetworks.contains([0x20, 1, 0, 0] + bytes + [0, 0, 0, 0, 0xF7, 0xF7, 0xF7, 0xF7]))
        #expect(PrivateNetworks.contains([0x20, 1, 0, 0, 8, 8, 8, 8, 0, 0, 0, 0] + bytes.map { ~$0 }))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.1.1.1", "128.0.0.1",
        "169.253.1.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.167.1.1", "192.169.1.1", "198.17.1.1",
        "198.20.1.1", "203.0.113.7", "223.255.255.255",
    ]) func `others are not`(_ text: String) throws {
        #expect(!PrivateNetworks.contains(old(text)))
        #expect(!PrivateNetworks.contains(try new("::ffff:\(text)")))
        #expect(!PrivateNetworks.contains(try new("64:ff9b::\(text)")))
        #expect(!PrivateNetworks.contains(try new("::ffff:0:\(text)")))
        #expect(!PrivateNetworks.contains(try new("2606:4700::5efe:\(text)")))
        #expect(!PrivateNetworks.contains([0x20, 1, 0, 0, 8, 8, 8, 8, 0, 0, 0, 0] + old(text).map { ~$0 }))
    }

    @Test(arguments: [
        "::", "::1", "::7f00:1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "100::1",
        "2002:7f00:1::", "2002:a00:1::1", "64:ff9b:1::1",
    ]) func `the same holds for the IPv6 form`(_ text: String) throws {
        #expect(PrivateNetworks.contains(try new(text)))
    }

    @Test(arguments: ["2606:4700:4700::1111", "2001:4860:4860::8888", "2002:808:808::1", "fe00::1", "100:1::1"])
    func `and for multicast and unspecified ones`(_ text: String) throws {
        #expect(!PrivateNetworks.contains(try new(text)))
    }

    @Test func `an invalid address counts as private`() { #expect(PrivateNetworks.contains([1, 2, 3])) }

    @Test func `an address says itself that it is private, by a number or a name that is not public`() {
        for text in [
            "http://127.0.0.1:8000/x", "https://192.168.1.5/", "http://[::1]:1/", "http://[fd00::1]/",
            "http://localhost/", "http://nas/", "http://nas.local/", "http://nas.LAN/", "http://x.home.arpa/",
            "http://x.internal/",
        ] { #expect(PrivateNetworks.isNamed(by: text), "\(text)") }
        for text in [
            "https://hooks.example.com/", "http://1.1.1.1/", "http://[2606:4700::1]/", "http://local.example/",
            "http://127.0.0.1.example/", "http://lan.example.com/", "no address",
        ] { #expect(!PrivateNetworks.isNamed(by: text), "\(text)") }
    }
}
