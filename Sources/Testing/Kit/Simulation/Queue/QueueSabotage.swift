/// A deliberate fault of a queue's world, to test that the laws notice it.
package enum QueueSabotage: String, CaseIterable, Sendable {
    /// The syncs of the queue's database have no effect.
    case dropsSyncs
    /// New downloads are not stored.
    case losesDownloads
    /// Changed options are not stored.
    case losesOptions
    /// Replaced URLs are not stored.
    case losesURLs
    /// Paused downloads are stored as waiting.
    case losesPauses
    /// Removals are not stored.
    case losesRemovals
    /// The name and size that a file is to have are not stored before it is published.
    case losesPublishing
    /// What a changed download has of its former content stays its own.
    case keepsOutdatedFiles
    /// The queue gets one slot more than allowed.
    case addsSlot
    /// The disk never reports that it has room again.
    case hidesRoom
    /// Finished files lack their end.
    case cutsFiles
    /// What has the name of a finished file is taken for it.
    case identifiesByName
    /// The folder without its disk is taken for the one with it: what was on that is begun again.
    case beginsAgain
    /// Who follows the events is not told of new downloads.
    case hidesAdditions
    /// Nor of their states,
    case hidesStates
    /// nor of their other changes,
    case hidesChanges
    /// nor of what belongs to no download,
    case hidesQueueChanges
    /// nor that events were dropped.
    case hidesMissedEvents

    /// The law that has to notice it.
    package var law: Law {
        switch self {
        case .dropsSyncs, .losesDownloads, .losesOptions, .losesURLs, .losesRemovals: .confirmed
        case .losesPauses: .paused
        case .losesPublishing: .tidiness
        case .keepsOutdatedFiles, .cutsFiles: .published
        case .addsSlot: .slots
        case .hidesRoom: .room
        case .identifiesByName: .users
        case .beginsAgain: .progress
        case .hidesAdditions, .hidesStates, .hidesChanges, .hidesQueueChanges, .hidesMissedEvents: .followed
        }
    }
}
