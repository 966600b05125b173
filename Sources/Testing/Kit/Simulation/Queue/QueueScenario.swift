import Pawl
package import PawlBase

/// A queue, its user's commands and everything that goes wrong, as a value that follows from a seed.
package struct QueueScenario: Sendable {
    /// What the user wants of one download: a part of the content, and a digest that it has to have.
    package struct Requirement: Sendable, Hashable {
        package enum Digest: Sendable, Hashable {
            case none
            case right
            case wrong
        }

        /// As in `DownloadOptions.range`.
        var range: String?
        var selection = RequestedRange.whole
        var digest = Digest.none
    }

    /// One download of the user.
    package struct Target: Sendable {
        var path: String
        var name: String
        var payload: Payload
        var requirement: Requirement
        var connections: Int?
        /// Relative to the root.
        var folder = ""
        /// The file's digest is computed before it is published, also where none is given.
        var storesAttributes = false
        /// What the impostor has.
        var otherPayload: Payload

        var source: String { "http://files.test\(path)" }
        /// Another host with the same content, and one with other bytes under the same tag.
        var mirror: String { "http://mirror.test\(path)" }
        var impostor: String { "http://impostor.test\(path)" }
    }

    /// What the user does to the finished file of a download.
    package enum Touch: String, Sendable, Hashable { case moves, movesBack, replaces, edits }

    /// What the user does as soon as a download is in this phase, and when a kill follows.
    package struct LateCommand: Sendable {
        var phase: DownloadState
        var command: Command
        var killAfter: Interval?
    }

    package enum Incident: Sendable {
        case command(Int, Command)
        case crash(FakeDisk.Crash)
        /// The program ends the queue in order, and opens it again.
        case restart
        case network(isUp: Bool)
        /// The disk has room for so many bytes in all; `nil` for any number.
        case room(Int64?)
        /// Whether writes to the queue fail.
        case writes(fail: Bool)
        case touch(Int, Touch)
        /// The disk of ``usb`` goes, with its folder if that `isMissing` then, or comes.
        case disk(isThere: Bool, isMissing: Bool)
    }

    /// A crash at a write of the queue.
    package struct StoreTrap: Sendable, Hashable {
        var kind: FakeDisk.Crash
        /// Whether the write was complete.
        var isWritten: Bool
    }

    /// What happens to the files of the queue's database.
    package struct DatabaseFaults: Sendable {
        /// At a write, sync, truncation or removal of SQLite, counted from 1.
        var atCalls: [Int: FaultyQueueStore.Fault] = [:]
        /// The way in which a process dies there.
        var crash = FakeDisk.Crash.kill
        /// The start, counted from 1, at which another process has the lock.
        var lockedStart: Int?
    }

    package static let root = "/downloads"
    /// The folder that has a disk of its own.
    package static let usb = "usb"
    package let seed: UInt64
    package var servers: [String: SimulatedServer] = [:]
    package var targets: [Target] = []
    package var slots = 1
    package var diskDelay = Interval.zero
    package var incidents: [(after: Interval, incident: Incident)] = []
    /// At a call to the disk, counted from 1.
    package var diskTraps: [Int: FakeDisk.Trap] = [:]
    /// By download: what comes when all of its bytes have arrived.
    package var lateCommands: [Int: LateCommand] = [:]
    /// At a write of the queue, counted from 1.
    package var storeTraps: [Int: StoreTrap] = [:]
    /// The queue is an SQLite database, with these faults of its files; `nil` for one in memory.
    package var database: DatabaseFaults?
    /// Somebody follows the queue's events.
    package struct Follower: Sendable {
        /// The events that are kept until they are heard.
        var buffer: Int
        /// How long after an event the downloads are read.
        var delay: Interval
        /// When its rows are compared with the queue's.
        var looks: [Interval] = []
    }
    package var follower: Follower?
    private var dice: Dice

    package init(seed: UInt64) {
        self.seed = seed
        dice = Dice(seed: seed &* 1_217 &+ 5)
        slots = dice.number(1...3)
        if dice.chance(0.4) { diskDelay = .milliseconds(Int64(dice.below(200))) }
        for host in ["files.test", "mirror.test", "impostor.test"] { servers[host] = makeServer() }
        for index in 0..<dice.number(1...5) { addTarget(index) }
        for _ in 0..<dice.number(2...14) { addCommand() }
        for _ in 0..<dice.pick([0, 1, 1, 2, 3]) { addTrouble() }
        if diskDelay > .zero, dice.chance(0.5) { addLateCommand() }
        addFullDisk()
        addTouches()
        addLostDisk()
        addCommandsOfEveryKind()
        addDatabase()
        addFollower()
    }
}

// MARK: - Servers and downloads

extension QueueScenario {
    private mutating func makeServer() -> SimulatedServer {
        var server = SimulatedServer()
        server.isUneven = true
        server.latency = .milliseconds(Int64(dice.number(1...80)))
        server.rate = dice.pick([200_000, 800_000, 4_000_000])
        server.chunk = dice.pick([32_768, 131_072])
        guard dice.chance(0.5) else { return server }
        server.luck = dice.number(1...4)
        server.chances = [
            .init(.dropped, 0.1), .init(.status(503), 0.1), .init(.reset(after: dice.bytes(0...1_000_000)), 0.2),
            .init(.truncated(after: dice.bytes(0...1_000_000)), 0.1),
            .init(.stalled(after: dice.bytes(0...600_000)), 0.1),
        ]
        return server
    }

    private mutating func addTarget(_ index: Int) {
        let name = dice.pick(["a.bin", "b.bin", "c\(index).bin"])
        let lengths = [dice.bytes(0...5), dice.bytes(1...900_000), dice.bytes(1_100_000...3_000_000)]
        // A file of the same name and length may be another download's.
        let length = dice.chance(0.3) ? 4_096 : dice.pick(lengths)
        let payload = Payload(seed: seed &* 37 &+ UInt64(index), length: length)
        let path = "/d\(index)/\(name)"
        let other = Payload(seed: seed &* 37 &+ UInt64(1_000 + index), length: length)
        var target = Target(path: path, name: name, payload: payload, requirement: Requirement(), otherPayload: other)
        target.storesAttributes = dice.chance(0.4)
        target.connections = dice.pick([nil, 1, 2, 4])
        target.requirement = makeRequirement(of: target)
        servers["files.test"]?.files[path] = SimulatedFile(payload)
        servers["mirror.test"]?.files[path] = SimulatedFile(payload)
        servers["impostor.test"]?.files[path] = SimulatedFile(other)
        targets.append(target)
        let start = Interval.milliseconds(Int64(dice.below(2_000)))
        incidents.append((start, .command(index, .add(isPaused: dice.chance(0.15)))))
    }

    mutating func makeRequirement(of target: Target) -> Requirement {
        var requirement = Requirement()
        let length = target.payload.length
        if length > 10, dice.chance(0.3) {
            let low = dice.bytes(0...(length - 2))
            let high = dice.bytes((low + 1)...(length - 1))
            (requirement.range, requirement.selection) = dice.pick([
                ("\(low)-", .from(low)), ("\(low)-\(high)", .closed(ByteRange(low, high + 1))),
                ("-\(high)", .suffix(high)),
            ])
        }
        requirement.digest = dice.pick([.none, .none, .right, .right, .wrong])
        return requirement
    }
}

// MARK: - What the user does, and what goes wrong

extension QueueScenario {
    private mutating func addCommand() {
        let index = dice.below(targets.count)
        let id = Self.id(index)
        let commands: [Command] = [
            .other(.pause(id)), .other(.pause(id)), .other(.resume(id)), .other(.resume(id)), .other(.start(id)),
            .add(isPaused: false), .other(.remove(id, Removal(keepsFile: dice.chance(0.3)))),
            .other(.move(id, .index(dice.below(4)))), .other(.rename(id, "n\(dice.below(3)).bin")),
            .change(makeRequirement(of: targets[index])), .change(makeRequirement(of: targets[index])),
            .other(.replaceURL(id, targets[index].url(ofImpostor: dice.chance(0.3)))),
            .other(.priority(id, dice.number(-1...1))), .other(.startOver(id)),
        ]
        incidents.append((moment(), .command(index, dice.pick(commands))))
    }

    private mutating func addLateCommand() {
        let index = dice.below(targets.count)
        let commands: [Command] = [
            .change(makeRequirement(of: targets[index])),
            .other(.replaceURL(Self.id(index), targets[index].url(ofImpostor: true))),
            .other(.replaceURL(Self.id(index), targets[index].url(ofImpostor: false))),
        ]
        let kill = Interval.milliseconds(Int64(dice.below(400)))
        lateCommands[index] = LateCommand(
            phase: dice.pick([.verifying, .publishing]), command: dice.pick(commands),
            killAfter: dice.chance(0.6) ? kill : nil)
    }

    private mutating func moment() -> Interval { .milliseconds(Int64(dice.magnitude(12_000))) }

    private mutating func addFault(_ start: Incident, until end: Incident) {
        let from = Int64(dice.magnitude(12_000))
        incidents.append((.milliseconds(from), start))
        incidents.append((.milliseconds(from + Int64(dice.number(100...5_000))), end))
    }

    /// The disk is full for a while.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    private mutating func addFullDisk() {
        var luck = Dice(seed: seed &* 1_223 &+ 9)
        guard luck.chance(0.25) else { return }
        let start = Int64(luck.number(0...6_000))
        incidents.append((.milliseconds(start), .room(luck.chance(0.3) ? 0 : luck.bytes(0...3_000_000))))
        incidents.append((.milliseconds(start + Int64(luck.number(100...40_000))), .room(nil)))
    }

    /// The user has moved, replaced or edited finished files, and moves some within the queue.
    private mutating func addTouches() {
        var luck = Dice(seed: seed &* 1_229 &+ 11)
        guard luck.chance(0.4) else { return }
        for _ in 0..<luck.number(1...6) {
            let index = luck.below(targets.count)
            let id = Self.id(index)
            let touches: [Incident] = [
                .touch(index, .moves), .touch(index, .moves), .touch(index, .movesBack), .touch(index, .replaces),
                .touch(index, .edits),
                .command(index, .other(.relocate(id, folder: luck.pick(["", "other", Self.usb])))),
                .command(index, .other(.rename(id, "n\(luck.below(3)).bin"))),
                .command(index, .other(.remove(id))), .command(index, .other(.resume(id))),
            ]
            incidents.append((.milliseconds(Int64(luck.number(500...20_000))), luck.pick(touches)))
        }
    }

    /// Some downloads are on a disk that is not there for a while.
    private mutating func addLostDisk() {
        var luck = Dice(seed: seed &* 1_231 &+ 13)
        guard luck.chance(0.3) else { return }
        for index in targets.indices where luck.chance(0.6) { targets[index].folder = Self.usb }
        let start = Int64(luck.number(300...8_000))
        let end = start + Int64(luck.number(100...30_000))
        incidents.append((.milliseconds(start), .disk(isThere: false, isMissing: luck.chance(0.5))))
        incidents.append((.milliseconds(end), .disk(isThere: true, isMissing: false)))
    }

    /// The queue is the real one, on a medium with faults.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    private mutating func addDatabase() {
        var luck = Dice(seed: seed &* 1_733 &+ 19)
        guard luck.chance(0.2) else { return }
        var faults = DatabaseFaults()
        faults.crash = luck.chance(0.5) ? .kill : .powerCut
        for _ in 0..<luck.number(0...3) {
            faults.atCalls[luck.magnitude(400)] = luck.pick(FaultyQueueStore.Fault.allCases)
        }
        if luck.chance(0.3) { faults.lockedStart = luck.number(1...3) }
        for _ in 0..<luck.number(0...2) {
            incidents.append((.milliseconds(Int64(luck.magnitude(12_000))), .crash(.powerCut)))
        }
        database = faults
    }

    /// Drawn apart, so that other worlds do not depend on it.
    private mutating func addFollower() {
        var luck = Dice(seed: seed &* 1_989 &+ 23)
        guard luck.chance(0.3) else { return }
        follower = Follower(buffer: luck.pick([1, 3, 1_000]), delay: .milliseconds(Int64(luck.pick([0, 100, 1_000]))))
        follower?.looks = [.seconds(60), .seconds(66)]
        if luck.chance(0.4) {
            // A command to all ends what waits for a time, too.
            let (index, start) = (luck.below(targets.count), luck.number(100...3_000))
            incidents.append(
                (.milliseconds(Int64(start)), .command(index, .other(.schedule(Self.id(index), Self.later)))))
            let end = Int64(start + luck.number(100...30_000))
            incidents.append((.milliseconds(end), .command(index, .other(luck.pick([.pauseAll, .resumeAll()])))))
        }
        for _ in 0..<luck.number(1...4) {
            let time = luck.number(500...20_000)
            follower?.looks += [time, time + 5_000].map { .milliseconds(Int64($0)) }
        }
    }

    private mutating func addTrouble() {
        let kind: FakeDisk.Crash = dice.chance(0.7) ? .kill : .powerCut
        switch dice.below(7) {
        case 0: incidents.append((moment(), .crash(kind)))
        case 1: incidents.append((moment(), .restart))
        case 2: addFault(.network(isUp: false), until: .network(isUp: true))
        case 3: addFault(.writes(fail: true), until: .writes(fail: false))
        case 4: diskTraps[dice.magnitude(200)] = dice.chance(0.6) ? .crashes(kind) : .fails
        default: storeTraps[dice.magnitude(60)] = StoreTrap(kind: kind, isWritten: dice.chance(0.5))
        }
    }
}

extension QueueScenario.Target {
    /// The URL's options with this requirement.
    func options(_ requirement: QueueScenario.Requirement) -> DownloadOptions {
        var options = DownloadOptions()
        options.verification = .off
        options.folder = folder
        options.storesAttributes = storesAttributes
        options.connections = connections
        options.timeout = .seconds(3)
        options.retries = 3
        options.retryDelay = .milliseconds(200)
        options.range = requirement.range
        options.checksum = checksum(requirement)
        return options
    }

    func checksum(_ requirement: QueueScenario.Requirement) -> String? {
        switch requirement.digest {
        case .none: nil
        case .right: "md5=" + Hexadecimal.text(MessageDigest5.digest(content(requirement)))
        case .wrong: "md5=" + String(repeating: "01", count: 16)
        }
    }

    func url(ofImpostor isImpostor: Bool) -> String { isImpostor ? impostor : mirror }

    /// The right file, or that of a URL of other content.
    func content(_ requirement: QueueScenario.Requirement, of url: String? = nil) -> [UInt8] {
        let payload = url == impostor ? otherPayload : payload
        return payload.bytes(in: requirement.selection.part(of: payload.length))
    }
}
