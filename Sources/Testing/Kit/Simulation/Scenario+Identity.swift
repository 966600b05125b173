import Pawl
import PawlBase
import PawlCore
import PawlEngine

// Traits that make it hard to tell which version of which content a response has.
extension Scenario {
    /// Gives a content tags, dates and codings, each in one of the ways of real servers.
    mutating func disguise(_ file: inout SimulatedFile) {
        file.dates = dice.pick([.old, .old, .old, .undated])
        guard dice.chance(0.15) else { return }
        switch dice.below(4) {
        case 0:
            // A program that generates its content for each request.
            file.isRemade = true
            file.dates = dice.chance(0.4) ? .old : .generated
            file.entityTag = nil
            file.renewsTag = dice.chance(0.3)
        case 1:
            file.dates = .generated
            file.entityTag = nil
        case 2:
            // A compressing front end, and a cache behind it that does not know about it.
            let length = max(1, file.payload.length / 2)
            file.coded = Payload(seed: dice.next(), length: length)
        default: file.entityTag?.isWeak = true
        }
    }

    /// Whether a download of such a file may fail with good reason.
    func isFickle(_ file: SimulatedFile) -> Bool { file.isRemade || file.coded != nil }

    /// Makes a server compress the beginning of its file when that is requested as a part.
    ///
    /// Drawn apart, as are the pages below, so that other worlds do not depend on it.
    mutating func codePart(of download: inout Download, _ file: SimulatedFile) {
        var luck = Dice(seed: seed &* 433 &+ UInt64(downloads.count))
        let plan = download.job.plan
        guard plan.selection != .whole, luck.chance(0.4), plan.sources.count == 1, file.payload.length > 20 else {
            return
        }
        let coded = Payload(seed: luck.next(), length: file.payload.length / 2)
        download.job.plan.selection = .closed(ByteRange(0, luck.bytes(1...coded.length)))
        download.canFinish = false
        servers[plan.sources[0].host]?.files[download.path]?.coded = coded
        servers[plan.sources[0].host]?.files[download.path]?.codesRanges = true
    }

    /// The host that sends an error page after a change of the content.
    func hostOfPage(_ index: Int) -> String? {
        var luck = Dice(seed: seed &* 439 &+ UInt64(index))
        return luck.chance(0.7) ? luck.pick(downloads[index].job.plan.sources).host : nil
    }

    /// Changes what the next process requests.
    mutating func changeMind(_ download: inout Download, _ file: SimulatedFile) {
        let length = file.payload.length
        let isOpen = download.job.plan.checksums.isEmpty && download.job.plan.pieces == nil
        if length > 10, download.existing == nil, isOpen, dice.chance(0.1) {
            let low = dice.bytes(0...(length - 1))
            let selections: [RequestedRange] = [
                .whole, .from(low), .closed(ByteRange(low, length)), .closed(ByteRange(0, low + 1)),
            ]
            download.nextSelection = dice.pick(selections)
            download.canFinish = false
        }
        // The very first response may be a page, which cannot be detected then.
        if download.job.plan.selection == .whole, download.nextSelection == nil {
            for host in download.job.plan.sources.map(\.host) {
                servers[host]?.files[download.path]?.mayBeAPage = true
                servers[host]?.files[download.path]?.mayBeATaggedPage = isOpen
            }
        }
        if download.job.plan.sources.count > 1 { download.turnsSources = dice.chance(0.3) }
    }

    /// Makes the first host redirect each request to one of the others.
    mutating func addHops(_ path: String, _ hosts: [String]) {
        guard hosts.count > 1, dice.chance(0.2) else { return }
        servers[hosts[0]]?.files[path]?.hops = Array(hosts.dropFirst())
    }
}
