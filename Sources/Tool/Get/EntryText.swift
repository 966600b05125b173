import PawlBase
package import PawlCollections
package import PawlTerminal

/// Entries of listings as text and as JSON.
package enum EntryText {
    /// An object with the fields of an entry.
    package static func object(_ event: String, _ entry: CollectionEntry) -> JSONObject {
        var object = JSONObject()
        object.set("event", event)
        object.set("url", entry.address)
        object.set("path", entry.path)
        object.set("kind", entry.kind.rawValue)
        object.set("total", entry.size)
        if entry.size != nil { object.set("isExact", entry.isExact) }
        object.set("modified", entry.modified?.seconds)
        object.set("entityTag", entry.entityTag)
        object.set("checksum", entry.checksum)
        object.set("mediaType", entry.mediaType)
        return object
    }

    /// Size, time in UTC, and path.
    package static func line(_ entry: CollectionEntry) -> String {
        let size = entry.kind == .folder ? "-" : entry.size.map { "\($0)" } ?? "?"
        let time = entry.modified.map(Self.time) ?? "-"
        func padded(_ text: String, to width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.utf8.count)) + text
        }
        let path = entry.path + (entry.kind == .folder ? "/" : "") + (entry.mediaType.map { "  \($0)" } ?? "")
        return TerminalText.harmless("\(padded(size, to: 12))  \(padded(time, to: 16))  \(path)")
    }

    private static func time(_ time: UnixTime) -> String {
        let days = time.seconds >= 0 ? time.seconds / 86_400 : (time.seconds - 86_399) / 86_400
        let second = time.seconds - days * 86_400
        let (year, month, day) = UnixTime.civil(days)
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        return "\(year)-\(two(month))-\(two(day)) \(two(second / 3600)):\(two(second / 60 % 60))"
    }
}

extension PlannedEntry.State {
    /// What would be done, for lists.
    var word: String {
        switch self {
        case .missing: "new"
        case .unchanged(let isProven): isProven ? "unchanged" : "unchanged by length and time"
        case .perhapsOutdated: "there already, may have changed"
        case .outdated: "changed"
        }
    }
}
