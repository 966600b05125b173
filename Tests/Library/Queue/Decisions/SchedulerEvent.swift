import PawlBase
import PawlQueue
import PawlTestKit

/// What happens to a scheduler of small numbers; odd ones are in the group, those from 2 on have a higher priority.
enum SchedulerEvent: Hashable {
    case enqueue(Int)
    case release(Int)
    case command(SlotCommand<Int>)

    static let group = GroupID("series")

    static func isMember(_ id: Int) -> Bool { !id.isMultiple(of: 2) }

    static func all(ids: Int) -> [SchedulerEvent] {
        let commands: [SlotCommand<Int>] = (0..<ids).flatMap { id -> [SlotCommand<Int>] in
            [
                .pause(id, keepsSlot: false), .pause(id, keepsSlot: true), .resume(id), .start(id), .priority(id, 0),
                .priority(id, 1), .move(id, .index(1)), .move(id, .offset(1)), .move(id, .offset(-1)),
                .move(id, .fromEnd(0)),
            ]
        }
        let others: [SlotCommand<Int>] = [
            .slots(1), .slots(2), .slots(3), .pauseGroup(group), .resumeGroup(group), .hold(true), .hold(false),
        ]
        return (0..<ids).flatMap { [.enqueue($0), .release($0)] } + (commands + others).map { .command($0) }
    }

    static func random(ids: Int, _ dice: inout Dice) -> SchedulerEvent {
        let id = dice.number(0...(ids - 1))
        switch dice.number(0...16) {
        case 0...5: return .enqueue(id)
        case 6, 7: return .release(id)
        case 8: return .command(.pause(id, keepsSlot: dice.number(0...2) == 0))
        case 9, 10: return .command(.resume(id))
        case 11: return .command(.start(id))
        case 12: return .command(.slots(dice.number(0...7)))
        case 13: return .command(dice.number(0...2) == 0 ? .pauseGroup(group) : .resumeGroup(group))
        case 14: return .command(.priority(id, dice.number(-1...1)))
        case 15: return .command(.hold(dice.number(0...2) == 0))
        default:
            let targets: [QueueTarget] = [
                .index(dice.number(-1...ids)), .offset(dice.number(-ids...ids)), .fromEnd(dice.number(-ids...1)),
            ]
            return .command(.move(id, targets[dice.number(0...2)]))
        }
    }

    func apply(to scheduler: inout QueueScheduler<Int>) -> [QueueOrder<Int>] {
        switch self {
        case .enqueue(let id):
            scheduler.enqueue(
                id, priority: id < 2 ? 0 : 1, group: SchedulerEvent.isMember(id) ? SchedulerEvent.group : nil)
        case .release(let id): scheduler.release(id)
        case .command(let command): scheduler.apply(command)
        }
    }
}
