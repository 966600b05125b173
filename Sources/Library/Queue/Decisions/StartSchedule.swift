package import PawlBase

/// The downloads that are paused until a time, and when each starts.
package struct StartSchedule: Hashable, Sendable {
    /// A longer text was not written by Pawl.
    private static let mostEntries = 100_000

    private var times: [QueueID: UnixTime] = [:]

    package init() {}

    /// Reads what ``text`` wrote, words `ID:SECONDS`.
    ///
    /// Malformed words are ignored.
    package init(text: String) {
        for word in text.split(separator: " ").prefix(Self.mostEntries) {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let id = UInt64(parts[0], radix: 16), id != 0, let seconds = Int64(parts[1]) else {
                continue
            }
            times[QueueID(rawValue: id)] = UnixTime(seconds: seconds)
        }
    }

    /// The text for the next process.
    package var text: String {
        times.sorted { $0.key < $1.key }.map { "\(String($0.key.rawValue, radix: 16)):\($0.value.seconds)" }.joined(
            separator: " ")
    }

    package var isEmpty: Bool { times.isEmpty }
    package func time(of id: QueueID) -> UnixTime? { times[id] }

    /// The next time at which one starts.
    package var next: UnixTime? { times.values.min { $0.seconds < $1.seconds } }

    package mutating func set(_ id: QueueID, to time: UnixTime) { times[id] = time }

    /// Returns whether it had a time.
    @discardableResult package mutating func remove(_ id: QueueID) -> Bool { times.removeValue(forKey: id) != nil }

    package mutating func takeAll() -> [QueueID] {
        defer { times = [:] }
        return times.keys.sorted()
    }

    /// Takes those that start now, the earliest first.
    package mutating func takeDue(now: UnixTime) -> [QueueID] {
        let due = times.filter { $0.value.seconds <= now.seconds }.sorted {
            ($0.value.seconds, $0.key.rawValue) < ($1.value.seconds, $1.key.rawValue)
        }
        for (id, _) in due { times[id] = nil }
        return due.map(\.key)
    }
}
