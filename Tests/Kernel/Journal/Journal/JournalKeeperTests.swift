import PawlBase
import PawlJournal
import PawlTestKit
import Testing

/// The laws of the journal, tested on journals over a few hundred random steps.
@Suite struct JournalKeeperTests {
    @Test(arguments: 0..<12 as Range<UInt64>) func `A4 a kill in the middle of any write loses no written byte`(
        seed: UInt64
    ) throws {
        var kills = 0
        var dice = Dice(seed: seed + 1000)
        let check = { (model: JournalModel, writes: [JournalWrite]) in
            // Pages are written one after the other: a kill can come between any two of them.
            for (index, write) in writes.enumerated() {
                let cut = write.bytes.count > 4096 ? dice.below(write.bytes.count / 4096) * 4096 : 0
                let bytes = model.disk.killed(during: writes[0...index], after: cut)
                let image = try? JournalImage(bytes)
                #expect(image != nil)
                let claimed = image?.trusted(boot: model.boot, length: .max, changed: nil) ?? ByteRangeSet()
                let lost = model.written.runs.flatMap(claimed.gaps(in:)).reduce(0) { $0 + $1.count }
                #expect(claimed.isSubset(of: model.written))
                // Only the bytes just written, whose cursor is not stored yet, may be missing.
                #expect(lost <= 5000 || model.isStartingOver, "seed \(seed): \(claimed.runs) of \(model.written.runs)")
                kills += 1
            }
        }
        var model = JournalModel(seed: seed, watch: check)
        for _ in 0..<150 { model.step() }
        #expect(kills > 50)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `after a power cut the journal claims no byte that was not synced and none less than promised`(
        seed: UInt64
    ) throws {
        var model = JournalModel(seed: seed)
        var dice = Dice(seed: seed + 2000)
        var cuts = 0
        for _ in 0..<150 {
            model.step()
            for _ in 0..<2 {
                let bytes = model.disk.afterPowerCut(&dice)
                guard let image = try? JournalImage(bytes) else {
                    #expect(model.syncs == 0, "seed \(seed): a synced journal is gone")
                    continue
                }
                let claimed = image.trusted(boot: otherBoot, length: .max, changed: nil)
                #expect(claimed.isSubset(of: model.durable), "seed \(seed): \(claimed.runs)")
                #expect(model.keeper.durable.isSubset(of: claimed), "seed \(seed): \(claimed.runs)")
                cuts += 1
            }
        }
        #expect(cuts > 200)
    }

    @Test(arguments: 0..<3 as Range<UInt64>) func `no flipped byte makes a journal claim more than was written`(
        seed: UInt64
    ) throws {
        var model = JournalModel(seed: seed, padding: 0)
        for _ in 0..<60 { model.step() }
        let bytes = model.disk.cache
        let whole = try JournalImage(bytes)
        #expect(whole.written == model.written)
        for index in bytes.indices where bytes[index] != 0 || index < 4096 {
            for mask in [0x01, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= mask
                guard let image = try? JournalImage(damaged) else { continue }
                #expect(image.written.isSubset(of: model.written), "seed \(seed), byte \(index)")
                #expect(image.trusted(boot: otherBoot, length: .max, changed: nil).isSubset(of: model.durable))
            }
        }
    }

    @Test(arguments: 0..<3 as Range<UInt64>) func `no truncation makes a journal claim more than was written`(
        seed: UInt64
    ) throws {
        var model = JournalModel(seed: seed, padding: 0)
        for _ in 0..<60 { model.step() }
        let bytes = model.disk.cache
        for length in stride(from: 0, to: bytes.count, by: 7) {
            guard let image = try? JournalImage(Array(bytes[..<length])) else { continue }
            #expect(image.written.isSubset(of: model.written), "seed \(seed), length \(length)")
        }
    }

    @Test func `a slot that reached the disk before its header is never trusted later`() throws {
        var disk = VolatileBytes()
        disk.perform(
            JournalKeeper.begun(facts: someFacts(), done: ByteRangeSet(), inodes: someInodes, boot: someBoot, nonce: 7)
                .1)
        func resume(_ boot: BootIdentity) throws -> (JournalKeeper, [JournalWrite]) {
            let image = try JournalImage(disk.cache)
            let done = image.trusted(boot: boot, length: .max, changed: nil)
            return JournalKeeper.resumed(image, done: done, length: .max, inodes: someInodes, boot: boot)
        }
        // A second run writes. The power fails when its slot is on disk, but neither its header nor its data.
        var (keeper, _) = try resume(someBoot)
        let (slot, writes) = keeper.beginLane(3, at: 0, retiring: nil)
        disk.perform(writes + [slot.advance(to: 9000)])
        // On the next boot a third run writes its header, and is killed.
        let (_, header) = try resume(otherBoot)
        disk.perform(header)
        #expect(try JournalImage(disk.cache).trusted(boot: otherBoot, length: .max, changed: nil).isEmpty)
    }

    @Test func `starting over leaves no header from which damage could restore the old claims`() throws {
        var (keeper, writes) = JournalKeeper.begun(
            facts: someFacts(padding: 6000), done: ByteRangeSet(), inodes: someInodes, boot: someBoot, nonce: 7)
        var disk = VolatileBytes()
        disk.perform(writes)
        for end in 1...9 as ClosedRange<Int64> {
            disk.perform(keeper.record(someFacts(), written: ByteRangeSet([ByteRange(0, end)])))
        }
        writes = keeper.startOver(someFacts())
        disk.perform(writes)
        let ticket = keeper.syncBegins()
        keeper.syncEnded(ticket, succeeded: true)
        disk.perform(keeper.startedOver())
        for area in 0...1 {
            for buffer in 0..<JournalLayout.buffersPerArea {
                let start = JournalLayout.offset(ofBuffer: area * JournalLayout.buffersPerArea + buffer)
                var only = disk.cache
                // Every second header is destroyed.
                for other in stride(from: JournalLayout.pageLength, to: only.count, by: 4096) where other != start {
                    only[other] = 0xEE
                }
                guard let image = try? JournalImage(only) else { continue }
                #expect(image.written.isEmpty)
                #expect(image.header.incarnation == keeper.incarnation)
            }
        }
    }

    @Test func `a failed sync of the data makes the page cache untrusted`() throws {
        var (keeper, writes) = JournalKeeper.begun(
            facts: someFacts(), done: ByteRangeSet(), inodes: someInodes, boot: someBoot, nonce: 7)
        var disk = VolatileBytes()
        disk.perform(writes)
        let all = ByteRangeSet([ByteRange(0, 100)])
        disk.perform(keeper.dataSynced(ByteRangeSet([ByteRange(0, 40)]), incarnation: keeper.incarnation))
        disk.perform(keeper.record(someFacts(), written: all))
        #expect(try JournalImage(disk.cache).trusted(boot: someBoot, length: 100, changed: nil) == all)
        disk.perform(keeper.distrustCache())
        #expect(try JournalImage(disk.cache).trusted(boot: someBoot, length: 100, changed: nil).count == 40)
    }

    @Test func `a file that is finished again has its new length, and no lane`() throws {
        var (keeper, writes) = JournalKeeper.begun(
            facts: someFacts(), done: ByteRangeSet(), original: 40, inodes: someInodes, boot: someBoot, nonce: 7)
        var disk = VolatileBytes()
        disk.perform(writes)
        let all = ByteRangeSet([ByteRange(0, 100)])
        disk.perform(keeper.record(someFacts(), written: all))
        let (slot, begun) = keeper.beginLane(0, at: 60, retiring: nil)
        disk.perform(begun + [slot.advance(to: 110)])
        disk.perform(keeper.dataSynced(all, incarnation: keeper.incarnation))
        let before = try JournalImage(disk.cache)
        #expect(before.began(trusting: before.written) == 40 && before.lanes == [ByteRange(60, 110)])
        disk.perform(keeper.restored(length: 70))
        let image = try JournalImage(disk.cache)
        #expect(image.lanes.isEmpty && image.written.runs == [ByteRange(0, 70)])
        #expect(image.header.durable.runs == [ByteRange(0, 70)])
        #expect(image.original(trusting: image.written) == 70)
    }

    @Test func `durable bytes of an older incarnation are not durable in this one`() throws {
        var (keeper, _) = JournalKeeper.begun(
            facts: someFacts(), done: ByteRangeSet(), inodes: someInodes, boot: someBoot, nonce: 7)
        let before = keeper.incarnation
        _ = keeper.startOver(someFacts())
        #expect(keeper.dataSynced(ByteRangeSet([ByteRange(0, 9)]), incarnation: before).isEmpty)
        #expect(keeper.header.durable.isEmpty)
    }
}
