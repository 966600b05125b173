import PawlCore
import Testing

@Suite struct DownloadSimulationTests {
    /// What must have happened somewhere, or the simulation proves less than it says.
    private static let mechanisms = [
        "open", "segment", "limit", "startOver", "complain", "retry", "denied", "agreed", "differed",
        "settled",
        "left out", "kill", "pause", "offline",
    ]

    @Test(arguments: 0..<16)
    func `a download from servers with faults ends with one version of the content`(batch: UInt64) {
        var seen: [String: Int] = [:]
        var finished = 0
        for seed in batch * 250..<batch * 250 + 250 {
            var world = World.random(seed: seed)
            world.live()
            if let law = world.broken {
                Issue.record("seed \(seed): \(law): \(world.servers.map(\.traits)) \(world.plan.wish)")
            }
            seen.merge(world.seen, uniquingKeysWith: +)
            if world.machine.phase == .finished { finished += 1 }
        }
        for mechanism in Self.mechanisms {
            #expect(seen[mechanism, default: 0] > 0, "\(mechanism) never happened")
        }
        #expect(finished > 150)
    }
}
