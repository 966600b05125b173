/// One download as a value: every event is a method that returns what the shell has to do.
///
/// Bytes do not pass through it. The shell writes them at a lane's cursor and tells the machine by `progressed` before
/// each other event, so that decisions see the truth.
package struct DownloadMachine: Hashable, Sendable {
    package let plan: DownloadPlan
    package internal(set) var phase = Phase.waiting
    package internal(set) var map = SegmentMap()
    /// What the bytes on disk are; `nil` while there are none and no response was accepted.
    package internal(set) var representation: Representation?
    package internal(set) var sources: [Source]
    package internal(set) var lanes: [Lane] = []
    package internal(set) var ramp: ConnectionRamp
    /// What the rate limits leave of it.
    package internal(set) var allowance = LaneAllowance()
    package internal(set) var failure: Failure?
    /// The final file name, once the file has a place.
    package internal(set) var name: String?
    /// Where the file begins in the resource; `nil` until a suffix was answered.
    package internal(set) var base: Int64?
    /// Bytes that came over the network, those fetched twice counted twice.
    package internal(set) var received: Int64 = 0

    var isClaimed = false
    var isOnline = true
    /// `false` once this object was seen to come without ranges.
    var rangesUsable = true
    /// A request with Range got no answer; the next attempt goes without, and decides.
    var rangeWasSilent = false
    /// The part file was a finished file before (continue an existing file).
    var existingLength: Int64?
    /// Places that are compared before anything else is asked for: no header can speak for the bytes on disk.
    package internal(set) var samples: [ByteRange] = []
    /// The bytes on disk are of another part than is wanted; they give way to the first response that is accepted.
    var isStale = false
    /// The server refused a range without an end.
    var asksClosed = false
    /// More connections of the host are in use than it was ever seen to serve: what it denies now it may grant later.
    var hostIsCrowded = false
    /// The tag that is not known to be stable yet, and whose it is: it is asked for once more before anything else.
    var question: TagQuestion?
    /// A page that came in the place of a page, once.
    var suspect: ContentIdentity?
    /// What follows the existing file was asked for.
    var knowsExisting = false
    /// A file that is there is kept as it is, and nothing is fetched.
    var keepsExisting = false
    var attempts = 0
    /// What comes since the last one was closed for it comes too slowly to begin the count of attempts anew.
    var isTooSlow = false
    var restarts = 0
    /// Addresses that were asked for since the last progress.
    var refreshes = 0
    /// Why another address was asked for; the end, if there is none.
    var refusal: Failure?
    var highWater: Int64 = 0
    var laneFaults = 0
    var refillAfter: Instant?
    var isRetryPending = false
    var generation: UInt32 = 0
    var nextLane: UInt32 = 0
    var nextSource = 0
    var checkpointAt: Instant?
    var checkpointBytes: Int64 = 0
    var dice: Dice

    package init(plan: DownloadPlan, seed: UInt64) {
        self.plan = plan
        sources = plan.sources.map(Source.init)
        ramp = ConnectionRamp(plan.ramp)
        dice = Dice(seed: seed)
        base = plan.base(total: nil)
    }

    /// Bytes compared when no header alone can prove that the content is the same.
    package static let overlap = Sample.length
    /// Lanes at once, racers included: each needs a slot in the journal.
    package static let mostLanes = 60
    package static let checkpointPeriod = Interval.seconds(2)
    package static let checkpointSize: Int64 = 64 << 20
    /// How long a lane alone may crawl.
    static let loneCrawl = Interval.seconds(10)
    /// Contents that change this often under a download are not fetched any more.
    static let mostRestarts = 5
    /// Fresh addresses that bring no byte.
    static let mostRefreshes = 3

    package var flowing: Int { lanes.count { $0.stage == .flowing } }
    package var written: Int64 { map.done.count }
    package var total: Int64? { map.total }
    /// What the journal remembers of the bytes on disk.
    package var remembered: Representation {
        representation ?? Representation(wish: plan.wish, base: plan.base(total: nil))
    }

    /// The addresses to remember with the bytes: those that were given, and what took their place and was proved.
    package var provenAddresses: [String] {
        let others = zip(sources, plan.sources).filter { $0.given != $1 && !$0.isOnTrial }
        return plan.sources.map(\.text) + others.map(\.0.text)
    }

    func index(of lane: LaneID) -> Int? { lanes.firstIndex { $0.id == lane } }

    mutating func enter(_ next: Phase) -> Action {
        phase = next
        return .tell(.phase(next))
    }

    mutating func alarm(at moment: Instant) -> Action {
        generation += 1
        isRetryPending = true
        return .alarm(Alarm(generation: generation, at: moment))
    }

    /// Whether the present phase has lanes at work, or may have.
    var isActive: Bool {
        switch phase {
        case .probing, .transferring: true
        case .waiting, .waitingForNetwork, .verifying, .publishing, .paused, .preempted, .finished, .failed,
            .removed:
            false
        }
    }
}
