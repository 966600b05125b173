import PawlTestKit
import Testing

/// A few of the worlds that `make simulate` runs by the ten thousand.
@Suite struct `Simulated worlds` {
    @Test(arguments: 0..<8 as Range<UInt64>) func `A1 A4 A5 C5 every law holds in worlds from any seed`(batch: UInt64) {
        let campaign = Campaign(seeds: batch * 25..<batch * 25 + 25)
        campaign.runAll()
        for failure in campaign.failures { Issue.record("make simulate SEED=\(failure.seed): \(failure.violations)") }
        let tally = campaign.tally
        #expect(tally["worlds"] == 25)
        #expect(tally["kills"] > 0 && tally["power cuts"] > 0 && tally["published"] > 0)
        #expect(tally["retries: network"] > 0 && tally["checkpoints"] > 0)
        #expect(tally["connections reused"] > 0 && tally["bodies drained"] > 0)
        #expect(tally["requests that join a connection"] > 0)
    }

    /// Each of these worlds has broken a law, in a way that thousands of others had not.
    @Test(
        arguments: [
            308, 710, 2_882, 3_258, 4_121, 7_163, 13_470, 16_504, 18_433, 27_063, 33_400, 34_036, 58_053, 59_631,
            61_866, 64_898,
            69_176,
            78_079,
            94_681,
        ] as [UInt64]) func `a world that has broken a law keeps it now`(seed: UInt64)
    { #expect(Simulation.run(seed: seed).violations.isEmpty) }

    @Test(arguments: 0..<4 as Range<UInt64>) func `the same seed gives the same events`(batch: UInt64) {
        for seed in batch * 10..<batch * 10 + 10 {
            let first = Simulation.run(seed: seed, keepsLog: true)
            let second = Simulation.run(seed: seed, keepsLog: true)
            #expect(first.log.count > 5)
            #expect(first.log == second.log, "seed \(seed)")
            #expect(first.tally == second.tally)
        }
    }

    @Test(arguments: [
        Sabotage.flipsBits, .keepsUnchecked, .skipsUnfitPieces, .doublesLanes, .ignoresPauses, .reusesEarly,
        .takesInterim, .reportsRetries, .computesOneDigest, .acceptsCutStreams, .mixesStreams, .ignoresGoAway,
        .exceedsStreams, .resendsProcessed, .givesCreditPaused, .ignoresCalm, .cutsWholeFiles, .undatesWholeFiles,
        .undatesPartFiles,
    ]) func `a world that is broken on purpose is noticed`(sabotage: Sabotage) {
        // `make simulate` breaks them in every way.
        #expect(Campaign.firstSeed(below: 100, noticing: sabotage) != nil, "it was not detected")
    }

    @Test func `small files end alike on both of their paths`() {
        let campaign = Campaign(.agreement, seeds: 0..<100)
        campaign.runAll()
        for failure in campaign.failures {
            Issue.record("make simulate AGREEMENT_SEED=\(failure.seed): \(failure.violations)")
        }
        #expect(campaign.tally["twice: worlds"] == 100)
        #expect(campaign.tally["twice: whole files named at once"] > 0)
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func `every law holds in queues from any seed`(batch: UInt64) {
        let campaign = Campaign(.queue, seeds: batch * 25..<batch * 25 + 25)
        campaign.runAll()
        for failure in campaign.failures {
            Issue.record("make simulate QUEUE_SEED=\(failure.seed): \(failure.violations)")
        }
        let tally = campaign.tally
        #expect(tally["queue: worlds of queues"] == 25)
        #expect(tally["queue: opened"] > 25 && tally["queue: finished"] > 0 && tally["queue: pauses"] > 0)
    }

    /// Each of these queues has broken a law.
    @Test(
        arguments: [
            11, 70, 76, 174, 239, 635, 719, 908, 1_003, 1_041, 1_065, 1_149, 1_325, 1_467, 1_567, 1_776, 2_959, 3_686,
            6_705, 6_769,
        ] as [UInt64])
    func `a queue that has broken a law keeps it now`(seed: UInt64) {
        #expect(QueueSimulation.run(seed: seed).violations.isEmpty)
    }

    @Test(arguments: [
        QueueSabotage.losesDownloads, .losesOptions, .losesRemovals, .addsSlot, .cutsFiles, .identifiesByName,
        .beginsAgain, .hidesAdditions, .hidesStates, .hidesChanges, .hidesQueueChanges,
        .hidesMissedEvents,
    ]) func `a queue that is broken on purpose is noticed`(sabotage: QueueSabotage) {
        #expect(Campaign.firstSeed(below: 200, noticing: sabotage) != nil, "it was not detected")
    }

    @Test func `every law holds in streams from any seed, and a seed is always the same world`() {
        let campaign = Campaign(.stream, seeds: 0..<1_000)
        campaign.runAll()
        for failure in campaign.failures {
            Issue.record("make simulate STREAM_SEED=\(failure.seed): \(failure.violations)")
        }
        #expect(campaign.tally.missing(of: StreamEvent.allCases.map(\.name)).isEmpty)
        for seed in 0..<20 as Range<UInt64> {
            let first = StreamSimulation.run(seed: seed, keepsLog: true)
            #expect(first.log == StreamSimulation.run(seed: seed, keepsLog: true).log && !first.log.isEmpty)
        }
    }

    @Test(arguments: StreamSabotage.allCases) func `a stream that is broken on purpose is noticed`(
        sabotage: StreamSabotage
    ) { #expect(Campaign.firstSeed(below: 1_000, noticing: sabotage) != nil, "it was not detected") }

    @Test(arguments: 0..<8) func `collections keep the laws`(batch: UInt64) {
        let campaign = Campaign(.collections, seeds: batch * 25..<batch * 25 + 25)
        campaign.runAll()
        for failure in campaign.failures {
            Issue.record("make simulate COLLECTION_SEED=\(failure.seed): \(failure.violations)")
        }
        let tally = campaign.tally
        #expect(tally["collections: listings"] == 25 && tally["collections: mirrors"] > 25)
        #expect(tally["collections: files kept"] > 0 && tally["collections: files that gave way"] > 0)
    }

    @Test(arguments: MirrorSabotage.allCases)
    func `a collection that is broken on purpose is noticed`(sabotage: MirrorSabotage) {
        #expect(Campaign.firstSeed(below: 200, noticing: sabotage) != nil, "it was not detected")
    }

    @Test func `what a sabotage needs is a mechanism that worlds must have run`() {
        let expected = Set(Campaign.Kind.allCases.flatMap(\.expected))
        let named =
            Sabotage.allCases.map(\.mechanism) + QueueSabotage.allCases.map(\.mechanism)
            + StreamSabotage.allCases.map(\.mechanism) + MirrorSabotage.allCases.map(\.mechanism)
        #expect(Set(named).subtracting(expected).isEmpty)
    }
}
