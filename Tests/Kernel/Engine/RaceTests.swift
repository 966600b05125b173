import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

/// Several lanes for the same bytes, of which one has other content.
@Suite struct `Races` {
    /// The first connection crawls; every later one reaches a server with other bytes of the same length and tag, and
    /// is lost after a few of them.
    private func race(_ length: Int64, lost: Int64, badFrom: Int64) -> (Stage, Payload, DownloadID) {
        let stage = Stage()
        let payload = stage.serve("a.bin", length)
        let bad = Payload(seed: 99, length: length)
        stage.world.disk.expect(nil, at: Stage.path("a.bin"))
        stage.world.network[Stage.host].faults = [0: .crawls(60_000)]
        for request in 1..<40 { stage.world.network[Stage.host].faults[request] = .reset(after: lost) }
        stage.whenTaken(badFrom) { stage in stage.world.network.change(Stage.host, "/a.bin") { $0.payload = bad } }
        let digest = MessageDigest5.digest(payload.bytes)
        let id = stage.start(
            Stage.job("a.bin") { job in
                job.plan.ramp = .fixed(3)
                job.plan.checksums = [Checksum(algorithm: .md5, digest: digest)]
            })
        stage.run()
        return (stage, payload, id)
    }

    @Test func `a checksum that passes is the digest of the file, whatever a racing lane of a bad server sends`() {
        var dropped: Int64 = 0
        for (length, lost) in [(120_000, 1), (120_000, 5_000), (126_000, 40_000), (900_000, 30_000)] as [(Int64, Int64)]
        {
            for badFrom in [1, 20_000, 60_000] as [Int64] {
                let (stage, payload, id) = race(length, lost: lost, badFrom: badFrom)
                dropped += stage.world.disk.counts.dropped
                let bytes = stage.world.disk.finished(Stage.path("a.bin"))?.bytes
                if let bytes { #expect(bytes == payload.bytes, "\(length), \(lost), \(badFrom)") }
                #expect(bytes != nil || stage.failure(id)?.code == .checksumMismatch)
                #expect(stage.world.disk.rewritten == 0)
            }
        }
    }

    @Test func `existing bytes from a racing lane are dropped, and the file is correct`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi)
        stage.world.network[Stage.host].faults = [0: .crawls(30_000), 1: .crawls(40_000), 2: .crawls(50_000)]
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.run()
        #expect(stage.world.disk.counts.dropped > 0, "lanes met")
        #expect(stage.world.disk.rewritten == 0)
        stage.expect(payload, at: "a.bin")
    }
}
