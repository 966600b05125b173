package import PawlBase
package import PawlJournal

/// One download as a value: every event is a method that returns actions for the shell.
///
/// Bytes do not pass through it. The shell writes them at a lane's cursor and reports this by `progressed`
/// before each other event, so that decisions rest on the present state.
package struct DownloadMachine: Hashable, Sendable {
    private let parameters: Boxed<DownloadPlan>
    package internal(set) var phase = DownloadState.waiting
    package internal(set) var failure: Failure?
    /// The addresses of the content.
    package internal(set) var sources: [Source]

    // What is known; each value has its own states, and only its events change them.

    /// The file's place on disk.
    var file = FileClaim()
    /// What shows that the bytes on disk belong together, and what is compared for that.
    var continuity: Continuity
    /// What the server was found to be able to.
    var server = ServerAbilities()
    /// The digests of the whole content.
    var verification = Verification()
    /// The digests of its pieces.
    var pieces = PieceChecks()
    /// What was tried since the last progress.
    var budget = RetryBudget()
    /// What the next attempt waits for.
    package var waiting = Waiting()
    /// When written bytes are made durable.
    var checkpoints = Checkpoints()
    /// What is known of this machine's network.
    var network = Network(isOnline: true, now: Instant(nanoseconds: 0))

    // The work: who receives which bytes, over how many connections.

    package var lanes: Lanes
    var nextQuestion: UInt32 = 0

    /// The time of the last event.
    var lastEvent = Instant(nanoseconds: 0)
    var dice: Dice
    private let place = KeptInPlace()

    package init(plan: consuming DownloadPlan, seed: UInt64) {
        sources = plan.sources.map(Source.init)
        lanes = Lanes(plan.ramp)
        dice = Dice(seed: seed)
        continuity = Continuity(base: plan.base(total: nil))
        parameters = Boxed(plan)
    }

    /// Bytes to compare when no header field alone can prove that the content is the same.
    package static let overlap = ComparisonSample.length
    /// Concurrent lanes, racers included: each needs a slot in the journal.
    package static let mostLanes = 60

    package var plan: DownloadPlan { parameters.value }
    /// Retries since the last progress.
    package var attempts: Int { budget.attempts }
    /// The final file name, once the file has a place.
    package var name: String? { file.name }
    package var isInMemory: Bool { file.isInMemory }
    /// What the content was verified with; `nil` before that, and where nothing verifies it.
    package var verified: VerificationResult? { verification.result }
    /// The bytes of pieces that were compared with their digests and are right.
    package var verifiedBytes: Int64 { pieces.map?.verifiedBytes ?? 0 }
    /// The identity of the bytes on disk; `nil` while there are none and no response was accepted.
    package var representation: Representation? { continuity.representation }
    /// Ranges to compare before any other request.
    package var samples: [ByteRange] { continuity.samples }
    package var written: Int64 { lanes.map.done.count }
    package var total: Int64? { lanes.map.total }
    /// The representation that the journal stores for the bytes on disk.
    package var remembered: Representation {
        continuity.representation ?? Representation(selection: plan.selection, base: plan.base(total: nil))
    }

    /// The addresses to store with the bytes: those given, and proven replacements of them.
    package var provenAddresses: [String] {
        let others = zip(sources, plan.sources).filter { $0.given != $1 && !$0.isOnTrial }
        return plan.sources.map(\.text) + others.map(\.0.text)
    }

    package func lane(_ id: LaneID) -> Lane? { lanes.index(of: id).map { lanes[$0] } }

    package func extent(of lane: LaneID) -> Lane.Extent? { lanes.index(of: lane).map { lanes[$0].extent } }

    /// The source of an active lane.
    package func source(of lane: LaneID) -> Int? { lanes.index(of: lane).map { lanes[$0].source } }

    /// Whether no other lane receives the next bytes of this one, and they are not on disk.
    package func isAlone(_ lane: LaneID) -> Bool { lanes.isAlone(lane) }

    mutating func enter(_ next: DownloadState) -> Action {
        phase = next
        network.endAttempt()
        return .notify(.phase(next))
    }

    /// Whether the present phase has active lanes, or may have.
    var isActive: Bool { phase.isActive }
}
