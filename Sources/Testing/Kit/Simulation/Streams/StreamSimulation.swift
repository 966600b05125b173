import PawlBase
import PawlStreams

/// A world of one stream: its addresses expire, its playlist changes, segments vanish, its process is killed at any event, and its
/// part file is cut or damaged between two processes.
///
/// ``StreamMachine`` decides, on playlists that are parsed and with marks of a journal that are read again; the shell is this world's.
package struct StreamSimulation {
    private enum End: Error {
        case killed, finished
        case failed(Failure)
    }

    private struct Request {
        var index: Int
        var segment: StreamSegment
    }

    private var dice: Dice
    private var server: StreamServer
    private var disk = StreamDisk()
    private var machine = StreamMachine(StreamFile(identity: ""), width: 1)
    private var mark = StreamMark(identity: "")
    private var offset = 0
    private var requests: [Request] = []
    private var keys: [WebAddress] = []
    private var arrived: [Int: (bytes: [UInt8], isWrong: Bool)] = [:]
    /// Items that the user was told of, and those that the bytes on disk lack.
    private var told: Set<Int> = []
    private var lacking: Set<Int> = []
    /// The item that follows what the journal has confirmed.
    private var confirmed = 0
    /// How often it started over.
    private var epoch = 0
    private var trouble: Int
    private var isCalm = false
    private let width: Int
    private let allowedGaps: Int
    private let stride: Int
    private let sabotage: StreamSabotage?
    private let keepsLog: Bool
    private var outcome = Simulation.Outcome(violations: [], tally: Tally(), log: [])

    package static func run(
        seed: UInt64, sabotage: StreamSabotage? = nil, keepsLog: Bool = false
    ) -> Simulation.Outcome {
        var world = StreamSimulation(seed, sabotage, keepsLog)
        world.run()
        return world.outcome
    }

    private init(_ seed: UInt64, _ sabotage: StreamSabotage?, _ keepsLog: Bool) {
        dice = Dice(seed: seed)
        server = StreamServer(&dice)
        (trouble, width) = (dice.number(0...12), dice.number(1...5))
        (allowedGaps, stride) = (dice.pick([0, 0, 1, 2]), dice.number(1...6))
        (self.sabotage, self.keepsLog) = (sabotage, keepsLog)
    }

    // MARK: processes

    private mutating func run() {
        note(.world)
        for life in 0..<80 {
            do throws(End) { try live() } catch {
                log("process \(life): \(error)")
                switch error {
                case .finished: return checkPublished()
                case .killed: note(.kill)
                case .failed(let failure):
                    note(.failed)
                    guard isCalm else { break }
                    // Only what is gone for good may prevent that it finishes.
                    if !server.gone.contains(where: {
                        failure.what.contains("segment \($0 - server.present.first + 1) ")
                    }) {
                        violate(.finishes, "\(failure)")
                    }
                    return
                }
            }
            if trouble > 0 { disturbDisk() }
            guard trouble == 0, !isCalm else { continue }
            server.calmDown()
            isCalm = true
        }
        violate(.ends, "it has not ended after 80 processes")
    }

    private mutating func live() throws(End) {
        (requests, keys, arrived) = ([], [], [:])
        guard let file = server.playlist else { return violate(.ends, "the playlist of this world cannot be read") }
        machine = StreamMachine(file, width: width, allowedGaps: allowedGaps)
        let (next, gaps) = open(file)
        try perform(machine.begin(at: next, gaps: gaps))
        // Each event ends a request, or is one of few.
        for _ in 0..<2_000 {
            if trouble > 0, dice.chance(0.15) { try disturb() }
            guard !requests.isEmpty || !keys.isEmpty else {
                violate(.ends, "nothing is on its way, and it has not ended")
                throw .finished
            }
            try deliver()
        }
        violate(.ends, "2000 responses did not end it")
    }

    /// Takes up what the process before has left, as the shell does.
    private mutating func open(_ file: StreamFile) -> (next: Int, gaps: [Int]) {
        defer { disk.opened() }
        guard let journal = disk.journal else { return begin(file) }
        guard let found = StreamMark(journal.text), found.identity == file.identity else { return begin(file) }
        let length = Int64(min(journal.done, disk.bytes.count))
        let step = found.step(within: length > 0 ? ByteRangeSet([ByteRange(0, length)]) : ByteRangeSet())
        let sum = CRC64.value(of: disk.bytes.prefix(Int(step.offset)))
        if let known = step.sum, known != sum, sabotage != .ignoresSums { return begin(file) }
        if !disk.isTouched, step.next < confirmed {
            violate(.kill, "\(step.next) segments are known, and the journal had confirmed \(confirmed)")
        }
        mark = found
        (mark.steps, mark.gaps) = ([step], found.gaps.filter { $0 < step.next })
        (offset, told, confirmed) = (Int(step.offset), Set(mark.gaps), step.next)
        lacking = lacking.filter { $0 < step.next }
        disk.truncate(to: offset)
        if step.next > 0 { note(.resumed) }
        return (step.next, mark.gaps)
    }

    private mutating func begin(_ file: StreamFile) -> (next: Int, gaps: [Int]) {
        disk.reset()
        mark = StreamMark(identity: file.identity)
        (offset, told, lacking, confirmed) = (0, [], [], 0)
        return (0, [])
    }

    // MARK: actions

    private mutating func perform(_ actions: [StreamMachine.Action]) throws(End) {
        var epoch = epoch
        for action in actions {
            // As the shell does it.
            guard epoch == self.epoch else { return }
            switch action {
            case .fetch(let index):
                requests.append(Request(index: index, segment: machine.file.items[index].segment))
                if requests.count > width { violate(.connections, "\(requests.count) requests of \(width)") }
            case .fetchKey(let address):
                note(.keyed)
                keys.append(address)
            case .append(let index): try append(index)
            case .compare(let index): try compare(index)
            case .skip(let index, let why):
                log("left out: \(index), \(why)")
                note(.gap)
                told.insert(index)
                lacking.insert(index)
                if sabotage != .hidesGaps { mark.gaps.append(index) }
                record(next: index + 1)
            case .askAgain: try askAgain()
            case .startOver(let why):
                log("starts over: \(why)")
                note(.startedOver)
                (requests, keys, arrived) = ([], [], [:])
                _ = begin(machine.file)
                self.epoch += 1
                epoch = self.epoch
            case .finish: throw .finished
            case .fail(let failure): throw .failed(failure)
            }
        }
    }

    private mutating func append(_ index: Int) throws(End) {
        guard let content = arrived.removeValue(forKey: index) else {
            return violate(.response, "item \(index) is appended, and has not arrived")
        }
        guard !content.isWrong else {
            let failure = Failure(.badResponse, "cannot use", at: "it", because: "it is an HTML page")
            return try perform(machine.rejected(failure))
        }
        if index < confirmed { violate(.once, "item \(index) again, behind \(confirmed)") }
        disk.write(content.bytes, at: offset)
        if trouble > 0, dice.chance(0.02) {
            trouble -= 1
            note(.halfKill)
            throw .killed
        }
        offset += content.bytes.count
        record(next: index + 1)
        try perform(machine.appended())
    }

    private mutating func record(next: Int) {
        let durable = mark.steps.last
        let sum = CRC64.value(of: disk.bytes.prefix(offset))
        mark.steps = [StreamMark.Step(next: next, offset: Int64(offset), sum: sum)] + (durable.map { [$0] } ?? [])
        confirmed = next
        if sabotage == .forgetsSegments, dice.chance(0.5) { return }
        disk.record(mark, done: offset)
        guard next.isMultiple(of: stride) else { return }
        disk.sync()
        mark.steps = Array(mark.steps.prefix(1))
    }

    private mutating func compare(_ index: Int) throws(End) {
        guard let content = arrived.removeValue(forKey: index) else {
            return violate(.response, "item \(index) is compared, and has not arrived")
        }
        guard !content.isWrong else {
            let failure = Failure(.badResponse, "cannot use", at: "it", because: "it is an HTML page")
            return try perform(machine.rejected(failure))
        }
        let isSame = disk.bytes.prefix(offset).suffix(content.bytes.count).elementsEqual(content.bytes)
        note(isSame ? .compared : .differed)
        try perform(machine.compared(areEqual: isSame || sabotage == .skipsComparisons))
    }

    private mutating func askAgain() throws(End) {
        guard trouble == 0 || dice.chance(0.9), let file = server.playlist else {
            note(.unheard)
            return try perform(machine.renewalFailed(Failure(.network, "cannot fetch", at: "it", because: "no route")))
        }
        note(.renewed)
        try perform(machine.renewed(file))
    }

    // MARK: the network

    private mutating func deliver() throws(End) {
        if !keys.isEmpty, requests.isEmpty || dice.chance(0.4) {
            let address = keys.remove(at: dice.below(keys.count))
            guard server.isCurrent(address) else {
                return try perform(machine.keyFailed(address, status(server.expired)))
            }
            return try perform(machine.keyFetched(address))
        }
        let request = requests.remove(at: dice.below(requests.count))
        guard server.isCurrent(request.segment.address) else {
            return try perform(machine.failed(request.index, status(server.expired)))
        }
        if trouble > 0, dice.chance(0.01) {
            trouble -= 1
            note(.lost)
            let failure = Failure(.network, "cannot fetch", at: "it", because: "the connection was lost")
            return try perform(machine.failed(request.index, failure))
        }
        guard var bytes = server.bytes(of: request.segment) else {
            if sabotage == .withholdsVanished { return }
            return try perform(machine.failed(request.index, status(404)))
        }
        if sabotage == .mixesSegments, dice.chance(0.1) { bytes = dice.pick(server.present.segments) }
        let number = Int(request.segment.number)
        let left = server.wrong[number] ?? 0
        if left > 0 { server.wrong[number] = left - 1 }
        arrived[request.index] = (bytes, left > 0)
        try perform(machine.fetched(request.index, bytes: bytes.count))
    }

    private func status(_ status: Int) -> Failure {
        var failure = Failure(.badResponse, "cannot fetch", at: "it", because: "the server returned \(status)")
        failure.status = status
        return failure
    }

    // MARK: trouble

    private mutating func disturb() throws(End) {
        trouble -= 1
        let number = server.present.first + dice.below(server.present.segments.count)
        switch dice.below(8) {
        case 0, 1: throw .killed
        case 2:
            note(.signed)
            server.sign()
        case 3:
            note(.replaced)
            server.replace(&dice)
        case 4:
            note(.renumbered)
            server.renumber()
        case 5:
            note(.longer)
            server.change(&dice)
        case 6:
            note(.vanished)
            if server.vanished.remove(number) == nil { server.vanished.insert(number) }
        case _:
            note(.wrong)
            server.wrong[number] = dice.number(1...3)
        }
    }

    /// Between two processes.
    private mutating func disturbDisk() {
        guard !disk.bytes.isEmpty, dice.chance(0.4) else { return }
        trouble -= 1
        switch dice.below(3) {
        case 0:
            note(.powerCut)
            disk.cutPower(&dice)
        case 1:
            note(.cut)
            disk.cut(&dice)
        case _:
            note(.damage)
            disk.damage(&dice)
        }
    }

    // MARK: laws

    private mutating func checkPublished() {
        guard outcome.violations.isEmpty || sabotage != nil else { return }
        note(.published)
        let bytes = Array(disk.bytes.prefix(offset))
        if told != lacking || told != Set(machine.gaps) {
            violate(.told, "left out \(lacking.sorted()), told \(told.sorted()), counted \(machine.gaps)")
        }
        let declared = machine.file.items.indices.filter { machine.file.items[$0].segment.isGap }
        if machine.gaps.count > max(allowedGaps, declared.count) {
            violate(.told, "left out \(machine.gaps.count) segments of \(allowedGaps) allowed ones")
        }
        let isOne = server.versions.contains { version in
            version.segments.count == machine.file.items.count && version.bytes(without: told) == bytes
        }
        if !isOne { violate(.published, "\(bytes.count) bytes that none of \(server.versions.count) versions has") }
    }

    private mutating func violate(_ law: Law, _ text: String) {
        outcome.violations.append(Violation(law, text))
        log("BROKEN \(law): \(text)")
    }

    private mutating func note(_ event: StreamEvent) {
        outcome.tally.note(event.name)
        log(event.rawValue)
    }

    private mutating func log(_ text: @autoclosure () -> String) { if keepsLog { outcome.log.append(text()) } }
}
