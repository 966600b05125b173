/// A deliberate fault of a stream's world, to test that the laws notice it.
package enum StreamSabotage: String, CaseIterable, Sendable {
    /// The bytes of a part file are not compared with their sum.
    case ignoresSums
    /// The last segment on disk counts as that which the server has now.
    case skipsComparisons
    /// What was appended is not in the journal.
    case forgetsSegments
    /// A segment that is left out is not in the journal.
    case hidesGaps
    /// A request gets the response to another one.
    case mixesSegments
    /// Requests of segments that have vanished never end.
    case withholdsVanished

    /// The law that has to notice it.
    package var law: Law {
        switch self {
        case .ignoresSums, .skipsComparisons, .mixesSegments: .published
        case .forgetsSegments: .kill
        case .hidesGaps: .told
        case .withholdsVanished: .ends
        }
    }

    /// What has to happen in a world before it can be noticed.
    package var mechanism: String {
        switch self {
        case .ignoresSums: StreamEvent.damage.name
        case .skipsComparisons: StreamEvent.differed.name
        case .forgetsSegments: StreamEvent.kill.name
        case .hidesGaps: StreamEvent.gap.name
        case .mixesSegments: StreamEvent.published.name
        case .withholdsVanished: StreamEvent.vanished.name
        }
    }
}

/// What happens in worlds of streams.
package enum StreamEvent: String, CaseIterable, Sendable {
    case world = "worlds"
    case kill = "kills"
    case halfKill = "kills between a write and its journal"
    case powerCut = "power cuts"
    case cut = "part files cut"
    case damage = "part files damaged without another length"
    case resumed = "continued behind segments on disk"
    case signed = "addresses that expire"
    case replaced = "segments replaced under their names"
    case renumbered = "segments numbered anew"
    case longer = "playlists with other segments"
    case vanished = "segments that vanish"
    case wrong = "segments that are another file"
    case lost = "requests that fail"
    case keyed = "keys requested"
    case unheard = "playlists that cannot be had again"
    case renewed = "playlists requested again"
    case compared = "last segments compared"
    case differed = "last segments that differed"
    case startedOver = "downloads started over"
    case gap = "segments left out"
    case failed = "failures"
    case published = "published"

    package var name: String { "streams: " + rawValue }
}
