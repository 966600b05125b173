import PawlBase
import PawlTestKit
import Testing

@testable import PawlStreams

/// A machine in a small world: segments that vanish, expire or are wrong, and playlists that change.
@Suite struct StreamMachineTests {
    /// The remedy where an item cannot be used.
    private func remedy(_ failure: Failure, of index: Int) throws -> Remedy? {
        let address = WebAddress(scheme: .https, host: "h", port: 443, path: "/a", query: nil)
        let items = [true, false].map {
            StreamFile.Item(segment: StreamSegment(address: address, number: 0, duration: 0), isInitialization: $0)
        }
        var machine = StreamMachine(StreamFile(content: .video, items: items), width: 2)
        _ = machine.begin()
        if index > 0 {
            _ = machine.fetched(0, bytes: 1)
            _ = machine.appended()
        }
        for _ in 0..<3 {
            for action in machine.failed(index, failure) {
                if case .fail(let failure) = action { return failure.remedy }
                if case .askAgain = action { _ = machine.renewalFailed(failure) }
            }
        }
        return nil
    }

    @Test func `nothing is proposed that does not help`() throws {
        let encrypted = Failure(.badResponse, "cannot use", at: "x", because: "it is encrypted by DRM (cenc)")
        #expect(try remedy(encrypted, of: 0) == "")
        #expect(try remedy(encrypted, of: 1)?.text.contains("allow gaps") == true)
        let downgrade = Failure(.insecure, "cannot fetch", at: "x", because: "not encrypted", remedy: "allow it")
        #expect(try remedy(downgrade, of: 0) == "allow it" && remedy(downgrade, of: 1) == "allow it")
        let network = Failure(.network, "cannot fetch", at: "x", because: "the connection was lost")
        #expect(try remedy(network, of: 0)?.text == "resume the download")
    }

    @Test func `a recording that has lost a segment proposes no continuation`() throws {
        let address = WebAddress(scheme: .https, host: "h", port: 443, path: "/a", query: nil)
        let item = StreamFile.Item(recording: StreamSegment(address: address, number: 0, duration: 0))
        var machine = StreamMachine(StreamFile(content: .video, items: [item]), width: 1, isOpen: true)
        _ = machine.begin()
        let actions = machine.failed(0, .status(404))
        guard case .fail(let failure) = actions.first else { return #expect(Bool(false), "\(actions)") }
        #expect(failure.remedy.text == "allow gaps to record on without it")
    }

    @Test func `a segment that is on its way is not requested again because its key cannot be had`() {
        var machine = StreamMachine(Self.file(2, isEncrypted: true), width: 2)
        guard let key = machine.file.items[0].segment.key?.address else { return #expect(Bool(false)) }
        #expect(machine.begin() == [.fetchKey(key), .fetch(0), .fetch(1)])
        #expect(machine.keyFailed(key, .status(403)).isEmpty)
        #expect(machine.fetched(0, bytes: 1) == [.askAgain])
        #expect(machine.fetched(1, bytes: 1).isEmpty, "it has expired too")
        let renewed = Self.file(2, signature: 1, isEncrypted: true)
        guard let other = renewed.items[0].segment.key?.address else { return #expect(Bool(false)) }
        #expect(machine.renewed(renewed) == [.fetchKey(other), .fetch(0), .fetch(1)])
    }

    @Test(arguments: [0, 2]) func `what its author declares missing counts, wherever it is`(declared: Int) {
        for allowed in 1...2 {
            var dice = Dice(seed: 4)
            var file = Self.file(3)
            file.items[declared].segment.isGap = true
            var world = World(file, width: 1, allowedGaps: allowed)
            world.fates[1] = .missing
            world.run(&dice)
            #expect((world.end == .finish) == (allowed == 2), "\(String(describing: world.end))")
        }
    }

    /// What a server has, and what is known of the requests.
    private struct World {
        enum Fate: Hashable { case good, missing, wrong, expires }

        var machine: StreamMachine
        var fates: [Int: Fate] = [:]
        var file: StreamFile
        var requests: [(index: Int, generation: Int)] = []
        var keys: [WebAddress] = []
        var generation = 0
        var appended: [Int] = []
        var skipped: [Int] = []
        var fetches: [Int: Int] = [:]
        /// Which content the segments have now, had when they arrived, and when they went to disk.
        var content = 0
        var received: [Int: Int] = [:]
        var written: [Int: Int] = [:]
        var mostInFlight = 0
        var restarts = 0
        var end: StreamMachine.Action?

        init(_ file: StreamFile, width: Int = 3, allowedGaps: Int = 0) {
            self.file = file
            machine = StreamMachine(file, width: width, allowedGaps: allowedGaps)
        }

        mutating func perform(_ actions: [StreamMachine.Action], _ dice: inout Dice) {
            for action in actions {
                switch action {
                case .fetch(let index):
                    requests.append((index, generation))
                    fetches[index, default: 0] += 1
                    mostInFlight = max(mostInFlight, requests.count)
                case .fetchKey(let address): keys.append(address)
                case .append(let index):
                    if fates[index] == .wrong {
                        let failure = Failure(.badResponse, "cannot use", at: "x", because: "it is an HTML page")
                        perform(machine.rejected(failure), &dice)
                    } else {
                        appended.append(index)
                        written[index] = received[index]
                        perform(machine.appended(), &dice)
                    }
                case .compare(let index): perform(machine.compared(areEqual: written[index] == received[index]), &dice)
                case .skip(let index, _): skipped.append(index)
                case .askAgain:
                    generation += 1
                    perform(machine.renewed(file), &dice)
                case .startOver:
                    (appended, skipped, requests, keys) = ([], [], [], [])
                    restarts += 1
                case .finish, .fail: end = action
                }
            }
        }

        /// Lets one of the requests end; `false` when there is none.
        mutating func step(_ dice: inout Dice) -> Bool {
            if !keys.isEmpty, requests.isEmpty || dice.below(2) == 0 {
                let address = keys.remove(at: Int(dice.below(UInt64(keys.count))))
                perform(machine.keyFetched(address), &dice)
                return true
            }
            guard !requests.isEmpty else { return false }
            let (index, generation) = requests.remove(at: Int(dice.below(UInt64(requests.count))))
            switch fates[index] ?? .good {
            case .missing: perform(machine.failed(index, .status(404)), &dice)
            case .expires where generation == 0: perform(machine.failed(index, .status(403)), &dice)
            case .good, .wrong, .expires:
                received[index] = content
                perform(machine.fetched(index, bytes: 1_000), &dice)
            }
            return true
        }

        mutating func run(_ dice: inout Dice) {
            perform(machine.begin(), &dice)
            while end == nil, step(&dice) {}
        }
    }

    private static func file(
        _ count: Int, signature: Int = 0, isEncrypted: Bool = false, name: String = "s"
    ) -> StreamFile {
        func address(_ path: String) -> WebAddress {
            WebAddress(scheme: .http, host: "h", port: 80, path: "/\(path)", query: "sig=\(signature)")
        }
        var track = StreamTrack(content: .video, identity: "v")
        track.parts = [
            StreamPart(
                segments: (0..<count).map { number in
                    let key = StreamSegment.Key(
                        address: address("key\(number / 4)"), initializationVector: [UInt8](repeating: 1, count: 16))
                    return StreamSegment(
                        address: address("\(name)\(number).ts"), number: UInt64(number), duration: 1,
                        key: isEncrypted ? key : nil)
                })
        ]
        return (try? StreamFile.files(of: StreamPlan(tracks: [track])))?[0] ?? StreamFile(content: .video)
    }

    @Test(arguments: 0..<200) func `every segment is appended once, in order, or the stream fails`(seed: Int) {
        var dice = Dice(seed: UInt64(seed))
        let count = 1 + Int(dice.below(24))
        let width = 1 + Int(dice.below(5))
        let gaps = Int(dice.below(3))
        var world = World(
            Self.file(count, isEncrypted: seed.isMultiple(of: 2)), width: width, allowedGaps: gaps)
        for index in 0..<count where dice.below(8) == 0 {
            world.fates[index] = [World.Fate.missing, .wrong, .expires, .expires][Int(dice.below(4))]
        }
        world.run(&dice)
        let lost = world.fates.filter { [.missing, .wrong].contains($0.value) }.keys.sorted()
        #expect((world.appended + world.skipped).sorted() == Array(0..<world.machine.next))
        #expect(world.appended == world.appended.sorted() && world.mostInFlight <= width)
        #expect(world.fetches.values.allSatisfy { $0 <= 3 + world.generation }, "\(world.fetches)")
        if lost.count <= gaps {
            #expect(world.end == .finish && world.skipped == lost && world.machine.gaps == lost)
        } else {
            guard case .fail(let failure) = world.end else {
                return #expect(Bool(false), "\(String(describing: world.end))")
            }
            #expect(failure.what.contains("segment \(lost[gaps] + 1) of \(count)"), "\(failure)")
            #expect(world.machine.next == lost[gaps])
        }
    }

    @Test func `a playlist that changed underneath starts over once, and then fails`() {
        var dice = Dice(seed: 1)
        var world = World(Self.file(6))
        world.fates[2] = .expires
        world.file = Self.file(6, name: "other")
        world.run(&dice)
        #expect(world.restarts == 1 && world.end == .finish && world.appended == Array(0..<6))

        var machine = StreamMachine(Self.file(3), width: 1)
        _ = machine.begin()
        #expect(machine.failed(0, .status(410)).first == .askAgain)
        #expect(machine.renewed(Self.file(4)).first.map { if case .startOver = $0 { true } else { false } } == true)
        #expect(machine.failed(0, .status(410)).first == .askAgain)
        #expect(machine.renewed(Self.file(5)).contains { if case .fail = $0 { true } else { false } })
    }

    @Test func `a new signature is used for what is missing`() {
        var machine = StreamMachine(Self.file(3), width: 1)
        #expect(machine.begin() == [.fetch(0)])
        #expect(machine.fetched(0, bytes: 1) == [.append(0), .fetch(1)])
        #expect(machine.failed(1, .status(403)) == [.askAgain, .fetch(2)])
        #expect(machine.appended().isEmpty)
        #expect(machine.renewed(Self.file(3, signature: 9)).isEmpty)
        #expect(machine.file.items[1].segment.address.query == "sig=9")
        // The same name may stand for other bytes now.
        #expect(machine.fetched(2, bytes: 1) == [.fetch(0)])
        #expect(machine.fetched(0, bytes: 1) == [.compare(0), .fetch(1)])
        #expect(machine.compared(areEqual: true).isEmpty)
        #expect(machine.fetched(1, bytes: 1) == [.append(1)])
        #expect(machine.appended() == [.append(2)])
        #expect(machine.appended() == [.finish])
    }

    @Test func `of what is on disk, only the last segment is requested again, to be compared`() {
        var machine = StreamMachine(Self.file(5), width: 2)
        #expect(machine.begin(at: 3) == [.fetch(2), .fetch(3)])
        #expect(machine.fetched(3, bytes: 1) == [.fetch(4)])
        #expect(machine.fetched(2, bytes: 1) == [.compare(2)])
        var other = machine
        #expect(machine.compared(areEqual: true) == [.append(3)])
        #expect(
            other.compared(areEqual: false) == [
                .startOver(because: "segment 3 of 5 has other bytes than before"), .fetch(0), .fetch(1),
            ])
        var whole = StreamMachine(Self.file(5), width: 2)
        #expect(whole.begin(at: 5) == [.fetch(4)])
        #expect(whole.fetched(4, bytes: 1) == [.compare(4)])
        #expect(whole.compared(areEqual: true) == [.finish])
    }

    @Test(arguments: 0..<100) func `segments of two contents are never in one file`(seed: Int) {
        var dice = Dice(seed: UInt64(seed))
        let count = 2 + Int(dice.below(20))
        var world = World(Self.file(count), width: 1 + Int(dice.below(4)))
        world.fates[Int(dice.below(UInt64(count)))] = .expires
        world.perform(world.machine.begin(), &dice)
        // All is replaced when the first address expires.
        while world.end == nil {
            if world.generation > 0 { world.content = 1 }
            guard world.step(&dice) else { break }
        }
        #expect(world.end == .finish && world.appended == Array(0..<count))
        #expect(Set(world.written.values).count == 1, "\(world.written)")
    }

    @Test func `an append waits for its key`() {
        var machine = StreamMachine(Self.file(1, isEncrypted: true), width: 1)
        let key = machine.file.items[0].segment.key?.address
        guard let key else { return #expect(Bool(false)) }
        #expect(machine.begin() == [.fetchKey(key), .fetch(0)])
        #expect(machine.fetched(0, bytes: 16).isEmpty)
        #expect(machine.keyFetched(key) == [.append(0)])
        // It may have been the wrong one.
        let wrong = Failure(.checksumMismatch, "cannot use", at: "x", because: "it cannot be decrypted")
        #expect(machine.rejected(wrong) == [.fetchKey(key), .fetch(0)])
    }

    @Test func `segments that are large are not held in great number`() {
        var machine = StreamMachine(Self.file(30), width: 8)
        _ = machine.begin()
        var fetched: Set<Int> = Set(0..<8)
        for index in 1..<8 {
            for case .fetch(let next) in machine.fetched(index, bytes: 40 << 20) { fetched.insert(next) }
        }
        #expect(fetched.count == 8, "no more while \(7 * 40) MiB wait: \(fetched.sorted())")
    }
}

extension Failure {
    fileprivate static func status(_ status: Int) -> Failure {
        var failure = Failure(.badResponse, "cannot fetch", at: "x", because: "the server returned \(status)")
        failure.status = status
        return failure
    }
}

extension Dice { fileprivate mutating func below(_ limit: UInt64) -> UInt64 { next() % limit } }
