import PawlBase
import PawlQueue
import PawlTestKit

/// Commands to a scheduler of small numbers; odd ones are in the group, those from 2 on have a higher priority.
enum QueueCommand: Hashable {
    case enqueue(Int)
    case release(Int)
    case pause(Int, keepsSlot: Bool)
    case resume(Int)
    case force(Int)
    case slots(Int)
    case pauseGroup
    case resumeGroup
    case priority(Int, Int)
    case move(Int, QueueTarget)

    static let group = GroupID("series")

    static func isMember(_ id: Int) -> Bool { !id.isMultiple(of: 2) }

    static func all(ids: Int) -> [QueueCommand] {
        let each: [QueueCommand] = (0..<ids).flatMap { id -> [QueueCommand] in
            [
                .enqueue(id), .release(id), .pause(id, keepsSlot: false), .pause(id, keepsSlot: true), .resume(id),
                .force(id), .priority(id, 0), .priority(id, 1), .move(id, .index(1)), .move(id, .offset(1)),
                .move(id, .offset(-1)), .move(id, .fromEnd(0)),
            ]
        }
        return each + [.slots(1), .slots(2), .slots(3), .pauseGroup, .resumeGroup]
    }

    static func random(ids: Int, _ dice: inout Dice) -> QueueCommand {
        let id = dice.number(0...(ids - 1))
        switch dice.number(0...15) {
        case 0...5: return .enqueue(id)
        case 6, 7: return .release(id)
        case 8: return .pause(id, keepsSlot: dice.number(0...2) == 0)
        case 9, 10: return .resume(id)
        case 11: return .force(id)
        case 12: return .slots(dice.number(0...7))
        case 13: return dice.number(0...2) == 0 ? .pauseGroup : .resumeGroup
        case 14: return .priority(id, dice.number(-1...1))
        default:
            let targets: [QueueTarget] = [
                .index(dice.number(-1...ids)), .offset(dice.number(-ids...ids)), .fromEnd(dice.number(-ids...1)),
            ]
            return .move(id, targets[dice.number(0...2)])
        }
    }

    func apply(to scheduler: inout QueueScheduler<Int>) -> [QueueOrder<Int>] {
        switch self {
        case .enqueue(let id):
            let group = QueueCommand.isMember(id) ? QueueCommand.group : nil
            return scheduler.enqueue(id, priority: id < 2 ? 0 : 1, group: group)
        case .release(let id): return scheduler.release(id)
        case .pause(let id, let keepsSlot): return scheduler.pause(id, keepsSlot: keepsSlot)
        case .resume(let id): return scheduler.resume(id)
        case .force(let id): return scheduler.forceStart(id)
        case .slots(let slots): return scheduler.change(slots: slots)
        case .pauseGroup: return scheduler.pause(group: QueueCommand.group)
        case .resumeGroup: return scheduler.resume(group: QueueCommand.group)
        case .priority(let id, let priority): scheduler.change(priority: priority, of: id)
        case .move(let id, let target): _ = scheduler.move(id, to: target)
        }
        return []
    }
}
