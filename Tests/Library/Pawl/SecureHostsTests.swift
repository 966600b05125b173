import Pawl
import PawlBase
import Testing

@Suite struct SecureHostsTests {
    private let now = UnixTime(seconds: 1_800_000_000)

    private func hosts(_ fields: (String, String)...) -> SecureHosts {
        var hosts = SecureHosts()
        for (host, field) in fields { _ = hosts.note(field, of: host, now: now) }
        return hosts
    }

    private func secured(_ text: String, by hosts: SecureHosts, later: Int64 = 0) throws -> String {
        hosts.secured(try WebAddress.parse(text).address, now: UnixTime(seconds: now.seconds + later)).text
    }

    @Test func `a host that sent HSTS is contacted over TLS from then on`() throws {
        let hosts = hosts(("a.example", "max-age=100"), ("B.example", "max-age=\"100\"; includeSubDomains; x=y"))
        #expect(try secured("http://a.example/f?q", by: hosts) == "https://a.example/f?q")
        #expect(try secured("http://A.example:8080/f", by: hosts) == "https://a.example:8080/f")
        #expect(try secured("http://www.b.example/f", by: hosts) == "https://www.b.example/f")
        for other in ["http://www.a.example/f", "http://ab.example/f", "http://example/f", "ftp://a.example/f"] {
            #expect(try secured(other, by: hosts) == other)
        }
        #expect(try secured("http://a.example/f", by: hosts, later: 99).hasPrefix("https"))
        #expect(try secured("http://a.example/f", by: hosts, later: 101) == "http://a.example/f")
    }

    @Test func `a max-age of 0 removes it`() {
        var hosts = hosts(("a.example", "max-age=100"))
        let hasChanged = hosts.note("max-age=0", of: "a.example", now: now)
        #expect(hasChanged)
        #expect(hosts.isEmpty)
    }

    @Test(arguments: [
        "", "max-age", "max-age=", "max-age=x", "max-age=-1", "max-age=1; max-age=1", "includeSubDomains",
        "max-age=1; includesubdomains; includeSubDomains", "max-age=1; includeSubDomains=1", "max-age=\"1",
    ]) func `an invalid field is ignored`(field: String) { #expect(SecureHosts.parse(field) == nil) }

    @Test(arguments: ["127.0.0.1", "[::1]", "localhost", "", ".a", "a b", "a\n", "\u{E4}"])
    func `a host without a name cannot request it`(host: String) { #expect(hosts((host, "max-age=100")).isEmpty) }

    @Test func `the file is read back, in curl's format too`() throws {
        let written = hosts(
            ("a.example", "max-age=86400"), ("b.example", "max-age=99999999999999999999; includeSubDomains"))
        #expect(SecureHosts(parsing: Array(written.text.utf8), now: now) == written)
        let curls = "# Your HSTS cache.\n.c.example \"20990101 00:00:00\"\nd.example \"unlimited\"\n"
        let read = SecureHosts(parsing: Array(curls.utf8), now: now)
        #expect(try secured("http://x.c.example/", by: read).hasPrefix("https"))
        #expect(try secured("http://d.example/", by: read).hasPrefix("https"))
        #expect(try secured("http://x.d.example/", by: read).hasPrefix("http:"))
    }

    @Test(arguments: [
        "a.example", "a.example ", "a.example 20990101", "a.example \"20990101 00:00\"",
        "a.example \"20991301 00:00:00\"", "127.0.0.1 \"unlimited\"", "a.example \"20000101 00:00:00\"", "\u{0}\u{0}",
        ". \"unlimited\"",
    ]) func `invalid lines are ignored`(line: String) {
        #expect(SecureHosts(parsing: Array(line.utf8), now: now).isEmpty)
        #expect(SecureHosts(parsing: Array(line.utf8), now: UnixTime(seconds: .max)).isEmpty)
    }

    @Test func `the number of entries is limited`() {
        var hosts = SecureHosts()
        for number in 0..<(SecureHosts.mostHosts + 50) {
            _ = hosts.note("max-age=\(1000 + number)", of: "h\(number).example", now: now)
        }
        #expect(hosts.text.split(separator: "\n").count == SecureHosts.mostHosts)
        #expect(hosts.text.utf8.count <= SecureHosts.mostBytes)
    }
}
