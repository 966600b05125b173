@testable import PawlCore
@testable import PawlJournal

/// The alphabet of the walk: every event of a machine, in a few forms each.
enum WalkEvent: Hashable {
    enum Response: CaseIterable {
        case right
        case rightOfUnknownLength
        case capped
        case whole
        case softPart
        case weakPart
        case untaggedPart
        case codedWhole
        case changedPart
        case changedWhole
        case shifted
        case refusedRange
        case allThere
        case page
        case elsewhere
        case notFound
        case overloaded
    }

    enum Claim: CaseIterable {
        case fresh
        case foundProven
        case foundSoft
        case foundOld
        case foundOtherPart
        case existing
        case skipped
        case failed
    }

    case begin(Claim?)
    case responded(LaneID, Response)
    case claimed(LaneID, Claim)
    case progressed(LaneID)
    case compared(LaneID, agreed: Bool)
    /// The bytes are equal, and have no information.
    case comparedBlank(LaneID)
    case reachedEnd(LaneID)
    case joined(LaneID, agreed: Bool)
    case completed(LaneID)
    case broke(LaneID)
    /// No route led to the server.
    case unreached(LaneID)
    case closed(LaneID)
    case denied(LaneID)
    /// The host has requested no request for a while.
    case held(LaneID)
    case turn
    /// A reader waits for a byte of the first, or of the last part.
    case wanted(isLast: Bool)
    case tick(seconds: Int)
    case network(Bool)
    case pause
    case preempt
    case remove
    /// The user sets another URL, or one was requested; `nil` if there is none.
    case replaced
    case refreshed(found: Bool)
    case rang
    case digested(right: Bool)
    case published
    case diskFailed
}

extension WalkEvent {
    /// The events that are possible in this state.
    static func possible(in machine: DownloadMachine) -> [WalkEvent] {
        var events: [WalkEvent] = [
            .begin(nil), .pause, .preempt, .remove, .replaced, .rang, .turn, .network(false), .network(true),
            .diskFailed, .published, .digested(right: true), .digested(right: false), .tick(seconds: 1),
            .tick(seconds: 11),
        ]
        events += [.wanted(isLast: false), .wanted(isLast: true)]
        events += Claim.allCases.map { .begin($0) }
        if machine.waiting.isForAddress { events += [.refreshed(found: true), .refreshed(found: false)] }
        for lane in machine.lanes.list { events += possible(for: lane) }
        return events
    }

    private static func possible(for lane: Lane) -> [WalkEvent] {
        switch lane.stage {
        case .asking, .asked:
            Response.allCases.map { .responded(lane.id, $0) } + [
                .broke(lane.id), .unreached(lane.id), .closed(lane.id), .denied(lane.id), .held(lane.id),
            ]
        case .claiming: Claim.allCases.map { .claimed(lane.id, $0) }
        case .flowing:
            if lane.joint > 0 {
                [.joined(lane.id, agreed: true), .joined(lane.id, agreed: false), .broke(lane.id), .closed(lane.id)]
            } else if lane.overlap > 0 {
                [
                    .compared(lane.id, agreed: true), .compared(lane.id, agreed: false), .comparedBlank(lane.id),
                    .broke(lane.id), .closed(lane.id),
                ]
            } else {
                [.progressed(lane.id), .reachedEnd(lane.id), .completed(lane.id), .broke(lane.id), .closed(lane.id)]
            }
        }
    }
}
