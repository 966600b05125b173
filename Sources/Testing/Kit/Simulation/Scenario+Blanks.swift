import PawlBase
import PawlCore
import PawlEngine
import PawlJournal

// Bytes without information that all versions of a content share.
extension Scenario {
    /// Gives all versions of some contents the same bytes in one part, such as zeros.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    mutating func addBlanks() {
        var luck = Dice(seed: seed &* 911 &+ 3)
        for index in downloads.indices where luck.chance(0.15) { addBlank(to: index, &luck) }
    }

    private mutating func addBlank(to index: Int, _ luck: inout Dice) {
        let download = downloads[index]
        let plan = download.job.plan
        let hosts = plan.sources.map(\.host).filter { servers[$0]?.files[download.path] != nil }
        let files = hosts.compactMap { servers[$0]?.files[download.path] }
        guard plan.checksums.isEmpty, plan.pieces == nil, download.existing == nil, download.seeding == nil,
            let length = files.map(\.payload.length).max(), length > 2 * ComparisonSample.length,
            files.allSatisfy({ $0.coded == nil && $0.badNode == nil })
        else { return }
        let start = luck.bytes(1...(length - ComparisonSample.length))
        let end = luck.chance(0.5) ? length : luck.bytes((start + ComparisonSample.length)...length)
        let pattern: [UInt8] = luck.pick([[0], [0xFF], [1, 2, 3, 4], Payload(seed: seed, length: 512).bytes])
        let blank = Payload.Blank(ByteRange(start, end), pattern)
        for host in hosts { servers[host]?.files[download.path]?.payload.blank = blank }
        atEvents = atEvents.mapValues { $0.map { Self.with(blank, in: $0, of: index) } }
        atTimes = atTimes.map { ($0.after, Self.with(blank, in: $0.incident, of: index)) }
    }

    private static func with(_ blank: Payload.Blank, in incident: Incident, of index: Int) -> Incident {
        switch incident {
        case .change(index, var payload):
            payload.blank = blank
            return .change(index, payload)
        case .replace(index, var payload):
            payload.blank = blank
            return .replace(index, payload)
        default: return incident
        }
    }
}
