package import PawlCore
package import PawlEngine
import Synchronization

/// Folders, part files and journals in memory; survives the engines that use it, and their crashes.
package final class FakeDisk: Disk {
    /// What goes wrong.
    package struct Troubles: Sendable, Hashable {
        /// Bytes that all part files together have room for.
        package var room: Int64?
        /// Whether reserving room already fails when there is not enough.
        package var reservesRoom = true
        package var claim: Failure?
        package var checkpoint: Failure?
        package var publish: Failure?
        package var journal: Failure?
        package var write: Failure?
        package var read: Failure?

        package init() {}
    }

    /// How the machine went down.
    package enum Crash: Sendable, Hashable {
        /// The process is gone; what was written is there.
        case kill
        /// What was not synced may be gone.
        case powerCut
    }

    package struct Finished: Sendable, Hashable {
        package var bytes: [UInt8]
        package var modified: UnixTime?

        package init(_ bytes: [UInt8], modified: UnixTime? = nil) {
            self.bytes = bytes
            self.modified = modified
        }
    }

    struct State: Sendable {
        var finished: [String: Finished] = [:]
        var parts: [String: FakePartFile] = [:]
        var expected: [String: Payload] = [:]
        var troubles = Troubles()
        var delay = Span.zero
        var holders = 0
        var open: Set<Int> = []
        var used: Int64 = 0
        var violations: [String] = []
        var checkpoints = 0
        var rewritten: Int64 = 0
        var dice: Dice
    }

    let state: Mutex<State>
    let timeline: Timeline

    package init(timeline: Timeline, seed: UInt64) {
        self.timeline = timeline
        state = Mutex(State(dice: Dice(seed: seed)))
    }

    // MARK: what a test says and asks

    package var troubles: Troubles {
        get { state.withLock { $0.troubles } }
        set { state.withLock { $0.troubles = newValue } }
    }

    /// How long syncing, publishing and hashing take; zero completes before the call returns.
    package func setDelay(_ delay: Span) { state.withLock { $0.delay = delay } }

    /// Every byte written under this name is held against the payload at once.
    ///
    /// `nil` lets everything be written.
    package func expect(_ payload: Payload?, at path: String) {
        state.withLock { $0.expected[path] = payload }
    }

    package func put(_ file: Finished, at path: String) { state.withLock { $0.finished[path] = file } }
    package func finished(_ path: String) -> Finished? { state.withLock { $0.finished[path] } }
    /// Paths of everything that is there: finished files, and part files with a mark.
    package var listing: [String] {
        state.withLock { state in
            (Array(state.finished.keys)
                + state.parts.map { path, part in
                    part.contents.withLock { path + ($0.journal == nil ? ".part" : ".part+journal") }
                }).sorted()
        }
    }

    /// The bytes that the next run may trust.
    package func journalled(_ path: String) -> ByteRangeSet? {
        state.withLock { $0.parts[path] }?.contents.withLock { $0.journal?.written }
    }

    package func durable(_ path: String) -> ByteRangeSet? {
        state.withLock { $0.parts[path] }?.contents.withLock { $0.journal?.durable }
    }

    package func written(_ path: String) -> ByteRangeSet {
        state.withLock { $0.parts[path] }?.contents.withLock { $0.written } ?? ByteRangeSet()
    }

    /// Laws that were broken: wrong bytes, more claimed than written.
    package var violations: [String] { state.withLock { $0.violations } }
    package var openPartials: Int { state.withLock { $0.open.count } }
    package var checkpoints: Int { state.withLock { $0.checkpoints } }
    /// Bytes that were written over bytes that were there.
    package var rewritten: Int64 { state.withLock { $0.rewritten } }

    /// Takes every partial from whoever holds it: nothing it does any more has an effect.
    ///
    /// A journal that does not know every byte of its file at that instant breaks a law.
    package func crash(_ kind: Crash) {
        for path in state.withLock({ $0.parts.keys.sorted() }) where holds(path) {
            guard let known = journalled(path), known != written(path) else { continue }
            violate("\(path): a kill would lose \(written(path).runs), the journal has \(known.runs)")
        }
        state.withLock { state in
            timeline.note("disk: \(kind)")
            state.open = []
            for path in state.parts.keys.sorted() {
                state.parts[path]?.contents.withLock { contents in
                    contents.holder = nil
                    if kind == .powerCut { contents.losePower(&state.dice) }
                }
            }
        }
    }

    private func holds(_ path: String) -> Bool {
        state.withLock { $0.parts[path] }?.contents.withLock { $0.holder != nil } ?? false
    }

    // MARK: Disk

    package func unfinished(of source: String, in folder: String) -> String? {
        state.withLock { state in
            state.parts.keys.sorted().first { path in
                path.hasPrefix(folder + "/")
                    && state.parts[path]?.contents.withLock { $0.journal?.facts.sources.first } == source
            }.map { String($0.dropFirst(folder.count + 1)) }
        }
    }

    package func remove(_ name: String, in folder: String) throws(Failure) {
        state.withLock { $0.finished[folder + "/" + name] = nil }
    }

    package func length(of name: String, in folder: String) -> Int64? {
        finished(folder + "/" + name).map { Int64($0.bytes.count) }
    }

    package func rename(_ name: String, to newName: String, in folder: String) throws(Failure) {
        state.withLock { state in
            let file = state.finished.removeValue(forKey: folder + "/" + name)
            state.finished[folder + "/" + newName] = file
        }
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimAnswer {
        if let failure = troubles.claim { throw failure }
        var number = 0
        while true {
            let name = number == 0 ? claim.name : FileName.numbered(claim.name, number)
            let attempt = FakeClaim(disk: self, claim: claim, name: name)
            if let answer = try attempt.answer(adopts: adopts) {
                timeline.note("disk: claimed \(attempt.path)")
                return answer
            }
            number += 1
        }
    }
}

// MARK: - For partials

extension FakeDisk {
    func hold() -> Int {
        state.withLock { state in
            state.holders += 1
            state.open.insert(state.holders)
            return state.holders
        }
    }

    func letGo(_ holder: Int) { _ = state.withLock { $0.open.remove(holder) } }

    func violate(_ law: String) {
        // The first few say it all.
        state.withLock { if $0.violations.count < 3 { $0.violations.append(law) } }
        timeline.note("VIOLATION \(law)")
    }

    /// Runs `body` when the slow part of the disk's work is done.
    func later(_ body: @escaping @Sendable () -> Void) {
        let delay = state.withLock { $0.delay }
        guard delay > .zero else { return body() }
        timeline.after(delay, body)
    }
}
