@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// One machine, driven event by event.
struct Bench {
    var machine: DownloadMachine
    var now = Instant(nanoseconds: 0)
    var said: [Action] = []

    static let megabyte: Int64 = 1 << 20

    init(
        hosts: [String] = ["a.example"], scheme: WebAddress.Scheme = .http,
        _ change: (inout DownloadPlan) -> Void = { _ in }
    ) {
        var plan = DownloadPlan(
            sources: hosts.map { WebAddress(scheme: scheme, host: $0, port: 80, path: "/f", query: nil) })
        plan.ramp = .fixed(1)
        plan.retry = RetryPolicy(retries: 2, delay: .seconds(1))
        change(&plan)
        machine = DownloadMachine(plan: plan, seed: 1)
    }

    var lane: LaneID { machine.lanes.list.last?.id ?? LaneID(rawValue: .max) }
    var requested: RequestedRange? { machine.lanes.list.last?.request.range }
    var notices: [String] {
        said.compactMap { if case .notify(.notice(let text)) = $0 { text.description } else { nil } }
    }

    mutating func begin(_ claim: ClaimOutcome? = .fresh, online: Bool = true) {
        said = machine.begin(claimed: claim, online: online, now: now)
    }

    mutating func respond(_ head: ResponseHead, to lane: LaneID? = nil) {
        said = machine.responded(lane ?? self.lane, head: head, wallTime: UnixTime(seconds: 0), now: now)
    }

    mutating func progress(to cursor: Int64, lane: LaneID? = nil) {
        let id = lane ?? self.lane
        let received =
            machine.lanes.list.first { $0.id == id }.map { $0.speed.received + max(1, cursor - $0.cursor) } ?? 0
        machine.progressed(id, cursor: cursor, received: received, waits: false, now: now)
    }

    mutating func end(_ end: TransferEnd, lane: LaneID? = nil) {
        said = machine.ended(lane ?? self.lane, end, now: now)
    }

    mutating func fail(_ kind: TransferFault.Kind, lane: LaneID? = nil) {
        end(.failed(TransferFault(kind, foreign: "it failed")), lane: lane)
    }

    mutating func tick(after seconds: Double) {
        now = now + .seconds(seconds)
        said = machine.tick(now: now)
    }

    mutating func ring() { said = machine.rang(machine.waiting.generation, now: now) }

    // MARK: response heads

    static func whole(_ total: Int64?, tag: String? = "v1", date: Int64? = nil) -> ResponseHead {
        var head = ResponseHead(status: 200)
        head.contentLength = total
        head.entityTag = tag.map { EntityTag(opaque: $0, isWeak: false) }
        head.lastModified = date.map(time)
        return head
    }

    /// A plausible time, `date` seconds after the reference time.
    static func time(_ date: Int64) -> UnixTime { UnixTime(seconds: 1_700_000_000 + date) }

    static func part(
        _ start: Int64, _ end: Int64, of total: Int64?, tag: String? = "v1", date: Int64? = nil
    ) -> ResponseHead {
        var head = whole(nil, tag: tag, date: date)
        head.status = 206
        head.contentRange = .range(ByteRange(start, end), total: total)
        return head
    }

    static func redirect(to place: String) -> ResponseHead {
        var head = ResponseHead(status: 302)
        head.location = place
        return head
    }

    static func journal(
        _ runs: [ByteRange], total: Int64?, tag: String? = "v1", date: Int64? = nil, selection: RequestedRange = .whole,
        base: Int64? = 0
    ) -> ClaimOutcome {
        let validators = Validators(
            entityTag: tag.map { EntityTag(opaque: $0, isWeak: false) }, lastModified: date.map(time), date: nil)
        let record = ValidatorRecord(source: "http://a.example/f", host: "http://a.example", validators: validators)
        return journal(
            runs,
            of: Representation(
                selection: selection, base: base, total: total, records: validators.isEmpty ? [] : [record]))
    }

    static func journal(_ runs: [ByteRange], of representation: Representation) -> ClaimOutcome {
        let facts = JournalFacts(
            sources: ["http://a.example/f", "http://a.example:80/f", "ftp://a.example:80/f", "sftp://a.example:80/f"],
            representation: representation, name: "f")
        return .found(LoadedJournal(facts: facts, done: ByteRangeSet(runs)))
    }
}
