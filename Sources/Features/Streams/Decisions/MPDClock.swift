import PawlBase
import PawlXML

/// What a presentation that is running says of the time (ISO/IEC 23009-1 §5.3.9.5.3).
struct MPDClock {
    /// How long it runs already, in microseconds.
    private let elapsed: Int64
    /// How long segments stay, in microseconds.
    private let depth: Int64
    /// Its length is known.
    let hasEnd: Bool

    /// So much before now is looked at, at most.
    private static let mostDepth: Int64 = 600 * 1_000_000

    init(_ root: XMLElement, now: UnixTime?) throws(StreamFlaw) {
        guard let now else {
            throw StreamFlaw(
                "the programme is still running (its type is dynamic), and no time to record it is given")
        }
        guard let text = root.attributes["availabilityStartTime"], let start = MPDNumbers.date(text) else {
            throw StreamFlaw("the programme is still running, and nothing tells when it began (availabilityStartTime)")
        }
        let (seconds, overflow) = now.seconds.subtractingReportingOverflow(start.seconds)
        guard !overflow, seconds >= 0, seconds < Int64.max / 1_000_000 else {
            throw StreamFlaw("the programme has not begun (availabilityStartTime)")
        }
        elapsed = seconds * 1_000_000
        let stated = root.attributes["timeShiftBufferDepth"].flatMap(MPDNumbers.duration)
        depth = min(stated ?? Self.mostDepth, Self.mostDepth)
        hasEnd = root.attributes["mediaPresentationDuration"] != nil
    }

    /// Leaves of a Period what is there now; `false` if that is nothing.
    func limit(_ period: inout MPDDocument.Period) -> Bool {
        let there = elapsed.addingClamped(-period.start)
        guard there > 0 else { return false }
        if let duration = period.duration, duration <= there { return there - duration <= depth }
        period.duration = there
        period.earliest = max(0, there - depth)
        return true
    }
}
