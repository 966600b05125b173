import PawlBase
import PawlJournal
import PawlTestKit
import Testing

let someBoot = BootIdentity(high: 1, low: 2)
let otherBoot = BootIdentity(high: 3, low: 4)
let someInodes = JournalInodes(part: 11, journal: 12)

func someFacts(padding: Int = 0) -> JournalFacts {
    JournalFacts(
        sources: ["https://a.example/file?x=1", "https://b.example/" + String(repeating: "p", count: padding)],
        representation: Representation(
            selection: .closed(ByteRange(5, 1 << 40)), base: 5, coding: "gzip", total: 1 << 40,
            mediaType: "application/zip",
            records: [
                ValidatorRecord(
                    source: "https://a.example/file?x=1", host: "https://cdn.example",
                    validators: Validators(
                        entityTag: EntityTag(opaque: "v1", isWeak: true),
                        lastModified: UnixTime(seconds: 1_700_000_000), strength: .strong), stability: .stable)
            ]), name: "täst.bin")
}

/// A model of a download's journal, its disk, and the real state of the data.
struct JournalModel {
    var dice: Dice
    var disk = VolatileBytes()
    var keeper: JournalKeeper
    var boot = someBoot
    /// Bytes written to the data file, and those covered by a sync.
    var written = ByteRangeSet()
    var durable = ByteRangeSet()
    var lanes: [Int: (slot: JournalSlot, cursor: Int64)] = [:]
    var sync: (ticket: JournalKeeper.Sync, point: Int)?
    /// Called with every list of writes before it is performed.
    var watch: (JournalModel, [JournalWrite]) -> Void = { _, _ in }
    private(set) var syncs = 0
    /// The bytes are being discarded: the journal may claim none of them.
    private(set) var isStartingOver = false
    /// The length of the facts, which grows occasionally.
    private let padding: Int

    init(seed: UInt64, padding: Int = 5000, watch: @escaping (JournalModel, [JournalWrite]) -> Void = { _, _ in }) {
        dice = Dice(seed: seed)
        self.padding = padding
        let (keeper, writes) = JournalKeeper.begun(
            facts: someFacts(), done: ByteRangeSet(), inodes: someInodes, boot: someBoot, nonce: seed)
        self.keeper = keeper
        disk.perform(writes)
        self.watch = watch
    }

    private mutating func perform(_ writes: [JournalWrite]) {
        watch(self, writes)
        disk.perform(writes)
    }

    mutating func step() {
        switch dice.below(20) {
        case 0..<9: advance()
        case 9..<12: beginLane()
        case 12..<14: record()
        case 14..<16: beginCheckpoint()
        case 16..<18: endCheckpoint()
        case 18: if dice.below(4) == 0 { startOver() }
        default: reopen()
        }
    }

    private mutating func beginLane() {
        let index = dice.below(4)
        let start = Int64(dice.below(1000)) * 1000
        let retired = lanes[index].map { ByteRange($0.slot.start, $0.cursor) }
        let (slot, writes) = keeper.beginLane(index, at: start, retiring: retired)
        perform(writes)
        lanes[index] = (slot, start)
    }

    private mutating func advance() {
        guard let index = lanes.keys.sorted().randomElement(using: &dice), let lane = lanes[index] else { return }
        let cursor = lane.cursor + Int64(dice.below(5000) + 1)
        // The data is written before the journal claims it.
        written.insert(ByteRange(lane.cursor, cursor))
        perform([lane.slot.advance(to: cursor)])
        lanes[index]?.cursor = cursor
    }

    private mutating func record() {
        // Occasionally the facts exceed their buffers.
        let length = dice.below(padding > 100 && dice.below(10) == 0 ? padding : 100)
        perform(keeper.record(someFacts(padding: length), written: written))
    }

    private mutating func beginCheckpoint() {
        guard sync == nil else { return }
        let done = written
        durable.insert(done)
        perform(keeper.dataSynced(done, incarnation: keeper.incarnation))
        sync = (keeper.syncBegins(), disk.syncPoint)
    }

    private mutating func endCheckpoint() {
        guard let (ticket, point) = sync else { return }
        let succeeded = dice.below(8) > 0
        if succeeded {
            disk.sync(to: point)
            syncs += 1
        }
        keeper.syncEnded(ticket, succeeded: succeeded)
        sync = nil
    }

    private mutating func startOver() {
        isStartingOver = true
        defer { isStartingOver = false }
        perform(keeper.startOver(someFacts()))
        let ticket = keeper.syncBegins()
        let point = disk.syncPoint
        disk.sync(to: point)
        keeper.syncEnded(ticket, succeeded: true)
        perform(keeper.startedOver())
        // The data is truncated only now.
        written = ByteRangeSet()
        durable = ByteRangeSet()
        lanes = [:]
    }

    /// The process ends and another one continues, on this boot or the next.
    private mutating func reopen() {
        guard sync == nil else { return }
        let reboots = dice.below(3) == 0
        if reboots {
            boot = BootIdentity(high: boot.high + 1, low: boot.low)
            disk.reboot(clean: dice.below(2) == 0, &dice)
            // Data not covered by a sync may be lost.
            written = durable
        }
        guard let image = try? JournalImage(disk.cache) else {
            // A power cut before the first sync: there is no journal, and everything starts over.
            return beginAgain()
        }
        let trusted = image.trusted(boot: boot, length: .max, changed: nil)
        // Data may be synced whose claim was lost with the power: it is fetched again.
        #expect(trusted.isSubset(of: written))
        if reboots { written = trusted }
        let (next, writes) = JournalKeeper.resumed(image, done: trusted, length: .max, inodes: someInodes, boot: boot)
        perform(writes)
        keeper = next
        lanes = [:]
    }

    private mutating func beginAgain() {
        disk = VolatileBytes()
        let (keeper, writes) = JournalKeeper.begun(
            facts: someFacts(), done: ByteRangeSet(), inodes: someInodes, boot: boot, nonce: dice.next())
        self.keeper = keeper
        disk.perform(writes)
        written = ByteRangeSet()
        durable = ByteRangeSet()
        lanes = [:]
        syncs = 0
    }
}
