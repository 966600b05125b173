import PawlBase

/// Which ends of downloads were recorded: all before a second, and some within it.
struct DeliveryMark: Hashable, Sendable {
    private(set) var at: Int64
    private(set) var ids: Set<String> = []

    init(at second: Int64) { at = second }

    /// Parses the format of ``line``.
    init?(_ line: JSON) {
        guard let second = line["ended"]?.integer, let ids = line["ids"]?.array else { return nil }
        at = second
        self.ids = Set(ids.compactMap(\.string))
    }

    var line: JSON { ["ended": .number(at), "ids": .array(ids.sorted().map { .string($0) })] }

    /// Whether the event is an end that counts.
    mutating func note(_ message: JSON) -> Bool {
        guard let word = message["event"]?.string, let occasion = Hooks.Occasion(rawValue: word), occasion.isEnd,
            let id = message["id"]?.string, let second = message["download"]?["endedAt"]?.integer, second >= at
        else { return false }
        if second > at { (at, ids) = (second, []) }
        return ids.insert(id).inserted
    }

    func knows(_ id: String, at second: Int64) -> Bool { second < at || second == at && ids.contains(id) }
}
