/// The downloads that were being started when the process died, and how often.
///
/// One that crashes the process at each start would do so for ever, since waiting downloads start
/// automatically. A start is over when the download has shown that it runs, has failed for the first time, or
/// was stopped.
package struct StartLedger: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        /// Not more than `mostDeaths`.
        var deaths = 0
        var isStarting = false
    }

    /// The number of deaths after which a download is not started automatically.
    package static let mostDeaths = 2
    /// A longer text was not written by Pawl.
    private static let mostEntries = 10_000

    private var entries: [QueueID: Entry] = [:]

    package init() {}

    /// Reads the record of an earlier process: whatever it was starting then counts.
    ///
    /// Words `ID:DEATHS`, with `+` for those being started. Malformed words are ignored.
    package init(leftBy text: String) {
        for word in text.split(separator: " ").prefix(Self.mostEntries) {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let id = UInt64(parts[0], radix: 16), id != 0 else { continue }
            let wasStarting = parts[1].hasSuffix("+")
            guard let deaths = Int(wasStarting ? parts[1].dropLast() : parts[1]), (0...Self.mostDeaths).contains(deaths)
            else { continue }
            let now = min(deaths + (wasStarting ? 1 : 0), Self.mostDeaths)
            entries[QueueID(rawValue: id)] = Entry(deaths: now)
        }
    }

    /// The record for the next process.
    package var text: String {
        entries.sorted { $0.key.rawValue < $1.key.rawValue }.map { id, entry in
            "\(String(id.rawValue, radix: 16)):\(entry.deaths)\(entry.isStarting ? "+" : "")"
        }.joined(separator: " ")
    }

    /// The downloads that are not to be started automatically.
    package var suspects: [QueueID] {
        entries.filter { $0.value.deaths >= Self.mostDeaths }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    package mutating func begin(_ id: QueueID) { entries[id, default: Entry()].isStarting = true }

    /// Ends a start: the process has survived it, or it is not to start.
    package mutating func end(_ id: QueueID) { entries[id] = nil }
}
