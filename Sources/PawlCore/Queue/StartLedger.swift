/// Which downloads were being started when the process died, and how often that was.
///
/// One that takes the process with it at each start would do so for ever, since what waits goes on by itself. A start is
/// over when the download has shown that it runs, has failed for the first time, or was stopped.
package struct StartLedger: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var deaths = 0
        var isStarting = false
    }

    /// After so many deaths a download is not started any more by itself.
    package static let mostDeaths = 2
    /// A longer text is none of ours.
    private static let mostEntries = 10_000

    private var entries: [QueueID: Entry] = [:]

    package init() {}

    /// What a process left that is gone: whatever it was starting then counts.
    ///
    /// Words `ID:DEATHS`, with `+` behind what was being started. What is not understood means nothing.
    package init(leftBy text: String) {
        for word in text.split(separator: " ").prefix(Self.mostEntries) {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let id = UInt64(parts[0], radix: 16), id != 0 else { continue }
            let wasStarting = parts[1].hasSuffix("+")
            guard let deaths = Int(wasStarting ? parts[1].dropLast() : parts[1]),
                (0...Self.mostDeaths).contains(deaths)
            else { continue }
            entries[QueueID(rawValue: id)] = Entry(deaths: deaths + (wasStarting ? 1 : 0))
        }
    }

    /// What the next process has to know.
    package var text: String {
        entries.sorted { $0.key.rawValue < $1.key.rawValue }.map { id, entry in
            "\(String(id.rawValue, radix: 16)):\(min(entry.deaths, Self.mostDeaths))\(entry.isStarting ? "+" : "")"
        }.joined(separator: " ")
    }

    /// What is not to be started again by itself.
    package var suspects: [QueueID] {
        entries.filter { $0.value.deaths >= Self.mostDeaths }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    package mutating func begin(_ id: QueueID) { entries[id, default: Entry()].isStarting = true }

    /// The process has outlived its start, or it is not to start.
    package mutating func end(_ id: QueueID) { entries[id] = nil }
}
