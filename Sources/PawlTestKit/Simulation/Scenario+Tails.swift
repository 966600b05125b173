import PawlCore
import PawlEngine

// Other programs' changes to part files, and servers with a bad backend.
extension Scenario {
    /// Other programs append to part files, at any time and right after crashes.
    mutating func addTails() {
        guard dice.chance(0.12) else { return }
        for _ in 0..<dice.number(1...3) {
            let size = dice.pick([1, 4_096, dice.number(1...1 << 20), 3 << 20])
            let growth = Incident.grow(dice.below(downloads.count), by: size)
            if dice.chance(0.5) { tails.append(growth) } else { add(growth) }
        }
    }

    /// Makes one of a host's backends serve other content of the same length and tag, with a checksum given.
    ///
    /// The result is the right file, or none.
    mutating func addBadNode(_ download: inout Download) {
        let plan = download.job.plan
        guard dice.chance(0.08), plan.sources.count == 1, plan.checksum == nil, plan.selection == .whole,
            download.existing == nil, let file = servers[plan.sources[0].host]?.files[download.path]
        else { return }
        let bad = Payload(seed: dice.next(), length: file.payload.length)
        servers[plan.sources[0].host]?.files[download.path]?.badNode =
            .init(payload: bad, odds: dice.pick([0.1, 0.3, 0.5]))
        let digest = MessageDigest5.digest(file.payload.bytes)
        download.job.plan.checksum = Checksum(algorithm: .md5, digest: digest)
        download.canFinish = false
    }
}
