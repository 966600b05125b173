import PawlBase
import PawlCore
import PawlEngine
import PawlJournal

// Downloads with several given digests.
extension Scenario {
    /// Gives some downloads several digests: all right, one wrong, or two that contradict each other.
    ///
    /// Uses a random generator of its own, so that other worlds stay the same.
    mutating func addDigests() {
        var luck = Dice(seed: seed &* 701 &+ 3)
        for index in downloads.indices where luck.chance(0.12) {
            let download = downloads[index]
            let plan = download.job.plan
            let files = plan.sources.compactMap { servers[$0.host]?.files[download.path] }
            guard plan.selection == .whole, download.nextSelection == nil, download.existing == nil, plan.pieces == nil,
                let payload = files.first?.payload, payload.length < 300_000
            else { continue }
            let isOne = Set(files.map(\.payload)).count == 1 && files.allSatisfy { $0.badNode == nil }
            addDigests(to: index, of: payload, &luck)
            if !isOne || mayChange(index) { downloads[index].canFinish = false }
        }
    }

    private mutating func addDigests(to index: Int, of payload: Payload, _ luck: inout Dice) {
        let right = FakeDigest.checksums([.md5, .adler32], of: payload.bytes)
        var wrong = right[1]
        wrong.digest[0] ^= 0x55
        var digests = downloads[index].job.plan.checksums.isEmpty ? [right[0]] : []
        switch luck.below(3) {
        case 0: digests.append(right[1])
        case 1: digests.append(wrong)
        default: digests += luck.chance(0.5) ? [right[1], wrong] : [wrong, right[1]]
        }
        downloads[index].job.plan.digests = digests.map { ExpectedDigest($0, level: .given, source: "list") }
        if digests.contains(wrong) { downloads[index].canFinish = false }
    }

    private func mayChange(_ index: Int) -> Bool {
        (atEvents.values.joined() + atTimes.map(\.incident)).contains { incident in
            switch incident {
            case .change(index, _), .replace(index, _): true
            case _: false
            }
        }
    }
}
