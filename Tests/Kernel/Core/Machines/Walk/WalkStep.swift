import PawlTestKit

@testable import PawlBase
@testable import PawlCore

/// One step of the walk, checked against the laws.
struct WalkStep {
    var before: DownloadMachine
    var event: WalkEvent
    var actions: [Action]
    var after: DownloadMachine

    /// The first law that the step breaks.
    var brokenLaw: String? { Law.owner(after) ?? brokenRequests ?? brokenEnds ?? brokenBytes ?? brokenTrial ?? stuck }

    private var dropped: Set<LaneID> { Set(actions.compactMap { if case .drop(let lane) = $0 { lane } else { nil } }) }

    private var opened: [LaneID] { actions.compactMap { if case .open(let order) = $0 { order.lane } else { nil } } }

    /// Requests and lanes are the same set, and nothing is requested after a stop.
    private var brokenRequests: String? {
        var requests = Set(before.lanes.list.map(\.id)).union(opened).subtracting(dropped)
        switch event {
        case .completed(let lane), .broke(let lane), .unreached(let lane), .closed(let lane): requests.remove(lane)
        case .pause, .preempt, .remove, .network(false), .refreshed(found: false):
            if !opened.isEmpty { return "a request after \(event)" }
        case .begin, .responded, .claimed, .progressed, .compared, .comparedBlank, .reachedEnd, .joined, .denied, .held,
            .turn, .wanted, .tick, .network(true), .rang, .replaced, .refreshed(found: true), .digested, .published,
            .diskFailed:
            break
        }
        return requests == Set(after.lanes.list.map(\.id)) ? nil : "requests \(requests) but lanes \(after.lanes.list)"
    }

    /// One end is reported, once, and only in its phase.
    private var brokenEnds: String? {
        let ends = actions.count { action in
            if case .notify(.finished) = action { return true }
            if case .notify(.failed) = action { return true }
            return false
        }
        if ends > 1 { return "two ends were reported" }
        if ends == 1, after.phase != .finished, after.phase != .failed { return "an end in \(after.phase)" }
        if before.phase == .finished, !actions.isEmpty { return "something happens after the end" }
        if before.phase == .failed, !actions.isEmpty {
            if event == .remove { return nil }
            if case .begin = event { return nil }
            return "something happens after the failure"
        }
        return nil
    }

    /// Bytes are accepted after the claim only, discarded only explicitly, and published when complete.
    private var brokenBytes: String? {
        for action in actions {
            switch action {
            case .admit where !after.file.isClaimed: return "a body was let in before the claim"
            case .publish(let length, _):
                if !after.lanes.map.isComplete || after.lanes.map.total != length {
                    return "an incomplete file is published"
                }
            case .startOver where !after.file.isClaimed: return "started over without a file"
            case .open, .drop, .limit, .claim, .recognize, .admit, .startOver, .reserve, .record, .checkpoint, .alarm,
                .refresh,
                .ask, .useMemory, .refused, .verify, .verifyDecoded, .findSidecars, .check, .discard, .close,
                .restoreOriginal, .restoreExtended, .notify:
                break
            }
        }
        let discarded = actions.reduce(Int64(0)) { count, action in
            if case .discard(let range) = action { count + range.count } else { count }
        }
        guard after.written + discarded < before.written, !actions.contains(.startOver) else { return nil }
        switch event {
        case .begin, .claimed: return nil
        case .responded, .progressed, .compared, .comparedBlank, .reachedEnd, .joined, .completed, .broke, .unreached,
            .closed, .denied, .held, .turn, .wanted, .tick, .network, .pause, .preempt, .remove, .replaced, .refreshed,
            .rang,
            .digested, .published, .diskFailed:
            return "\(before.written - after.written) bytes were forgotten silently"
        }
    }

    /// A8: bytes on disk are replaced only for a source that was shown to have the same content, except those of another range
    /// than the requested one.
    private var brokenTrial: String? {
        guard after.written < before.written || actions.contains(.close(keeping: false)),
            !before.lanes.map.done.isEmpty,
            !before.continuity.isStale, let source = cause, before.sources[source].isOnTrial
        else { return nil }
        return "bytes gave way to an address that was not shown to be the same content"
    }

    /// The source of the lane that the event belongs to.
    private var cause: Int? {
        switch event {
        case .responded(let lane, _), .compared(let lane, _), .comparedBlank(let lane), .reachedEnd(let lane),
            .joined(let lane, _), .completed(let lane), .broke(let lane), .unreached(let lane), .closed(let lane),
            .claimed(let lane, _), .denied(let lane), .held(let lane), .progressed(let lane):
            before.lanes.list.first { $0.id == lane }?.source
        case .begin, .turn, .wanted, .tick, .network, .pause, .preempt, .remove, .replaced, .refreshed, .rang,
            .digested,
            .published, .diskFailed:
            nil
        }
    }

    /// Something is running or scheduled as long as the download is active.
    private var stuck: String? {
        let isWaiting = after.isActive && after.lanes.list.isEmpty && !after.waiting.isForAttempt
        if isWaiting { return "nothing is running and nothing is scheduled" }
        if after.awaitsPlace, !after.isActive { return "it waits for a connection in \(after.phase)" }
        return nil
    }
}
