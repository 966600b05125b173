import Pawl
import PawlBase
import PawlQueue

/// Which hosts are requested over TLS, from a file and a server.
enum SecureHostsLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let now = UnixTime(seconds: input.number())
        let isFile = input.flag()
        let bytes = input.rest()
        guard isFile else { return try check(field: String(decoding: bytes, as: UTF8.self)) }
        let hosts = SecureHosts(parsing: bytes, now: now)
        let text = hosts.text
        try hold(SecureHosts(parsing: Array(text.utf8), now: now) == hosts, "it changes when written")
        try hold(text.split(separator: "\n").count <= SecureHosts.mostHosts, "too many hosts")
    }

    private static func check(field: String) throws(BrokenLaw) {
        let now = UnixTime(seconds: 1_800_000_000)
        var hosts = SecureHosts()
        let hasChanged = hosts.note(field, of: "a.example", now: now)
        try hold(hasChanged == !hosts.isEmpty, "a change of nothing")
        try hold(SecureHosts.parse(field).map { $0.age >= 0 } ?? true, "an age below zero")
        try hold(SecureHosts(parsing: Array(hosts.text.utf8), now: now) == hosts, "a recorded host is lost")
    }
}

/// The downloads that a process was starting when it crashed, from an untrusted database.
enum StartLedgerLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let text = String(decoding: input.rest(), as: UTF8.self)
        let schedule = StartSchedule(text: text)
        try hold(StartSchedule(text: schedule.text) == schedule, "a schedule changes when written")
        let rules = FolderRules(stored: text)
        try hold(FolderRules(stored: rules.stored) == rules, "rules change when written")
        let ledger = StartLedger(leftBy: text)
        try hold(StartLedger(leftBy: ledger.text) == ledger, "it changes when written")
        var rest = ledger
        for id in ledger.suspects { rest.end(id) }
        try hold(rest.suspects.isEmpty, "a suspect is left")
    }
}
