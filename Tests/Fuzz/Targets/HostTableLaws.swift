import Pawl
import PawlBase
import PawlCore

/// Connection limits of hosts, from an untrusted file.
enum HostTableLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let now = UnixTime(seconds: input.number())
        var table = HostTable(parsing: input.rest(), now: now)
        try hold(table.entries.count <= HostTable.mostHosts, "\(table.entries.count) hosts")
        for (name, entry) in table.entries {
            try hold(
                (1...DownloadMachine.mostLanes).contains(entry.note.connections),
                "\(name) accepts \(entry.note.connections)")
            try hold(entry.until > now, "\(name) is out of date")
            try hold(!name.utf8.contains { $0 <= 0x20 }, "\(name) ends its line")
        }
        try hold(HostTable(parsing: Array(table.text.utf8), now: now) == table, "it changes when written")
        table.note(
            HostNote(connections: 3, reason: .connection, since: now),
            of: WebAddress(scheme: .https, host: "a b.example", port: 1, path: "/", query: nil).origin, now: now)
        table.note(
            HostNote(connections: Int.max, reason: .status(503), since: UnixTime(seconds: .min)),
            of: WebAddress(scheme: .https, host: "c.example", port: 1, path: "/", query: nil).origin, now: now)
        try hold(HostTable(parsing: Array(table.text.utf8), now: now) == table, "a recorded limit is lost")
    }
}
