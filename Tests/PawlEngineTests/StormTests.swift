import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@Suite struct `Downloads in storms` {
    /// Seeds per test case; a sanitizer or a long night may want other numbers.
    static let batches = 0..<16
    static let seeds: UInt64 = 64

    @Test(arguments: batches)
    func `A1 G3 stolen and raced ranges are byte-exact from any seed`(batch: Int) {
        var separate = 0
        var raced: Int64 = 0
        for seed in UInt64(batch) * Self.seeds..<UInt64(batch + 1) * Self.seeds {
            let stage = Stage(world: World(seed: seed, keepsLog: false))
            var storm = Storm(seed: seed)
            let id = storm.begin(on: stage)
            stage.run()
            #expect(stage.phases(id).last == .finished, "seed \(seed): \(stage.tellings(id).suffix(3))")
            stage.expect(storm.payload, at: storm.name, "seed \(seed)")
            #expect(stage.world.disk.listing == [Stage.path(storm.name)], "nothing else is left behind")
            separate = max(separate, stage.world.network.peak(Stage.host))
            raced += stage.world.disk.rewritten
        }
        #expect(separate > 3, "ranges were stolen")
        #expect(raced > 0, "ranges were raced for")
    }

    @Test(arguments: batches)
    func `A4 C5 killed or cut off from power at any instant the next run completes`(batch: Int) {
        var crashes = 0
        var continued = 0
        for seed in UInt64(batch) * Self.seeds..<UInt64(batch + 1) * Self.seeds {
            let world = World(seed: seed, keepsLog: false)
            var storm = Storm(seed: seed)
            var stage = Stage(world: world)
            var id = storm.begin(on: stage)
            for crash in storm.crashes() {
                stage.after(crash.after) { $0.crash(crash.kind) }
                stage.run()
                guard stage.phases(id).last != .finished else { break }
                crashes += 1
                if world.disk.journalled(Stage.path(storm.name))?.isEmpty == false { continued += 1 }
                stage = Stage(world: world)
                id = stage.start(storm.job)
            }
            world.reachability.change(to: true)
            world.network.set(isUp: true)
            stage.run()
            #expect(stage.phases(id).last == .finished, "seed \(seed): \(stage.tellings(id).suffix(3))")
            stage.expect(storm.payload, at: storm.name, "seed \(seed)")
            #expect(world.disk.listing == [Stage.path(storm.name)], "nothing else is left behind")
        }
        #expect(crashes > 20 && continued > 10)
    }
}
