@testable import PawlBase
@testable import PawlCore

/// A server and a network that let nothing succeed, each in one way.
enum Adversity: CaseIterable {
    case silence
    case resets
    /// No route leads to the server, whatever the monitor reports.
    case unreachable
    case overloaded
    case notFound
    case refusedRanges
    case changingContent
    case changingTags
    case brokenParts
    case redirects
    case expiringTargets
    /// Each fresh URL is rejected as well.
    case expiringAddresses
    case closedEarly
    case emptyParts
    /// A byte now and then, below the lowest speed.
    case crawling

    /// The next event of that kind; `turn` counts them.
    func happen(to state: inout WalkState, turn: Int) {
        let machine = state.machine
        switch machine.phase {
        case .waiting, .waitingForDisk, .paused, .preempted: _ = state.apply(.begin(.fresh))
        case .waitingForNetwork: _ = state.apply(.network(true))
        case .verifying: _ = state.apply(.digested(right: false))
        case .publishing: _ = state.apply(.diskFailed)
        case .finished, .failed, .removed: break
        case .probing, .transferring:
            guard let lane = machine.lanes.list.first(where: { !$0.isFlowing }) ?? machine.lanes.list.first else {
                _ = state.apply(machine.waiting.isForAddress ? .refreshed(found: true) : .rang)
                return
            }
            switch lane.stage {
            case .asking, .asked: respond(lane, of: &state, turn: turn)
            case .claiming: _ = state.apply(.claimed(lane.id, .fresh))
            case .flowing: interrupt(lane, of: &state)
            }
        }
    }

    private func respond(_ lane: Lane, of state: inout WalkState, turn: Int) {
        func says(_ head: ResponseHead) {
            _ = state.machine.responded(lane.id, head: head, wallTime: UnixTime(seconds: 0), now: state.now)
        }
        var changing = WalkState.head(.right, to: lane.request.range)
        switch self {
        case .silence: _ = state.apply(.tick(seconds: 11))
        case .resets: _ = state.apply(.broke(lane.id))
        case .unreachable: _ = state.apply(.unreached(lane.id))
        case .overloaded: _ = state.apply(.responded(lane.id, .overloaded))
        case .notFound, .expiringAddresses: _ = state.apply(.responded(lane.id, .notFound))
        case .refusedRanges:
            _ = state.apply(lane.request.range == .whole ? .broke(lane.id) : .responded(lane.id, .refusedRange))
        case .changingContent:
            changing.entityTag = EntityTag(opaque: "\(turn)", isWeak: false)
            changing.lastModified = UnixTime(seconds: Int64(turn))
            says(changing)
        case .changingTags:
            changing.entityTag = EntityTag(opaque: "\(turn)", isWeak: false)
            says(changing)
        case .brokenParts: _ = state.apply(.responded(lane.id, .shifted))
        case .redirects: _ = state.apply(.responded(lane.id, .elsewhere))
        case .expiringTargets:
            let isTarget = state.machine.sources[lane.source].current != state.machine.sources[lane.source].given
            _ = state.apply(.responded(lane.id, isTarget ? .notFound : .elsewhere))
        case .closedEarly, .crawling: says(changing)
        case .emptyParts:
            if case .range(let range, let total) = changing.contentRange {
                let end = min(range.end, range.start + max(1, lane.overlap))
                changing.contentRange = .range(ByteRange(range.start, end), total: total)
                changing.contentLength = nil
            }
            says(changing)
        }
    }

    private func interrupt(_ lane: Lane, of state: inout WalkState) {
        if lane.overlap > 0, self == .emptyParts || self == .changingTags || self == .crawling {
            _ = state.apply(.compared(lane.id, agreed: true))
        } else if self == .closedEarly || self == .emptyParts {
            _ = state.machine.ended(lane.id, .complete, now: state.now)
        } else if self == .crawling, state.machine.plan.lowestSpeed != nil {
            state.machine.progressed(
                lane.id, cursor: lane.cursor + 1, received: lane.speed.received + 1, waits: false, now: state.now)
            _ = state.apply(.tick(seconds: 11))
        } else {
            _ = state.apply(.broke(lane.id))
        }
    }
}
