import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// Many worlds, spread over the cores, with a summary of what ran in them.
package final class Campaign: Sendable {
    package struct Failure: Sendable {
        package var seed: UInt64
        package var violations: [Violation]
    }

    private struct State: Sendable {
        var next: UInt64
        var tally = Tally()
        var failures: [Failure] = []
    }

    /// What a seed makes a world of.
    package enum Kind: String, CaseIterable, Sendable {
        /// Downloads of an engine.
        case downloads
        /// A queue with its user.
        case queue
        /// A stream, of which the machine is real and the shell is not.
        case stream
        /// The same downloads twice: with the straight path of small files, and without.
        case agreement
        /// A listing of a tree, and a folder that is mirrored again and again.
        case collections

        package func run(seed: UInt64, keepsLog: Bool = false) -> Simulation.Outcome {
            switch self {
            case .downloads: Simulation.run(seed: seed, keepsLog: keepsLog)
            case .queue: QueueSimulation.run(seed: seed, keepsLog: keepsLog)
            case .stream: StreamSimulation.run(seed: seed, keepsLog: keepsLog)
            case .agreement: Agreement.run(seed: seed, keepsLog: keepsLog)
            case .collections: Self.collections(seed)
            }
        }

        private static func collections(_ seed: UInt64) -> Simulation.Outcome {
            var outcome = ListingSimulation.run(seed: seed)
            let mirror = MirrorSimulation.run(seed: seed)
            outcome.violations += mirror.violations
            outcome.log += mirror.log
            outcome.tally.add(mirror.tally)
            return outcome
        }

        /// The mechanisms that many worlds together must have run.
        package var expected: [String] {
            switch self {
            case .downloads: Tally.expected
            case .queue: Tally.expectedOfQueues
            case .stream: StreamEvent.allCases.map(\.name)
            case .agreement: ["twice: whole files named at once", "twice: published"]
            case .collections: Tally.expectedOfCollections
            }
        }

        /// The number of worlds in which all of them occur.
        var many: Int {
            switch self {
            case .downloads: 10_000
            case .queue, .stream, .agreement, .collections: 1_000
            }
        }

        /// The command that repeats a seed.
        fileprivate func command(_ seed: UInt64) -> String {
            switch self {
            case .downloads: "make simulate SEED=\(seed)"
            case .queue: "make simulate QUEUE_SEED=\(seed)"
            case .stream: "make simulate STREAM_SEED=\(seed)"
            case .agreement: "make simulate AGREEMENT_SEED=\(seed)"
            case .collections: "make simulate COLLECTION_SEED=\(seed)"
            }
        }
    }

    private let kind: Kind
    private let seeds: Range<UInt64>
    private let state: Mutex<State>

    package init(_ kind: Kind = .downloads, seeds: Range<UInt64>) {
        self.kind = kind
        self.seeds = seeds
        state = Mutex(State(next: seeds.lowerBound))
    }

    package var tally: Tally { state.withLock { $0.tally } }
    /// Whether no world was left out because too many broke laws.
    var isComplete: Bool { state.withLock { $0.next >= seeds.upperBound } }
    package var failures: [Failure] { state.withLock { $0.failures.sorted { $0.seed < $1.seed } } }

    /// Runs all seeds, one world at a time on each core.
    ///
    /// `mark` is the prefix of the files that record the running seeds: they remain when the engine traps.
    package func runAll(mark: String? = nil) {
        Self.onEveryCore { core in self.work(mark: mark.map { $0 + "\(core)" }) }
    }

    private static func onEveryCore(_ work: @escaping @Sendable (Int) -> Void) {
        let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let workers = (0..<cores).map { core in SystemThread.start { work(core) } }
        for worker in workers { worker.join() }
    }

    private func work(mark: String?) {
        while true {
            let seed = state.withLock { state -> UInt64? in
                // After so many failures more of them add nothing.
                guard state.next < seeds.upperBound, state.failures.count < 20 else { return nil }
                defer { state.next += 1 }
                return state.next
            }
            guard let seed else { break }
            if let mark { try? FileSystem.write(Array("\(kind.command(seed))\n".utf8), to: mark) }
            let outcome = kind.run(seed: seed)
            state.withLock { state in
                state.tally.add(outcome.tally)
                if !outcome.violations.isEmpty {
                    state.failures.append(Failure(seed: seed, violations: outcome.violations))
                }
            }
        }
        if let mark { FileSystem.remove(mark) }
    }

    /// Runs and prints a summary; returns whether every law was kept and every mechanism ran.
    package func run() -> Bool {
        runAll(mark: ".build/simulation/running-")
        for (mechanism, count) in tally.counts.sorted(by: { $0.key < $1.key }) { print("\(mechanism): \(count)") }
        for failure in failures {
            print("seed \(failure.seed): \(failure.violations[0])")
            print("  repeat it with: \(kind.command(failure.seed))   (its log goes to .build/simulation)")
        }
        let missing = seeds.count < kind.many ? [] : tally.missing(of: kind.expected)
        for mechanism in missing { print("never happened: \(mechanism)") }
        return failures.isEmpty && missing.isEmpty
    }

    /// Breaks worlds on purpose, in each way; returns whether the laws noticed every one.
    package static func runSabotages(
        _ sabotages: [Sabotage] = Sabotage.allCases, ofQueues queueSabotages: [QueueSabotage] = QueueSabotage.allCases,
        ofStreams streamSabotages: [StreamSabotage] = StreamSabotage.allCases,
        ofMirrors mirrorSabotages: [MirrorSabotage] = MirrorSabotage.allCases
    ) -> Bool {
        var missed = false
        func report(_ name: String, _ law: Law, _ seed: UInt64?) {
            print("\(name): " + (seed.map { "noticed by the \(law) law in seed \($0)" } ?? "NOT NOTICED"))
            missed = missed || seed == nil
        }
        // A sequence of events that the sabotage needs may be rare.
        for sabotage in sabotages { report("\(sabotage)", sabotage.law, firstSeed(below: 20_000, noticing: sabotage)) }
        for sabotage in queueSabotages {
            report("queue: \(sabotage)", sabotage.law, firstSeed(below: 20_000, noticing: sabotage))
        }
        for sabotage in streamSabotages {
            report("stream: \(sabotage)", sabotage.law, firstSeed(below: 20_000, noticing: sabotage))
        }
        for sabotage in mirrorSabotages {
            report("collections: \(sabotage)", sabotage.law, firstSeed(below: 2_000, noticing: sabotage))
        }
        return !missed
    }

    /// The first seed in which the law of `sabotage` is broken.
    package static func firstSeed(below limit: UInt64, noticing sabotage: Sabotage) -> UInt64? {
        firstSeed(below: limit, breaking: sabotage.law) { seed in
            sabotage.law == .agreement
                ? Agreement.run(seed: seed, sabotage: sabotage) : Simulation.run(seed: seed, sabotage: sabotage)
        }
    }

    package static func firstSeed(below limit: UInt64, noticing sabotage: QueueSabotage) -> UInt64? {
        firstSeed(below: limit, breaking: sabotage.law) { QueueSimulation.run(seed: $0, sabotage: sabotage) }
    }

    package static func firstSeed(below limit: UInt64, noticing sabotage: StreamSabotage) -> UInt64? {
        firstSeed(below: limit, breaking: sabotage.law) { StreamSimulation.run(seed: $0, sabotage: sabotage) }
    }

    package static func firstSeed(below limit: UInt64, noticing sabotage: MirrorSabotage) -> UInt64? {
        firstSeed(below: limit, breaking: sabotage.law) { seed in
            sabotage.law == .listed
                ? ListingSimulation.run(seed: seed, sabotage: sabotage)
                : MirrorSimulation.run(seed: seed, sabotage: sabotage)
        }
    }

    private static func firstSeed(
        below limit: UInt64, breaking law: Law, in run: @escaping @Sendable (UInt64) -> Simulation.Outcome
    ) -> UInt64? {
        let state = Mutex((next: UInt64(0), found: limit))
        onEveryCore { _ in
            while true {
                let seed = state.withLock { state -> UInt64? in
                    guard state.next < state.found else { return nil }
                    defer { state.next += 1 }
                    return state.next
                }
                guard let seed else { return }
                if run(seed).violations.contains(where: { $0.law == law }) {
                    state.withLock { $0.found = min($0.found, seed) }
                }
            }
        }
        let found = state.withLock { $0.found }
        return found < limit ? found : nil
    }

    /// Runs one seed with its log.
    package static func repeatSeed(_ seed: UInt64, of kind: Kind) -> Bool {
        let outcome = kind.run(seed: seed, keepsLog: true)
        for line in outcome.log { print(line) }
        for violation in outcome.violations { print("BROKEN \(violation)") }
        if outcome.violations.isEmpty { print("every law was kept") }
        return outcome.violations.isEmpty
    }
}
