/// A world that is broken on purpose, one way each, so that a test can see that the laws notice.
package enum Sabotage: String, CaseIterable, Sendable {
    /// The disk writes other bytes than it was given.
    case flipsBits
    /// The disk puts bytes one place further than it was told.
    case shiftsWrites
    /// The journal says durable of what was never synced.
    case claimsWithoutSync
    /// Checkpoints do nothing.
    case skipsCheckpoints
    /// Cursors never reach the journal.
    case forgetsCursors
    /// Part files are taken for others than their journals were made for.
    case confusesFiles
    /// A journal is found and what it says is not told.
    case hidesJournals
    /// Hosts complain and nobody hears it.
    case hidesComplaints
    /// Hosts ask for silence and nobody hears for how long.
    case hidesSilence
    /// Downloads are given one connection more than they may have.
    case widensDownloads
    /// Verdicts are not told.
    case mutesVerdicts
    /// A lane is seen twice.
    case doublesLanes
    /// The engine has one slot more than it may have.
    case addsSlot
    /// The engine has one slot fewer than it was given.
    case removesSlot
    /// What the person pauses goes on.
    case ignoresPauses
    /// Retries go on longer than was said.
    case neverGivesUp
    /// Servers never send their last byte.
    case withholdsEnds
    /// Whoever fails is started again at once, for ever.
    case restartsFailed
    /// Finished files are not what was downloaded: their end is missing.
    case cutsFiles
    /// Files are left behind.
    case litters
    /// Journals do not tell which part of the resource was wanted.
    case forgetsWishes
    /// What one host said counts for each.
    case confusesHosts
    /// Coded responses do not say so.
    case hidesCodings
    /// Content that was made a moment ago says that it is old.
    case freezesDates
    /// Every version has the same strong tag.
    case repeatsTags
    /// Error pages do not say what they are.
    case disguisesPages
    /// Servers send all that was asked for, whether or not it is read.
    case sendsUnread
    /// Bytes that were hashed change afterwards.
    case rewritesHashed
    /// What somebody else has appended to a part file is taken for ours.
    case trustsTails

    /// What has to be noticed.
    package var law: Law {
        switch self {
        case .flipsBits, .cutsFiles: .published
        case .forgetsWishes, .confusesHosts, .hidesCodings, .freezesDates, .repeatsTags, .disguisesPages:
            .published
        case .claimsWithoutSync: .ladder
        case .skipsCheckpoints: .powerCut
        case .forgetsCursors, .confusesFiles: .kill
        case .hidesJournals: .onceOnly
        case .shiftsWrites: .written
        case .hidesComplaints: .connections
        case .hidesSilence: .silence
        case .widensDownloads: .connections
        case .mutesVerdicts: .progress
        case .doublesLanes: .owner
        case .addsSlot: .slots
        case .removesSlot: .idle
        case .ignoresPauses: .paused
        case .neverGivesUp: .patience
        case .withholdsEnds: .finishes
        case .restartsFailed: .ends
        case .litters: .tidiness
        case .sendsUnread: .traffic
        case .rewritesHashed: .digest
        case .trustsTails: .tails
        }
    }
}
