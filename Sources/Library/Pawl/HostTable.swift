package import PawlBase
import PawlCore

/// How many connections hosts allow, as stored between runs: a text of one line per host.
///
/// Any process that can write to the state folder may have written it: malformed lines are ignored.
package struct HostTable: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var note: HostNote
        /// The time of expiry.
        package var until: UnixTime
    }

    /// How long an observation is valid, in seconds.
    package static let life: Int64 = 24 * 3600
    /// The same for one that may be chance.
    package static let uncertainLife: Int64 = 3600
    /// The maximum number of hosts; beyond it those that expire first are removed.
    package static let mostHosts = 256
    /// A longer text was not written by Pawl.
    package static let mostBytes = 64 * 1024
    private static let longestName = 300

    package private(set) var entries: [String: Entry] = [:]

    package init() {}

    /// The entries valid at `now` in a text that was stored earlier.
    ///
    /// A line is `ORIGIN CONNECTIONS UNTIL SINCE REASON`, both times in seconds since 1970. The lines of versions up to
    /// 0.2.0 end after the second time: what they state was not always seen, and they are ignored.
    package init(parsing bytes: [UInt8], now: UnixTime) {
        guard bytes.count <= Self.mostBytes else { return }
        let most = Int64(DownloadMachine.mostLanes)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 5, words[0].count <= Self.longestName, Self.isName(words[0]),
                let connections = Array(words[1]).decimalNumber, (1...most).contains(connections),
                let until = Array(words[2]).decimalNumber, Self.holds(until, now: now),
                let since = Array(words[3]).decimalNumber, since <= until,
                let reason = HostNote.Reason(String(decoding: words[4], as: UTF8.self))
            else { continue }
            entries[String(decoding: words[0], as: UTF8.self)] = Entry(
                note: HostNote(connections: Int(connections), reason: reason, since: UnixTime(seconds: since)),
                until: UnixTime(seconds: until))
        }
        trim()
    }

    /// An entry from the future was written under another clock.
    private static func holds(_ until: Int64, now: UnixTime) -> Bool {
        let (left, isTooFar) = until.subtractingReportingOverflow(now.seconds)
        return !isTooFar && left > 0 && left <= life
    }

    package var text: String {
        entries.sorted { $0.key < $1.key }.reduce(into: "") { text, entry in
            let note = entry.value.note
            text += "\(entry.key) \(note.connections) \(entry.value.until.seconds) "
            text += "\(note.since.seconds) \(note.reason.text)\n"
        }
    }

    package func note(of origin: Origin, now: UnixTime) -> HostNote? {
        guard let entry = entries[Self.name(of: origin)], entry.until > now else { return nil }
        return entry.note
    }

    /// Notes how many connections the origin allows, and no more.
    ///
    /// The same number, noted earlier, keeps its time if that is longer.
    package mutating func note(_ note: HostNote, of origin: Origin, now: UnixTime) {
        let name = Self.name(of: origin)
        let life = note.isCertain ? Self.life : Self.uncertainLife
        let (until, isTooLate) = now.seconds.addingReportingOverflow(life)
        guard note.connections > 0, !isTooLate, now.seconds >= 0, name.utf8.count <= Self.longestName,
            Self.isName(name.utf8)
        else { return }
        var entry = Entry(note: note, until: UnixTime(seconds: until))
        entry.note.connections = min(note.connections, DownloadMachine.mostLanes)
        entry.note.since = UnixTime(seconds: min(max(0, note.since.seconds), until))
        entry.note.isCertain = true
        if let before = entries[name], before.note.connections == entry.note.connections {
            entry.until = max(entry.until, before.until)
        }
        entries[name] = entry
        trim()
    }

    /// The names of the entries of a host, whatever their schemes and ports; of all of them with `nil`.
    package func names(of host: String?) -> [String] {
        entries.keys.filter { name in host.map { $0.lowercased() == Self.host(of: name) } ?? true }.sorted()
    }

    /// The host in the name of an entry.
    package static func host(of name: String) -> String {
        let rest = name.utf8.drop { $0 != .slash }.dropFirst(2)
        let end = rest.lastIndex(of: .colon) ?? rest.endIndex
        return String(name[rest.startIndex..<end])
    }

    /// The origin allows more connections than were noted.
    package mutating func forget(named name: String) { entries[name] = nil }

    private mutating func trim() {
        guard entries.count > Self.mostHosts else { return }
        let kept = entries.sorted { ($1.value.until, $0.key) < ($0.value.until, $1.key) }
        entries = Dictionary(uniqueKeysWithValues: kept.prefix(Self.mostHosts).map { ($0.key, $0.value) })
    }

    /// The name of the origin's entry.
    package static func name(of origin: Origin) -> String {
        "\(origin.scheme.name)://\(origin.host.lowercased()):\(origin.port)"
    }

    /// Without any byte that would end the word or the line.
    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
