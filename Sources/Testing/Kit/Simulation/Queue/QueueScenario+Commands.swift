package import Pawl
import PawlBase

extension QueueScenario {
    /// What the user does: a command of the product, the parts of which that depend on the moment are filled in then.
    package enum Command: Sendable {
        case add(isPaused: Bool)
        /// Changes the range and the checksum, and nothing else.
        case change(Requirement)
        case other(QueueCommand)

        var kind: QueueCommand.Kind {
            switch self {
            case .add: .add
            case .change: .options
            case .other(let command): command.kind
            }
        }
    }

    static func id(_ index: Int) -> Download.ID { Download.ID(rawValue: UInt64(index + 1)) }
    static let group = "group"
    private static let timetables = [
        "00:00-12:00 400K, else none", "00:00-12:00 none, else pause", "else pause", "25:00 is no time",
    ]
    /// Half an hour after the world has begun, in seconds since 1970.
    static let later = VirtualClock.start + 1_800
    /// They move no file: the laws are about given folders.
    static let rules = [try? FolderRule("name:*.none", folder: "none")].compactMap(\.self)

    /// Commands of every kind, to all downloads too.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    mutating func addCommandsOfEveryKind() {
        var luck = Dice(seed: seed &* 1_721 &+ 17)
        guard luck.chance(0.35) else { return }
        for _ in 0..<luck.number(1...10) {
            let index = luck.below(targets.count)
            let command = draw(luck.pick(QueueCommand.Kind.allCases), index, &luck)
            let start = Int64(luck.magnitude(20_000))
            incidents.append((.milliseconds(start), .command(index, command)))
            // A queue with a timetable never stands still, nor one whose paused downloads wait for their disk.
            let undo: QueueCommand
            switch command {
            case .other(.timetable): undo = .timetable(nil)
            case .other(.pauseGroup(let group)): undo = .resumeGroup(group)
            case .add, .change, .other: continue
            }
            let end = start + Int64(luck.number(100...70_000))
            incidents.append((.milliseconds(end), .command(index, .other(undo))))
        }
    }

    private mutating func draw(_ kind: QueueCommand.Kind, _ index: Int, _ luck: inout Dice) -> Command {
        let id = Self.id(index)
        let folder = luck.pick(["", "other", Self.usb])
        let name = "n\(luck.below(3)).bin"
        switch kind {
        case .add: return .add(isPaused: luck.chance(0.3))
        case .options: return .change(makeRequirement(of: targets[index]))
        case .pause: return .other(.pause(id, keepsSlot: luck.chance(0.5)))
        case .pauseAll: return .other(.pauseAll)
        case .resume: return .other(.resume(id))
        case .resumeAll: return .other(.resumeAll(withFailed: luck.chance(0.5)))
        case .start: return .other(.start(id))
        case .startOver: return .other(.startOver(id))
        case .remove:
            let removal = Removal(
                keepsFile: luck.chance(0.3), keepsHistory: luck.chance(0.5), keepsPartial: luck.chance(0.5))
            return .other(.remove(id, removal))
        case .forget: return .other(.forget(id))
        case .forgetAll: return .other(.forgetAll)
        case .rename: return .other(.rename(id, name))
        case .relocate: return .other(.relocate(id, folder: folder))
        case .folder: return .other(.folder(id, folder))
        case .replaceURL:
            let url = targets[index].url(ofImpostor: luck.chance(0.3))
            return .other(.replaceURL(id, url, usesOwnersSecrets: luck.chance(0.5)))
        case .limit: return .other(.limit(id, luck.pick([nil, 200_000, 1_000_000])))
        case .move:
            return .other(
                .move(id, luck.pick([.index(luck.below(4)), .offset(luck.number(-2...2)), .fromEnd(luck.below(3))])))
        case .priority: return .other(.priority(id, luck.number(-1...1)))
        case .group: return .other(.group(id, luck.chance(0.7) ? Self.group : ""))
        case .description: return .other(.description(id, luck.chance(0.7) ? name : nil))
        case .pauseGroup: return .other(.pauseGroup(Self.group))
        case .resumeGroup: return .other(.resumeGroup(Self.group))
        case .slots: return .other(.slots(luck.number(0...4)))
        case .totalLimit: return .other(.totalLimit(luck.pick([nil, 400_000, 2_000_000])))
        case .timetable: return .other(.timetable(luck.pick([nil] + Self.timetables)))
        case .schedule:
            return .other(.schedule(id, luck.chance(0.7) ? index.isMultiple(of: 2) ? 0 : Self.later : nil))
        case .rules: return .other(.rules(luck.chance(0.5) ? Self.rules : []))
        }
    }
}

extension QueueCommand {
    /// A command without its values, and what ran of it in words.
    package enum Kind: String, CaseIterable, Sendable {
        case add = "downloads added"
        case pause = "pauses"
        case pauseAll = "pauses of all"
        case resume = "resumptions"
        case resumeAll = "resumptions of all"
        case start = "forced starts"
        case startOver = "downloads started over"
        case remove = "removals"
        case forget = "records removed"
        case forgetAll = "records of all ended removed"
        case rename = "renamings"
        case relocate = "relocations"
        case folder = "folders changed"
        case replaceURL = "URLs replaced"
        case options = "options changed"
        case limit = "limits changed"
        case move = "moves"
        case priority = "priorities changed"
        case group = "groups changed"
        case description = "descriptions changed"
        case pauseGroup = "groups paused"
        case resumeGroup = "groups resumed"
        case slots = "slots changed"
        case totalLimit = "total limits changed"
        case timetable = "timetables changed"
        case schedule = "starts scheduled"
        case rules = "folder rules changed"
    }

    /// Without a default: the simulation gives every command that there is.
    package var kind: Kind {
        switch self {
        case .add: .add
        case .pause: .pause
        case .pauseAll: .pauseAll
        case .resume: .resume
        case .resumeAll: .resumeAll
        case .start: .start
        case .startOver: .startOver
        case .remove: .remove
        case .forget: .forget
        case .forgetAll: .forgetAll
        case .rename: .rename
        case .relocate: .relocate
        case .folder: .folder
        case .replaceURL: .replaceURL
        case .options: .options
        case .limit: .limit
        case .move: .move
        case .priority: .priority
        case .group: .group
        case .description: .description
        case .pauseGroup: .pauseGroup
        case .resumeGroup: .resumeGroup
        case .slots: .slots
        case .totalLimit: .totalLimit
        case .timetable: .timetable
        case .schedule: .schedule
        case .rules: .rules
        }
    }
}
