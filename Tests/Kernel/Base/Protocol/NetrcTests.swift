import PawlBase
import Testing

@Suite struct NetrcTests {
    private func login(_ text: String, _ host: String = "example.org", orDefault: Bool = true) -> [String]? {
        Netrc(parsing: Array(text.utf8)).login(for: host, orDefault: orDefault).map { [$0.user, $0.password] }
    }

    @Test(arguments: [
        "machine example.org login me password se", "machine example.org\n\tlogin me\n\tpassword se\n",
        "machine example.org\r\nlogin me\r\npassword se\r\n", "\u{FEFF}machine example.org login me password se",
        "MACHINE Example.ORG password se login me",
        "machine other login a password b\nmachine example.org login me password se\ndefault login x password y",
        "default login x password y\nmachine example.org login me password se",
        "# machine example.org login no password no\nmachine example.org login me account a password se",
        "macdef m\nmachine example.org login no\n\nmachine example.org login me password se",
        "macdef m\r\nput x\r\n\r\nmachine example.org login me password se",
        "machine example.org login \"me\" password \"se\"", "machine example.org unknown login me password se",
        "machine example.org port 1\nmachine example.org login me password se",
        "machine a login b password c machine example.org login me password se",
    ]) func `the entry of the host is found`(text: String) { #expect(login(text) == ["me", "se"]) }

    @Test func `the default is for hosts without an entry, where it may be used`() {
        let text = "machine other login a password b\r\ndefault login anonymous password guest@\r\n"
        #expect(login(text) == ["anonymous", "guest@"])
        #expect(login(text, orDefault: false) == nil)
        #expect(login(text, "other") == ["a", "b"])
    }

    @Test func `quoted tokens may contain separators`() {
        #expect(login("machine example.org login \"a \\\"b\\\"\" password #c\\d") == ["a \"b\"", "#c\\d"])
        #expect(login("machine example.org login me password \"se\nmachine x login y") == ["me", "\"se"])
        #expect(login("machine [::1] login me password se", "::1") == ["me", "se"])
    }

    @Test(arguments: [
        "", "machine", "login me password se", "machine example.org", "machine example.org login",
        "machine xexample.org login a password b", "machine example.org.evil login a password b", "\"",
    ]) func `an entry without a login gives none`(text: String) { #expect(login(text) == nil) }
}
