import PawlCore

/// A journal file on a disk that keeps what was synced, and of the rest whatever it likes, sector by sector.
struct JournalDisk {
    /// What the kernel holds.
    private(set) var cache: [UInt8] = []
    private var stable: [UInt8] = []
    /// Writes since the beginning; a sync covers those before `synced`.
    private var pending: [JournalWrite] = []

    mutating func perform(_ writes: [JournalWrite]) {
        for write in writes {
            Self.apply(write, to: &cache)
            pending.append(write)
        }
    }

    /// A sync that begins now covers this many writes when it ends.
    var syncPoint: Int { pending.count }

    mutating func sync(to point: Int) {
        for write in pending.prefix(point) { Self.apply(write, to: &stable) }
        pending.removeFirst(point)
    }

    /// What the cache holds when the process is killed inside the last of `writes`, after `count` of its bytes.
    func killed(during writes: ArraySlice<JournalWrite>, after count: Int) -> [UInt8] {
        var bytes = cache
        for write in writes.dropLast() { Self.apply(write, to: &bytes) }
        if let last = writes.last {
            Self.apply(JournalWrite(offset: last.offset, bytes: Array(last.bytes.prefix(count))), to: &bytes)
        }
        return bytes
    }

    /// What the disk holds after a power cut: each sector is as old as it likes, but not older than the last sync.
    func afterPowerCut(_ dice: inout Dice) -> [UInt8] {
        var bytes = stable
        let end = pending.map { $0.offset + $0.bytes.count }.max() ?? 0
        for sector in stride(from: 0, to: end, by: 512) {
            let touching = pending.filter { $0.offset < sector + 512 && $0.offset + $0.bytes.count > sector }
            for write in touching.prefix(dice.below(touching.count + 1)) {
                let low = max(sector, write.offset)
                let high = min(sector + 512, write.offset + write.bytes.count)
                let part = write.bytes[low - write.offset..<high - write.offset]
                Self.apply(JournalWrite(offset: low, bytes: Array(part)), to: &bytes)
            }
        }
        return bytes
    }

    /// The machine starts anew, with a clean shutdown or after a power cut.
    mutating func reboot(clean: Bool, _ dice: inout Dice) {
        if !clean { cache = afterPowerCut(&dice) }
        stable = cache
        pending = []
    }

    static func apply(_ write: JournalWrite, to bytes: inout [UInt8]) {
        let end = write.offset + write.bytes.count
        if bytes.count < end { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
        bytes.replaceSubrange(write.offset..<end, with: write.bytes)
    }
}

let someBoot = BootIdentity(high: 1, low: 2)
let otherBoot = BootIdentity(high: 3, low: 4)
let someInodes = JournalInodes(part: 11, journal: 12)

func someFacts(padding: Int = 0) -> JournalFacts {
    JournalFacts(
        sources: [
            "https://a.example/file?x=1", "https://b.example/" + String(repeating: "p", count: padding),
        ],
        identity: ContentIdentity(
            total: 1 << 40,
            entityTag: EntityTag(opaque: "v1", isWeak: true),
            lastModified: UnixTime(seconds: 1_700_000_000)
        ),
        name: "täst.bin"
    )
}

/// A download's journal, the disk it is on, and what is true of the data.
struct JournalModel {
    var dice: Dice
    var disk = JournalDisk()
    var keeper: JournalKeeper
    var boot = someBoot
    /// Bytes that were written to the data file, and those that a sync of it covers.
    var written = ByteRangeSet()
    var durable = ByteRangeSet()
    var lanes: [Int: (slot: JournalSlot, cursor: Int64)] = [:]
    var sync: (ticket: JournalKeeper.Sync, point: Int)?
    /// Told of every list of writes before it is performed.
    var watch: (JournalModel, [JournalWrite]) -> Void = { _, _ in }
    private(set) var syncs = 0
    /// The bytes are being given up: the journal may claim none of them.
    private(set) var isStartingOver = false
    /// How long the facts get, now and then.
    private let padding: Int

    init(
        seed: UInt64,
        padding: Int = 5000,
        watch: @escaping (JournalModel, [JournalWrite]) -> Void = { _, _ in }
    ) {
        dice = Dice(seed: seed)
        self.padding = padding
        let (keeper, writes) = JournalKeeper.begun(
            facts: someFacts(),
            done: ByteRangeSet(),
            inodes: someInodes,
            boot: someBoot,
            nonce: seed
        )
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
        guard let index = lanes.keys.sorted().randomElement(using: &dice), let lane = lanes[index] else {
            return
        }
        let cursor = lane.cursor + Int64(dice.below(5000) + 1)
        // The data is there before the journal says so.
        written.insert(ByteRange(lane.cursor, cursor))
        perform([lane.slot.advance(to: cursor)])
        lanes[index]?.cursor = cursor
    }

    private mutating func record() {
        // Now and then the facts outgrow their buffers.
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
        if let (_, old) = sync { sync?.point = max(0, old - point) }
        perform(keeper.startedOver())
        // Only now is the data cut off.
        written = ByteRangeSet()
        durable = ByteRangeSet()
        lanes = [:]
    }

    /// The process ends and another one goes on, on this boot or the next.
    private mutating func reopen() {
        guard sync == nil else { return }
        if dice.below(3) == 0 {
            boot = BootIdentity(high: boot.high + 1, low: boot.low)
            disk.reboot(clean: dice.below(2) == 0, &dice)
            // What no sync covers may be gone from the data.
            written = durable
        }
        guard let image = try? JournalImage(disk.cache) else {
            // A power cut before the first sync: there is no journal, and all begins anew.
            return beginAgain()
        }
        let trusted = image.trusted(boot: boot, length: .max)
        let (next, writes) = JournalKeeper.resumed(
            image,
            done: trusted,
            length: .max,
            inodes: someInodes,
            boot: boot
        )
        perform(writes)
        keeper = next
        lanes = [:]
    }

    private mutating func beginAgain() {
        disk = JournalDisk()
        let (keeper, writes) = JournalKeeper.begun(
            facts: someFacts(),
            done: ByteRangeSet(),
            inodes: someInodes,
            boot: boot,
            nonce: dice.next()
        )
        self.keeper = keeper
        disk.perform(writes)
        written = ByteRangeSet()
        durable = ByteRangeSet()
        lanes = [:]
        syncs = 0
    }
}

extension Dice {
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
