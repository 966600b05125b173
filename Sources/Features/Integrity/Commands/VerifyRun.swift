import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlJournal
import PawlSystem
import PawlTerminal

/// One run of `pawl verify`: hashes files on several threads and reports them in the order in which they were given.
struct VerifyRun: ~Copyable {
    /// The outcome of one file.
    enum Outcome: Sendable, Hashable {
        /// The checksum that was right; `nil` where the pieces were.
        case verified(Checksum?, length: Int64, source: String)
        case failed(Failure)
    }

    private struct State {
        var readBytes: Int64 = 0
        var outcomes: [Outcome?]
    }

    private let plan: VerifyPlan
    private let options: VerifyOptions
    private let state: Monitor<State>
    private let total: Int64
    private var display: ProgressDisplay
    private var output = OutputFile(descriptor: STDOUT_FILENO)
    private let isTerminal = isatty(STDOUT_FILENO) == 1

    init(_ plan: VerifyPlan, _ options: VerifyOptions) {
        self.plan = plan
        self.options = options
        state = Monitor(State(outcomes: Array(repeating: nil, count: plan.items.count)))
        total = plan.items.reduce(0) { $0.addingClamped(fileLength(of: $1)) }
        display = ProgressDisplay(isShown: !options.isJSON && !options.isQuiet)
    }

    consuming func run() -> Int32 {
        let cores = Int(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let queue = WorkQueue("pawl-verify", .onDemand, threads: max(1, min(cores, plan.items.count)))
        for (index, item) in plan.items.enumerated() {
            queue.submit { [state] in
                let outcome = FileVerifier.outcome(of: item) { count in
                    state.with(waking: .none) { $0.readBytes += Int64(count) }
                    return true
                }
                state.with { $0.outcomes[index] = outcome }
            }
        }
        var codes: [Failure.Code] = []
        for index in plan.items.indices {
            let outcome = wait(for: index)
            report(plan.items[index], outcome)
            if case .failed(let failure) = outcome { codes.append(failure.code) }
        }
        display.end()
        let first = [.checksumMismatch, .notFound].first { codes.contains($0) } ?? codes.last
        return first.map { Int32($0.rawValue) } ?? 0
    }

    private mutating func wait(for index: Int) -> Outcome {
        while true {
            let deadline = SystemClock().now + .milliseconds(200)
            if let outcome = state.wait(until: deadline, for: { $0.outcomes[index] }) { return outcome }
            let count = plan.items.count
            let name = count == 1 ? plan.items[0].path : "\(index)/\(count) files"
            display.show(name, state.read { $0.readBytes }, of: total, status: "verifying")
        }
    }

    private mutating func report(_ item: VerifyPlan.Item, _ outcome: Outcome) {
        let isFailure = if case .failed = outcome { true } else { false }
        guard !options.isQuiet || isFailure || options.isJSON else { return }
        display.clear()
        if options.isJSON {
            output.appendLine(VerifyRun.json(item, outcome))
        } else {
            let line = TerminalText.harmless(VerifyRun.line(item, outcome))
            let lines = isTerminal ? TerminalState.folded(PathText.shown(line), for: STDOUT_FILENO) : [line]
            // Programs get the name's own bytes.
            for line in lines { output.append((isTerminal ? Array(line.utf8) : PathText.bytes(line)) + [.lineFeed]) }
        }
        output.flush()
    }

    /// With the path as ``PathText``.
    static func line(_ item: VerifyPlan.Item, _ outcome: Outcome) -> String {
        let path = PathText.text(item.name)
        return switch outcome {
        case .verified(let checksum, _, let source):
            "\(path): OK, \(checksum?.algorithm.rawValue ?? "pieces") (\(source))"
        case .failed(let failure):
            "\(path): FAILED, " + (failure.place == item.path ? failure.why : failure.commandLineSentence)
        }
    }

    static func json(_ item: VerifyPlan.Item, _ outcome: Outcome) -> String {
        var object = JSONObject()
        switch outcome {
        case .verified(let checksum, let length, let source):
            object.set("event", "verified")
            object.set(path: item.name)
            object.set("length", length)
            object.set("algorithm", checksum?.algorithm.rawValue)
            object.set("digest", checksum.map { Hexadecimal.text($0.digest) })
            object.set("source", source)
        case .failed(let failure):
            object.set("event", "failed")
            object.set(path: item.name)
            object.set("code", failure.code.rawValue)
            object.set("message", failure.commandLineSentence)
        }
        return object.line
    }
}

/// The length of a file, 0 where there is none.
private func fileLength(of item: VerifyPlan.Item) -> Int64 { (try? FileDigests(item.name))?.length ?? 0 }

/// Compares one file with what is known of it.
enum FileVerifier {
    static func outcome(of item: VerifyPlan.Item, progress: (Int) -> Bool) -> VerifyRun.Outcome {
        do throws(Failure) {
            let outcome = try compare(item, progress)
            // Not all that was to be compared is known.
            if let failure = item.failure { throw failure }
            return outcome
        } catch { return .failed(error) }
    }

    private static func compare(_ item: VerifyPlan.Item, _ progress: (Int) -> Bool) throws(Failure) -> VerifyRun.Outcome
    {
        let place = item.path
        guard item.isNamed else {
            if let failure = item.failure { throw failure }
            throw Failure(
                .notFound, "cannot verify", at: place, because: item.flaw ?? "nothing that was given names it")
        }
        let file = try FileDigests(item.name)
        if let length = item.length, length != file.length {
            throw Failure(
                .checksumMismatch, "cannot accept", at: place,
                because: "it has \(file.length) bytes instead of \(length) (\(item.source))")
        }
        guard !item.expected.isEmpty else { return try comparePieces(of: item, file, progress) }
        let expected = item.expected.map { expectation in
            ExpectedDigest(
                expectation.checksum, or: expectation.alternatives, level: .given, source: expectation.source)
        }
        var computed: [Checksum] = []
        // Those that a digest of no stated algorithm may be of are computed only if need be.
        while case let algorithms = computed.isEmpty ? expected.algorithms : expected.otherAlgorithms(than: computed),
            !algorithms.isEmpty
        {
            let digests = try file.digests(algorithms, progress: progress)
            computed += zip(algorithms, digests).map { Checksum(algorithm: $0, digest: $1) }
        }
        let best = try best(of: item, computed)
        return .verified(best.checksum, length: file.length, source: best.source)
    }

    /// Compares the file with the digests of its pieces.
    private static func comparePieces(
        of item: VerifyPlan.Item, _ file: FileDigests, _ progress: (Int) -> Bool
    ) throws(Failure) -> VerifyRun.Outcome {
        guard let pieces = item.pieces else { preconditionFailure("a named file has digests") }
        guard pieces.fits(file.length) else {
            throw Failure(
                .checksumMismatch, "cannot accept", at: item.path,
                because:
                    "it has \(file.length) bytes, and the digests are of \(pieces.count) pieces of \(pieces.length) bytes (\(item.source))"
            )
        }
        let wrong = try file.wrongPieces(pieces, progress: progress)
        guard let bad = wrong.first else { return .verified(nil, length: file.length, source: item.source) }
        let more = wrong.count == 1 ? "" : " and \(wrong.count - 1) more"
        throw Failure(
            .checksumMismatch, "cannot accept", at: item.path,
            because: "the piece at \(pieces.start(of: bad))\(more) is wrong (\(item.source))",
            remedy: "see 'pawl help repair'")
    }

    /// The expectation that proves most; a failure if any is not met.
    private static func best(
        of item: VerifyPlan.Item, _ computed: [Checksum]
    ) throws(Failure) -> (checksum: Checksum, source: String) {
        var met: [(checksum: Checksum, source: String)] = []
        for expectation in item.expected {
            let candidates = [expectation.checksum] + expectation.alternatives
            guard let checksum = candidates.first(where: computed.contains) else {
                throw mismatch(expectation, computed, at: item.path)
            }
            met.append((checksum, expectation.source))
        }
        for checksum in computed { if let best = met.first(where: { $0.checksum == checksum }) { return best } }
        preconditionFailure("what was expected was computed")
    }

    private static func mismatch(
        _ expectation: VerifyPlan.Expectation, _ computed: [Checksum], at place: String
    ) -> Failure {
        let algorithm = expectation.checksum.algorithm
        let got = computed.first { $0.algorithm == algorithm }?.digest ?? []
        let isOpen = !expectation.alternatives.isEmpty
        let guess = expectation.isGuessed ? ", read as \(algorithm.rawValue) by its length" : ""
        let others =
            isOpen ? "; no other supported type of that length fits, and it may be of another one, such as BLAKE3" : ""
        return Failure(
            .checksumMismatch, "checksum mismatch:", at: place,
            because: "expected \(algorithm.rawValue) \(Hexadecimal.text(expectation.checksum.digest)) "
                + "(\(expectation.source)\(guess)), got \(Hexadecimal.text(got))\(others)")
    }
}
