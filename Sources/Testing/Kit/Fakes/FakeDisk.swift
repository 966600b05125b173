package import PawlBase
package import PawlJournal
import Synchronization

/// Folders, part files and journals in memory; survives the engines that use it, and their crashes.
package final class FakeDisk: Disk {
    /// The faults of a disk.
    package struct Troubles: Sendable, Hashable {
        /// The capacity in bytes for all part files together.
        package var room: Int64?
        /// Whether the room is reported as it is, or always as none.
        package var reportsRoom = true
        /// Whether a reservation already fails when there is not enough space.
        package var reservesRoom = true
        package var claim: Failure?
        package var checkpoint: Failure?
        package var publish: Failure?
        package var journal: Failure?
        package var write: Failure?
        package var read: Failure?

        package init() {}
    }

    /// The kind of a crash.
    package enum Crash: String, Sendable, Hashable {
        /// The process is gone; its writes stay.
        case kill
        /// Data that was not synced may be lost.
        case powerCut = "power cut"
    }

    /// A fault in place of one call.
    package enum Trap: Sendable, Hashable {
        case fails
        case crashes(Crash)
    }

    package struct Finished: Sendable, Hashable {
        package var bytes: [UInt8]
        package var modified: UnixTime?
        /// The parts to which nothing was ever written.
        package var holes: [ByteRange]

        package init(_ bytes: [UInt8], modified: UnixTime? = nil, holes: [ByteRange] = []) {
            self.bytes = bytes
            self.modified = modified
            self.holes = holes
        }
    }

    /// A content that a file may have, and the offset in it at which the file begins.
    package struct Version: Sendable {
        var payload: Payload
        var start: Int64

        package init(_ payload: Payload, start: Int64) {
            self.payload = payload
            self.start = start
        }
    }

    struct State: Sendable {
        var folder = FakeFolder()
        var expected: [String: Payload] = [:]
        var versions: (@Sendable (_ source: String) -> [Version])?
        var troubles = Troubles()
        var traps: [Int: Trap] = [:]
        var onCrash: (@Sendable (Crash) -> Void)?
        var calls = 0
        var delay = Interval.zero
        /// Whether whole files get their names at once.
        var isVolatile = false
        var boot = BootIdentity(high: 1, low: 1)
        var holders = 0
        var open: [Int: FakeFile] = [:]
        var violations: [Violation] = []
        var counts = Counts()
        var sabotage: Sabotage?
        /// A sabotage: what has the name of a finished file is taken for it.
        var identifiesByName = false
        /// The folders whose disks are not there.
        var away: [String: AwayFolder] = [:]
        var onAwayClaim: (@Sendable (_ source: String, _ path: String) -> Void)?
        /// A sabotage: the folder without its disk is taken for the one with it.
        var confusesFolders = false
        var files = 0
        var dice: Dice

        mutating func nextFile() -> Int {
            files += 1
            return files
        }

        mutating func losePower(_ files: [FakeFile]) {
            boot.high += 1
            folder.losePower(&dice)
            for file in files {
                file.contents.withLock { contents in
                    let before = contents.written.count
                    contents.losePower(&dice)
                    counts.lostToPowerCuts += before - contents.written.count
                }
            }
        }
    }

    let state: Mutex<State>
    let timeline: Timeline

    package init(timeline: Timeline, seed: UInt64) {
        self.timeline = timeline
        state = Mutex(State(dice: Dice(seed: seed)))
    }

    // MARK: for tests

    package var troubles: Troubles {
        get { state.withLock { $0.troubles } }
        set { state.withLock { $0.troubles = newValue } }
    }

    package func room(in folder: String) -> DiskRoom? {
        let free = troubles.room.map { max(0, $0 - used) } ?? .max
        return DiskRoom(device: 1, bytes: troubles.reportsRoom ? free : 0)
    }

    /// Sets the duration of each sync, and of hashing; zero completes before the call returns.
    package func setDelay(_ delay: Interval) { state.withLock { $0.delay = delay } }
    package var delay: Interval { state.withLock { $0.delay } }

    /// Sets traps for the calls of these numbers, counted from 1 over the life of the disk.
    package func set(traps: [Int: Trap], onCrash: @escaping @Sendable (Crash) -> Void) {
        state.withLock { state in
            state.traps = traps
            state.onCrash = onCrash
        }
    }

    package func removeTraps() { state.withLock { $0.traps = [:] } }
    package func set(sabotage: Sabotage?) { state.withLock { $0.sabotage = sabotage } }

    /// Compares every byte written under this name with the payload at once.
    ///
    /// `nil` accepts every write.
    package func expect(_ payload: Payload?, at path: String) { state.withLock { $0.expected[path] = payload } }

    /// Compares every write with all contents that its URL has ever served; for some files nothing is known.
    package func expect(_ versions: @escaping @Sendable (_ source: String) -> [Version]) {
        state.withLock { $0.versions = versions }
    }

    package func put(_ file: Finished, at path: String) {
        state.withLock { $0.folder.put(FakeFile(file, number: $0.nextFile()), at: path) }
    }

    package func finished(_ path: String) -> Finished? {
        state.withLock { $0.folder.finished[path] }?.contents.withLock { contents in
            Finished(Array(contents.bytes.prefix(contents.length)), modified: contents.modified)
        }
    }

    /// The URL of the download that made the finished file; empty if it was there before.
    package func source(ofFinished path: String) -> String? {
        state.withLock { $0.folder.finished[path] }?.contents.withLock(\.source)
    }

    /// The paths of all files: finished ones, and part files with a suffix.
    package var listing: [String] {
        state.withLock { state in
            (Array(state.folder.finished.keys)
                + state.folder.parts.map { path, part in
                    part.contents.withLock { path + ($0.journal == nil ? ".part" : ".part+journal") }
                }).sorted()
        }
    }

    func part(_ path: String) -> FakeFile? { state.withLock { $0.folder.parts[path] } }

    /// The bytes that the next run may trust.
    package func journalled(_ path: String) -> ByteRangeSet? {
        let boot = state.withLock { $0.boot }
        return part(path)?.contents.withLock { $0.trusted(boot: boot) }
    }

    package func written(_ path: String) -> ByteRangeSet {
        part(path)?.contents.withLock { $0.written } ?? ByteRangeSet()
    }

    /// The laws that were broken: wrong bytes, more claimed than written.
    package var violations: [Violation] { state.withLock { $0.violations } }
    package var openPartials: Int { state.withLock { $0.open.count } }
    package var counts: Counts { state.withLock { $0.counts } }
    package var checkpoints: Int { counts.checkpoints }
    package var rewritten: Int64 { counts.rewritten }

    /// Takes every partial from its holder, whose calls have no effect any more.
    package func crash(_ kind: Crash) {
        timeline.note("disk: \(kind.rawValue)")
        for path in state.withLock({ $0.folder.paths }) { checkCrash(kind, at: path) }
        let now = timeline.now
        let files = state.withLock { state in
            let files = state.folder.files
            for file in files { file.contents.withLock { $0.die(at: now) } }
            // Those without a name are gone.
            for file in state.open.values { file.contents.withLock { $0.holder = nil } }
            state.open = [:]
            if kind == .powerCut { state.losePower(files) }
            return files
        }
        if kind == .powerCut { checkPowerCut(files) }
    }

    // MARK: Disk

    package func unfinished(of source: String, in folder: String) -> String? {
        state.withLock { state in
            state.folder.paths.first { path in
                Self.isFile(path, in: folder)
                    && state.folder.parts[path]?.contents.withLock { $0.image?.header.facts.sources.first } == source
            }.map { String($0.dropFirst(folder.count + 1)) }
        }
    }

    package func leftover(of source: String, in folder: String) -> String? {
        state.withLock { state in
            state.folder.paths.first { path in
                Self.isFile(path, in: folder)
                    && state.folder.parts[path]?.contents.withLock {
                        $0.source == source && $0.image == nil && $0.holder == nil
                    } == true
            }.map { String($0.dropFirst(folder.count + 1)) }
        }
    }

    package func digests(
        _ algorithms: [HashAlgorithm], of path: String,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        let bytes = finished(path)?.bytes
        later {
            let gone = Failure(.cannotOpen, "cannot check", at: path, because: "it does not exist")
            let found = bytes.map { FakeDigest.checksums(algorithms, of: $0) }
            completion(found.map { .success($0) } ?? .failure(gone))
        }
    }

    package func hash(
        _ range: ByteRange, _ algorithm: HashAlgorithm, padding: Int64, of path: String,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        let bytes = finished(path).map {
            Array($0.bytes[Int(range.start)..<Int(range.end)]) + [UInt8](repeating: 0, count: Int(padding))
        }
        later {
            let gone = Failure(.cannotOpen, "cannot check", at: path, because: "it does not exist")
            let digest = bytes.map { FakeDigest.checksums([algorithm], of: $0)[0].digest }
            completion(digest.map { .success($0) } ?? .failure(gone))
        }
    }

    package func length(of name: String, in folder: String) -> Int64? {
        state.withLock { $0.folder.finished[folder + "/" + name] }?.contents.withLock { Int64($0.length) }
    }

    /// Only requests tell whether the content is the same.
    package func wasFinished(_ name: String, from source: String, in folder: String) -> Bool { false }

    package func finished(_ claim: Claim) -> String? { nil }

    package func adopt(
        _ name: String, in source: String, length: Int64, as facts: JournalFacts, isNamed: Bool, isGiven: Bool,
        to folder: String
    ) throws(Failure) -> AdoptedPart? {
        throw Failure(.cannotOpen, "cannot take over", at: "\(source)/\(name)", because: "there are no other programs")
    }

    /// No name of a simulated download looks like that of a part file.
    package func reserve(_ name: String, in folder: String) {}

    package func syncNames(in folder: String) { state.withLock { $0.folder.sync() } }

    package func sync(_ name: String, in folder: String) { state.withLock { $0.folder.sync() } }

    package func holds(_ name: String, in folder: String) -> Bool {
        if length(of: name, in: folder) != nil { return true }
        return state.withLock { state in
            state.folder.parts.contains { path, part in
                guard path.hasPrefix(folder + "/") else { return false }
                let final = String(path.dropFirst(folder.count + 1))
                return name == FileName.partial(of: final)
                    || name == FileName.journal(of: final) && part.contents.withLock { $0.journal != nil }
            }
        }
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        if let failure = troubles.claim { throw failure }
        try call(at: claim.folder + "/" + claim.name)
        try checkPlace(of: claim)
        var number = 0
        while true {
            let name = number == 0 ? claim.name : FileName.numbered(claim.name, number)
            let attempt = FakeClaim(disk: self, claim: claim, name: name)
            if let result = try attempt.result(adopts: adopts) {
                timeline.note("disk: claimed \(attempt.path)")
                return result
            }
            number += 1
        }
    }
}

// MARK: - For partials

extension FakeDisk {
    func hold(_ file: FakeFile) -> Int {
        state.withLock { state in
            state.holders += 1
            state.open[state.holders] = file
            return state.holders
        }
    }

    func letGo(_ holder: Int) { _ = state.withLock { $0.open.removeValue(forKey: holder) } }

    /// Precedes every call to the disk; throws or ends the process when a trap is set for it.
    ///
    /// `dying`: what the kernel still does although the process ends there.
    func call(at path: String, dying: () -> Void = {}) throws(Failure) {
        let (trap, onCrash) = state.withLock { state in
            state.calls += 1
            return (state.traps.removeValue(forKey: state.calls), state.onCrash)
        }
        switch trap {
        case nil: return
        case .crashes(let kind):
            dying()
            onCrash?(kind)
        case .fails:
            state.withLock { $0.counts.failedCalls += 1 }
            timeline.note("disk: a call fails at \(path)")
            throw Failure(.inputOutput, "cannot use", at: path, because: "the disk is broken")
        }
    }

    /// The bytes used by all part files together.
    var used: Int64 {
        state.withLock { state in state.folder.parts.values.reduce(0) { $0 + $1.contents.withLock { $0.written.count } }
        }
    }

    func violate(_ law: Law, _ text: String) {
        // The first few are enough.
        state.withLock { if $0.violations.count < 3 { $0.violations.append(Violation(law, text)) } }
        timeline.note("VIOLATION \(law): \(text)")
    }

    /// Runs `body` after the disk's delay.
    func later(_ body: @escaping @Sendable () -> Void) {
        let delay = delay
        guard delay > .zero else { return body() }
        timeline.after(delay, body)
    }
}
