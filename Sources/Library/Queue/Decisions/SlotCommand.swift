/// A user's command to the assignment of slots.
package enum SlotCommand<ID: Hashable & Sendable>: Hashable, Sendable {
    /// Only the user starts it again (D9). With `keepsSlot` it is only suspended; if it loses its slot then, it waits as
    /// paused (D1).
    case pause(ID, keepsSlot: Bool)
    /// Ends a pause by the user; it keeps its place in the line.
    case resume(ID)
    /// Starts it at once; when all slots are taken, the oldest running one is preempted for it (D8).
    ///
    /// This ends a pause of the download, and overrides one of its group.
    case start(ID)
    /// It moves to the end of the new priority; a running one continues.
    case priority(ID, Int)
    /// Moves one that waits, within its priority.
    case move(ID, QueueTarget)
    /// Moves it to another group, or to none; a paused group stops it.
    case group(ID, GroupID?)
    /// Stops starts in the group until it is resumed, except forced ones.
    case pauseGroup(GroupID)
    /// Resumes the group; downloads paused by the user stay paused.
    case resumeGroup(GroupID)
    /// More slots start waiting downloads; for fewer the newest ones are preempted (D7).
    ///
    /// A lower number applies at once: letting downloads finish first could take days.
    case slots(Int)
    /// Stops all downloads, and starts none but forced ones; `false` ends that.
    ///
    /// Each keeps its place, and is not paused.
    case hold(Bool)

    /// The download that is commanded, `nil` for those of a group and for all.
    package var id: ID? {
        switch self {
        case .pause(let id, _), .resume(let id), .start(let id), .priority(let id, _), .move(let id, _),
            .group(let id, _):
            id
        case .pauseGroup, .resumeGroup, .slots, .hold: nil
        }
    }

    /// The same command by other identifiers; `nil` if the download has none.
    func mapped<Other>(_ name: (ID) -> Other?) -> SlotCommand<Other>? {
        switch self {
        case .pause(let id, let keepsSlot): name(id).map { .pause($0, keepsSlot: keepsSlot) }
        case .resume(let id): name(id).map { .resume($0) }
        case .start(let id): name(id).map { .start($0) }
        case .priority(let id, let priority): name(id).map { .priority($0, priority) }
        case .move(let id, let target): name(id).map { .move($0, target) }
        case .group(let id, let group): name(id).map { .group($0, group) }
        case .pauseGroup(let group): .pauseGroup(group)
        case .resumeGroup(let group): .resumeGroup(group)
        case .slots(let slots): .slots(slots)
        case .hold(let isHeld): .hold(isHeld)
        }
    }
}
