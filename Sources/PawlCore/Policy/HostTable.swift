/// How many connections hosts allow, as stored between runs: a text of one line per host.
///
/// Any process that can write to the state folder may have written it: malformed lines are ignored.
package struct HostTable: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var connections: Int
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
    package init(parsing bytes: [UInt8], now: UnixTime) {
        guard bytes.count <= Self.mostBytes else { return }
        let most = Int64(DownloadMachine.mostLanes)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 3, words[0].count <= Self.longestName, Self.isName(words[0]),
                let connections = Array(words[1]).decimalNumber, (1...most).contains(connections),
                let until = Array(words[2]).decimalNumber, Self.holds(until, now: now)
            else { continue }
            entries[String(decoding: words[0], as: UTF8.self)] = Entry(
                connections: Int(connections),
                until: UnixTime(seconds: until)
            )
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
            text += "\(entry.key) \(entry.value.connections) \(entry.value.until.seconds)\n"
        }
    }

    package func connections(of origin: Origin, now: UnixTime) -> Int? {
        guard let entry = entries[Self.name(of: origin)], entry.until > now else { return nil }
        return entry.connections
    }

    /// Notes that the origin allows this many connections and no more.
    ///
    /// The same number, noted earlier, keeps its time if that is longer.
    package mutating func note(
        _ connections: Int,
        of origin: Origin,
        isCertain: Bool = true,
        now: UnixTime
    ) {
        let name = Self.name(of: origin)
        let life = isCertain ? Self.life : Self.uncertainLife
        let (until, isTooLate) = now.seconds.addingReportingOverflow(life)
        guard connections > 0, !isTooLate, now.seconds >= 0, name.utf8.count <= Self.longestName,
            Self.isName(name.utf8)
        else { return }
        var entry = Entry(
            connections: min(connections, DownloadMachine.mostLanes),
            until: UnixTime(seconds: until)
        )
        if let before = entries[name], before.connections == entry.connections {
            entry.until = max(entry.until, before.until)
        }
        entries[name] = entry
        trim()
    }

    /// The origin allows more connections than were noted.
    package mutating func forget(_ origin: Origin) { entries[Self.name(of: origin)] = nil }

    private mutating func trim() {
        guard entries.count > Self.mostHosts else { return }
        let kept = entries.sorted { ($1.value.until, $0.key) < ($0.value.until, $1.key) }
        entries = Dictionary(uniqueKeysWithValues: kept.prefix(Self.mostHosts).map { ($0.key, $0.value) })
    }

    private static func name(of origin: Origin) -> String {
        "\(origin.scheme.rawValue)://\(origin.host.lowercased()):\(origin.port)"
    }

    /// Without any byte that would end the word or the line.
    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
