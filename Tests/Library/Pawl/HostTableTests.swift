import Pawl
import PawlBase
import PawlCore
import Testing

/// The connection limits of hosts, kept from run to run.
@Suite struct HostTableTests {
    private let now = UnixTime(seconds: 1_700_000_000)
    private let origin = Self.origin(.https, "files.example", 443)

    private static func origin(_ scheme: WebAddress.Scheme, _ host: String, _ port: UInt16) -> Origin {
        WebAddress(scheme: scheme, host: host, port: port, path: "/", query: nil).origin
    }

    private func note(_ connections: Int, isCertain: Bool = true) -> HostNote {
        HostNote(connections: connections, reason: .status(403), since: now, isCertain: isCertain)
    }

    private func read(_ text: String) -> HostTable { HostTable(parsing: Array(text.utf8), now: now) }

    @Test func `a recorded limit is read again, for a day and for that origin alone`() {
        var table = HostTable()
        table.note(note(2), of: origin, now: now)
        let again = read(table.text)
        #expect(again == table)
        #expect(again.note(of: origin, now: now)?.connections == 2)
        let later = UnixTime(seconds: now.seconds + HostTable.life)
        #expect(again.note(of: origin, now: later)?.connections == nil)
        #expect(HostTable(parsing: Array(table.text.utf8), now: later).entries.isEmpty)
        for other in [
            Self.origin(.http, "files.example", 443), Self.origin(.https, "files.example", 444),
            Self.origin(.https, "other.example", 443),
        ] { #expect(again.note(of: other, now: now)?.connections == nil) }
    }

    @Test func `more connections than the limit are recorded as the limit`() {
        for connections in [DownloadMachine.mostLanes, DownloadMachine.mostLanes + 1, 1000] {
            var table = HostTable()
            table.note(note(connections), of: origin, now: now)
            #expect(read(table.text).note(of: origin, now: now)?.connections == DownloadMachine.mostLanes)
        }
    }

    @Test func `what may be chance expires sooner, and shortens no longer time`() {
        var table = HostTable()
        table.note(note(2, isCertain: false), of: origin, now: now)
        let later = UnixTime(seconds: now.seconds + HostTable.uncertainLife)
        #expect(table.note(of: origin, now: now)?.connections == 2)
        #expect(table.note(of: origin, now: later)?.connections == nil)
        table.note(note(2), of: origin, now: now)
        table.note(note(2, isCertain: false), of: origin, now: now)
        #expect(table.note(of: origin, now: later)?.connections == 2)
        #expect(read(table.text) == table)
        table.forget(named: HostTable.name(of: origin))
        #expect(table.entries.isEmpty)
    }

    private static let good = "https://files.example:443 2 1700000100 1699999000 429"

    @Test(arguments: [
        "", "\n\n", "garbage", "https://files.example:443", "https://files.example:443 2",
        "https://files.example:443 2 1700000100", "https://files.example:443 2 1700000100 1699999000",
        "https://files.example:443 0 1700000100 1699999000 429",
        "https://files.example:443 61 1700000100 1699999000 429",
        "https://files.example:443 -2 1700000100 1699999000 429",
        "https://files.example:443 2 1699999999 1699999000 429",
        "https://files.example:443 2 1700000100 1700000101 429",
        "https://files.example:443 2 9223372036854775807 1699999000 429",
        "https://files.example:443 2 99999999999999999999 1699999000 429",
        "https://files.example:443 2 1700000100 1699999000 why", "https://files.example:443 2 1700000100 1699999000 99",
        "https://files.example:443 2 1700000100 1699999000 429 more",
        "https://files.example:443  2 1700000100 1699999000 429", " 2 1700000100 1699999000 429",
        "https://files.example:443\u{0} 2 1700000100 1699999000 429",
    ]) func `an unknown entry is ignored and spoils nothing`(line: String) {
        #expect(read(line).entries.isEmpty)
        #expect(read("\(line)\n\(Self.good)\n").note(of: origin, now: now)?.connections == 2)
    }

    @Test func `an entry keeps when and how its limit was seen`() {
        let note = read(Self.good).note(of: origin, now: now)
        #expect(note?.reason == .status(429) && note?.since.seconds == 1_699_999_000)
        for reason in [HostNote.Reason.connection, .reset, .reply, .status(503)] {
            #expect(HostNote.Reason(reason.text) == reason)
        }
    }

    @Test func `the entries of one host are found, whatever their schemes and ports`() {
        var table = HostTable()
        let names = [Self.origin(.http, "a.example", 80), Self.origin(.https, "A.example", 444), origin]
        for name in names { table.note(note(1), of: name, now: now) }
        #expect(table.names(of: "a.EXAMPLE") == ["http://a.example:80", "https://a.example:444"])
        #expect(table.names(of: nil).count == 3)
        #expect(table.names(of: "example").isEmpty)
    }

    @Test func `the table stays small`() {
        var table = HostTable()
        for index in 0..<1_000 {
            let host = Self.origin(.http, "h\(index).example", 80)
            table.note(note(1), of: host, now: UnixTime(seconds: now.seconds + Int64(index)))
        }
        #expect(table.entries.count == HostTable.mostHosts)
        #expect(table.entries["http://h999.example:80"] != nil && table.entries["http://h1.example:80"] == nil)
        #expect(table.text.utf8.count < HostTable.mostBytes)
        #expect(read(String(repeating: "x", count: HostTable.mostBytes + 1)).entries.isEmpty)
    }

    @Test func `names that would end the line and clocks out of range are rejected`() {
        var table = HostTable()
        table.note(note(1), of: Self.origin(.http, "a b", 1), now: now)
        table.note(note(1), of: Self.origin(.http, "a\nb", 1), now: now)
        table.note(note(1), of: origin, now: UnixTime(seconds: .max))
        table.note(note(0), of: origin, now: now)
        #expect(table.entries.isEmpty)
    }
}
