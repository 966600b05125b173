import PawlCore
import PawlEngine

// What makes it hard to say which version of which content a response is of.
extension Scenario {
    /// Tags, dates and codings of one content, each in one of the ways that real servers have.
    mutating func disguise(_ file: inout SimulatedFile) {
        file.dates = dice.pick([.old, .old, .old, .undated])
        guard dice.chance(0.15) else { return }
        switch dice.below(4) {
        case 0:
            // A program that makes its content anew for each request.
            file.isRemade = true
            file.dates = .generated
            file.entityTag = nil
            file.renewsTag = dice.chance(0.3)
        case 1:
            file.dates = .generated
            file.entityTag = nil
        case 2:
            // A front that compresses, and a cache behind it that does not know of it.
            let length = max(1, file.payload.length / 2)
            file.coded = Payload(seed: dice.next(), length: length)
        default:
            file.entityTag?.isWeak = true
        }
    }

    /// Whether a download that finds such a file may come to nothing, with reason.
    func isFickle(_ file: SimulatedFile) -> Bool { file.isRemade || file.coded != nil }

    /// What the next process wants otherwise.
    mutating func changeMind(_ download: inout Download, _ file: SimulatedFile) {
        let length = file.payload.length
        if length > 10, download.existing == nil, download.job.plan.checksum == nil, dice.chance(0.1) {
            let low = dice.bytes(0...(length - 1))
            let wishes: [RequestedRange] = [
                .whole, .from(low), .closed(ByteRange(low, length)), .closed(ByteRange(0, low + 1)),
            ]
            download.nextWish = dice.pick(wishes)
            download.canFinish = false
        }
        // The first response of all may be a page, and nobody can know it then.
        if download.job.plan.wish == .whole, download.nextWish == nil {
            for host in download.job.plan.sources.map(\.host) {
                servers[host]?.files[download.path]?.mayBeAPage = true
            }
        }
        if download.job.plan.sources.count > 1 { download.turnsSources = dice.chance(0.3) }
    }

    /// The first host leads each request on to one of the others.
    mutating func addHops(_ path: String, _ hosts: [String]) {
        guard hosts.count > 1, dice.chance(0.2) else { return }
        servers[hosts[0]]?.files[path]?.hops = Array(hosts.dropFirst())
    }
}
