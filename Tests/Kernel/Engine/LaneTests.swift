import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@Suite struct `Lanes of one download` {
    @Test func `G3 lanes of equal speed write every byte exactly once`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 32 * .mebi)
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(6) })
        stage.run()
        #expect(stage.requests.count > 6, "ranges were stolen")
        #expect(stage.world.disk.rewritten == 0, "no lane wrote beyond its end")
        stage.expect(payload, at: "a.bin")
    }

    @Test func `G3 the first response's connection is not dropped to split`() {
        let stage = Stage()
        stage.serve("a.bin", 16 * .mebi)
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(2) })
        stage.run()
        #expect(stage.requests[0].taken.count > 6 * .mebi)
    }

    @Test func `G3 one crawling connection among fast ones does not hold the file back`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 40 * .mebi)
        stage.world.network[Stage.host].faults[2] = .crawls(10_000)
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.run()
        let seconds = (stage.world.clock.now - Instant(nanoseconds: 1_000_000_000)).seconds
        #expect(seconds < 9, "alone the slow one would need minutes")
        stage.expect(payload, at: "a.bin")
    }

    @Test func `G3 a dead connection among live ones is taken over`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 20 * .mebi)
        stage.world.network[Stage.host].faults = [1: .stalled(after: 100_000), 3: .stalled(after: 0)]
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.run()
        #expect(stage.retries(id).isEmpty)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `G3 a reset lane's range is fetched by others and no retry is reported`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 24 * .mebi)
        stage.world.network[Stage.host].faults = [
            1: .reset(after: 700_000), 2: .truncated(after: 300_000), 4: .dropped,
        ]
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.run()
        #expect(stage.retries(id).isEmpty)
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") < 1 * .mebi)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `ranges that the server cuts short are requested again from where they end`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi) { $0.ranges = .capped(700_000) }
        stage.world.network[Stage.host].faults[0] = .reset(after: 1 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.requests.count >= 11)
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") == 0)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `without any validator one connection fetches everything`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 16 * .mebi) { file in
            file.entityTag = nil
            file.lastModified = nil
        }
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.run()
        #expect(stage.world.network.peak(Stage.host) == 1)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a new tag with each response allows one response at a time`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 24 * .mebi) { $0.renewsTag = true }
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.run()
        #expect(stage.sentences(id).contains { $0.contains("different ETag") })
        // Further ones are rejected at their first response.
        #expect(stage.requests.count { !$0.taken.isEmpty } == 1)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `C6 content that changes during the transfer is fetched again and never mixed`() {
        for length in [6 * Int64.mebi, 9 * Int64.mebi] {
            let stage = Stage()
            stage.serve("a.bin", 6 * .mebi)
            let new = Payload(seed: 4242, length: length)
            stage.world.disk.expect(nil, at: "/downloads/a.bin")
            stage.world.network[Stage.host].faults[0] = .reset(after: 3 * .mebi)
            stage.whenTaken(2 * .mebi) { stage in
                stage.world.network.change(Stage.host, "/a.bin") { file in
                    file.payload = new
                    file.entityTag = EntityTag(opaque: "v2", isWeak: false)
                    file.lastModified = UnixTime(seconds: 1_800_000_000)
                }
            }
            let id = stage.start(Stage.job("a.bin"))
            stage.run()
            #expect(stage.sentences(id).contains { $0.contains("changed") })
            stage.expect(new, at: "a.bin")
        }
    }

    @Test func `B5 a requested part is fetched and nothing beside it`() {
        let stage = Stage()
        let payload = Payload(seed: 77, length: 8 * .mebi)
        stage.world.network[Stage.host].files["/a.bin"] = SimulatedFile(payload)
        let selection = ByteRange(1_000_000, 5_000_001)
        stage.world.network[Stage.host].faults[0] = .reset(after: 1 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.selection = .closed(selection) })
        stage.run()
        #expect(stage.phases(id).last == .finished)
        #expect(stage.world.disk.finished("/downloads/a.bin")?.bytes == payload.bytes(in: selection))
        #expect(stage.world.network.taken == selection.count)
    }
}
