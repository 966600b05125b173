@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// A machine in the walk, with its current time.
struct WalkState {
    static let length: Int64 = 5 << 20
    static let fresh = WebAddress(scheme: .http, host: "c.example", port: 80, path: "/f", query: "new")

    var machine: DownloadMachine
    var now = Instant(nanoseconds: 1_000_000_000)

    init(_ plan: DownloadPlan) { machine = DownloadMachine(plan: plan, seed: 1) }

    mutating func apply(_ event: WalkEvent) -> [Action] {
        now = now + .milliseconds(1)
        switch event {
        case .begin(let claim):
            return machine.begin(claimed: claim.map(outcome), online: machine.network.isOnline, now: now)
        case .responded(let lane, let response):
            guard let requested = machine.lanes.list.first(where: { $0.id == lane })?.request.range else { return [] }
            let head = WalkState.head(response, to: requested)
            return machine.responded(lane, head: head, wallTime: UnixTime(seconds: 0), now: now)
        case .claimed(let lane, let claim):
            machine.named("file.bin")
            return machine.claimed(lane, outcome(claim), now: now)
        case .progressed(let lane):
            progress(lane, by: 1 << 20)
            return []
        case .compared(let lane, let agreed): return machine.compared(lane, agreed: agreed, now: now)
        case .comparedBlank(let lane):
            let places = machine.comparisonCandidates(lane)?.others.prefix(1) ?? []
            return machine.compared(lane, agreed: true, elsewhere: Array(places), now: now)
        case .reachedEnd(let lane):
            progress(lane, by: WalkState.length)
            _ = machine.reachedEnd(lane)
            return []
        case .joined(let lane, let agreed): return machine.joined(lane, agreed: agreed, now: now)
        case .completed(let lane):
            progress(lane, by: WalkState.length)
            return machine.ended(lane, .complete, now: now)
        case .broke(let lane):
            return machine.ended(lane, .failed(TransferFault(.connectionLost, foreign: "it broke")), now: now)
        case .unreached(let lane):
            return machine.ended(lane, .failed(TransferFault(.unreachable, foreign: "no route")), now: now)
        case .closed(let lane): return machine.ended(lane, .stopped, now: now)
        case .denied(let lane): return machine.denied(lane, until: nil, now: now)
        case .held(let lane): return machine.denied(lane, until: now + .seconds(5), now: now)
        case .turn: return machine.turn(now: now)
        case .wanted(let isLast): return machine.want(isLast ? WalkState.length - 1 : 0, now: now)
        case .tick(let seconds):
            now = now + .seconds(Double(seconds))
            return machine.tick(now: now)
        case .network(let online): return machine.network(online: online, now: now)
        case .pause: return machine.pause()
        case .preempt: return machine.preempt()
        case .remove: return machine.remove()
        case .replaced: return machine.replaceSource(0, with: WalkState.fresh, now: now)
        case .refreshed(let found):
            return machine.refreshed(0, machine.waiting.generation, to: found ? WalkState.fresh : nil, now: now)
        case .rang: return machine.rang(machine.waiting.generation, now: now)
        case .digested(let right): return machine.digested(right ? [1, 2] : [3])
        case .published: return machine.published()
        case .diskFailed: return machine.diskFailed(Failure(.inputOutput, "cannot write", at: "f", because: "EIO"))
        }
    }

    private mutating func progress(_ id: LaneID, by bytes: Int64) {
        guard let lane = machine.lanes.list.first(where: { $0.id == id }) else { return }
        let end = lane.end == ByteRange.open ? WalkState.length : lane.end
        let cursor = max(lane.cursor, min(end, lane.cursor + bytes))
        let received = lane.speed.received + cursor - lane.cursor
        machine.progressed(id, cursor: cursor, received: received, waits: false, now: now)
    }

    private func outcome(_ claim: WalkEvent.Claim) -> ClaimOutcome {
        let half = ByteRangeSet([ByteRange(0, 1 << 20), ByteRange(2 << 20, 3 << 20)])
        func journal(tag: String? = nil, selection: RequestedRange? = nil, from base: Int64?? = .none) -> ClaimOutcome {
            let base = base ?? machine.plan.base(total: WalkState.length)
            let record = ValidatorRecord(
                source: machine.plan.sources[0].text, host: machine.plan.sources[0].origin.text,
                validators: Validators(
                    entityTag: tag.map { EntityTag(opaque: $0, isWeak: false) },
                    lastModified: UnixTime(seconds: 1_700_000_001), date: nil))
            let representation = Representation(
                selection: selection ?? machine.plan.selection, base: base, total: WalkState.length, records: [record])
            let facts = JournalFacts(sources: [machine.plan.sources[0].text], representation: representation, name: "f")
            return .found(LoadedJournal(facts: facts, done: half))
        }
        switch claim {
        case .fresh: return .fresh
        case .foundProven: return journal(tag: "v1")
        case .foundSoft: return journal()
        case .foundOtherPart: return journal(tag: "v1", selection: .from(77), from: 77)
        case .foundOld:
            var representation = Representation(selection: nil, base: nil)
            representation.total = WalkState.length
            let facts = JournalFacts(sources: [], representation: representation, name: "f")
            return .found(LoadedJournal(facts: facts, done: half))
        case .existing: return .existing(length: 1 << 20)
        case .skipped: return .skipped(length: nil)
        case .failed: return .failed(Failure(.cannotOpen, "cannot open", at: "f", because: "EACCES"))
        }
    }
}

extension WalkState {
    /// The identity of a lane: no times, no counts of bytes.
    struct LaneKey: Hashable {
        var id: LaneID
        var work: Lane.Work
        var stage: Lane.Stage
        var source: Int
        var slot: Int
        var range: ByteRange
        var overlap: Int64
        var requested: RequestedRange
        var host: String
        var responseEnd: Int64
        var identity: ContentIdentity?
        var isTooSlow: Bool
    }

    /// The identity of a state: lanes by their position instead of their number, no times, no random numbers.
    struct Key: Hashable {
        var phase: DownloadState
        var map: SegmentMap
        var lanes: [LaneKey]
        var sources: [Source]
        var representation: Representation?
        var samples: [ByteRange]
        var elsewhere: ComparedElsewhere?
        var flags: [Bool]
        var counts: [Int64]
    }

    var key: Key {
        let machine = machine
        let list = machine.lanes.list
        let order = Dictionary(uniqueKeysWithValues: list.enumerated().map { ($1.id, UInt32($0)) })
        func place(_ id: LaneID) -> LaneID { LaneID(rawValue: order[id] ?? .max) }
        var map = SegmentMap(total: machine.lanes.map.total, done: machine.lanes.map.done)
        for claim in machine.lanes.map.claims.sorted(by: { $0.range.start < $1.range.start }) {
            map.assign(claim.range, to: place(claim.lane))
        }
        let lanes = list.map { lane in
            LaneKey(
                id: place(lane.id), work: lane.isRacing.map { .racing(place($0)) } ?? lane.work, stage: lane.stage,
                source: lane.source, slot: lane.slot, range: ByteRange(lane.cursor, max(lane.cursor, lane.end)),
                overlap: lane.overlap, requested: lane.request.range, host: lane.request.host,
                responseEnd: lane.response.end, identity: lane.response.identity,
                isTooSlow: lane.speed.tooSlowSince != nil)
        }
        return Key(
            phase: machine.phase, map: map, lanes: lanes, sources: machine.sources.map(\.withoutTime),
            representation: machine.continuity.representation, samples: machine.continuity.samples,
            elsewhere: machine.continuity.elsewhere,
            flags: [
                machine.file.isClaimed, machine.network.isOnline, machine.server.rangesUsable, machine.server.isSuspect,
                machine.waiting.isForAttempt, machine.waiting.refillAfter == nil, !machine.waiting.isForAddress,
                machine.budget.isTooSlow,
                machine.continuity.isStale, machine.server.asksClosed, machine.server.difference == nil,
                machine.continuity.question != nil,
                machine.network.outage?.isChecked ?? false, machine.network.isTrying, machine.awaitsPlace,
                machine.waiting.isForced,
            ],
            counts: [
                machine.file.existingLength ?? -1, Int64(machine.attempts), Int64(machine.budget.restarts),
                machine.continuity.base ?? -1,
                Int64(machine.budget.refreshes), Int64(machine.budget.rangeRefusals),
                Int64(machine.network.outage?.unreached.count ?? 0),
            ])
    }
}

extension Waiting {
    /// Whether another address was requested.
    var isForAddress: Bool { if case .address = reason { true } else { false } }
}

extension Source {
    /// With the same time for every rest.
    var withoutTime: Source {
        var source = self
        if restsUntil != nil { source.restsUntil = Instant(nanoseconds: 0) }
        return source
    }
}
