/// A deliberate fault of a world, to test that the laws notice it.
package enum Sabotage: String, CaseIterable, Sendable {
    /// The disk writes other bytes than given.
    case flipsBits
    /// The disk writes bytes one offset further than requested.
    case shiftsWrites
    /// The journal claims as durable what was never synced.
    case claimsWithoutSync
    /// Checkpoints do nothing.
    case skipsCheckpoints
    /// Cursors never reach the journal.
    case forgetsCursors
    /// Part files are confused with those that their journals were created for.
    case confusesFiles
    /// A journal is found, and its content is not reported.
    case hidesJournals
    /// Hosts throttle without a notification.
    case hidesThrottling
    /// Hosts send Retry-After, and it is not reported.
    case hidesSilence
    /// Downloads get one connection more than allowed.
    case widensDownloads
    /// Verdicts are not reported.
    case mutesVerdicts
    /// A lane is reported twice.
    case doublesLanes
    /// The scheduler gets one slot more than allowed.
    case addsSlot
    /// The scheduler gets one slot fewer than allowed.
    case removesSlot
    /// A paused download continues.
    case ignoresPauses
    /// No attempt is made while the monitor reports no network.
    case believesMonitor
    /// Retries exceed their limit.
    case neverGivesUp
    /// Servers never send their last byte.
    case withholdsEnds
    /// Connections that break after few bytes bring none.
    case breaksAtOnce
    /// Servers that limit parts send fewer bytes than can be compared.
    case shortensParts
    /// A failed download restarts at once, for ever.
    case restartsFailed
    /// Finished files lack their end.
    case cutsFiles
    /// Files that get their names at once lack their end.
    case cutsWholeFiles
    /// They lack their time.
    case undatesWholeFiles
    /// Other files lack their time.
    case undatesPartFiles
    /// Bytes on disk are read as others than were written.
    case misreadsBytes
    /// Files are left behind.
    case litters
    /// Journals do not record the requested part of the resource.
    case forgetsSelection
    /// The limits of one host apply to each.
    case confusesHosts
    /// Coded responses are not declared as such.
    case hidesCodings
    /// Coded responses to requests with Range are not declared as such.
    case hidesPartCodings
    /// Every version has the same strong tag.
    case repeatsTags
    /// Error pages are not declared as such.
    case disguisesPages
    /// Error pages right after a change of the content look like its new version.
    case disguisesLatePages
    /// Pages with the tag of the content look like parts of it.
    case disguisesTaggedPages
    /// Servers send everything requested, whether or not it is read.
    case sendsUnread
    /// Bytes that were hashed change afterwards.
    case rewritesHashed
    /// Of several digests only the first is computed.
    case computesOneDigest
    /// The digests of pieces are not compared.
    case skipsPieces
    /// The digests of pieces that cannot be those of the content are not compared.
    case skipsUnfitPieces
    /// The pieces of a finished file that is kept are not compared.
    case keepsUnchecked
    /// Part files that another download uses are claimed.
    case sharesParts
    /// Bytes that were damaged on disk between two processes are hashed as if they were intact.
    case trustsDamage
    /// Wrong bytes of a seed are hashed as if they were right.
    case trustsSeeds
    /// Bytes that another program has appended to a part file are taken for Pawl's own.
    case trustsTails
    /// The holes of existing files are not reported.
    case hidesHoles
    /// FTP servers end files early and say that they are complete.
    case endsFilesEarly
    /// Connections with unrequested bytes are used again.
    case keepsLeftovers
    /// A connection is used again before an unwanted body has ended.
    case reusesEarly
    /// The announced end of a connection is ignored.
    case ignoresClose
    /// Early hints are taken for the final header section.
    case takesInterim
    /// The padding of a chunk counts as body.
    case countsPadding
    /// A body of chunks may end anywhere.
    case acceptsCutChunks
    /// The loss of a reused connection is reported as a failure of its request.
    case reportsRetries
    /// A request is sent again on another reused connection.
    case resendsForever
    /// A stream of HTTP/2 that was cut is complete.
    case acceptsCutStreams
    /// Content of one stream is taken for another's.
    case mixesStreams
    /// A response is complete when its length has come, without the end of its stream.
    case completesByLengthAlone
    /// Requests are sent on a connection that has gone away.
    case ignoresGoAway
    /// The number of streams that a server allows is ignored.
    case exceedsStreams
    /// Refused requests are sent again for ever.
    case resendsRefused
    /// The refusal of a stream is reported as a failure of its request.
    case reportsRefused
    /// A request is sent again although its response has begun.
    case resendsProcessed
    /// What receivers take is not given back to the window of their stream.
    case keepsCredit
    /// What paused receivers have not taken is given back to the window of their stream.
    case givesCreditPaused
    /// A request is sent again though the server wants calm.
    case ignoresCalm
    /// More connections of HTTP/2 are opened than there may be.
    case opensFurther
    /// An unwanted body is read to its end.
    case drainsForever
    /// Who waits for a host is not called when there is a place.
    case wakesNobody
    /// A refusal leaves a host one connection, whatever it served.
    case shrinksToOne

    /// The law that has to notice it.
    package var law: Law {
        switch self {
        case .flipsBits, .cutsFiles, .cutsWholeFiles, .sharesParts: .published
        case .forgetsSelection, .confusesHosts, .hidesCodings, .hidesPartCodings, .repeatsTags, .disguisesPages,
            .disguisesLatePages, .disguisesTaggedPages, .endsFilesEarly, .hidesHoles:
            .published
        case .undatesWholeFiles, .undatesPartFiles: .agreement
        case .claimsWithoutSync: .ladder
        case .skipsCheckpoints: .powerCut
        case .forgetsCursors, .confusesFiles: .kill
        case .hidesJournals: .onceOnly
        case .shiftsWrites: .written
        case .hidesThrottling: .connections
        case .hidesSilence: .silence
        case .widensDownloads: .connections
        case .mutesVerdicts: .progress
        case .doublesLanes: .owner
        case .addsSlot: .slots
        case .removesSlot: .idle
        case .ignoresPauses: .paused
        case .believesMonitor: .reached
        case .neverGivesUp: .patience
        case .withholdsEnds, .breaksAtOnce, .shortensParts: .finishes
        case .restartsFailed: .ends
        case .litters: .tidiness
        case .misreadsBytes: .discarded
        case .sendsUnread: .traffic
        case .rewritesHashed, .computesOneDigest: .digest
        case .skipsPieces, .skipsUnfitPieces, .keepsUnchecked, .trustsDamage, .trustsSeeds: .pieces
        case .trustsTails: .tails
        case .keepsLeftovers, .reusesEarly, .ignoresClose: .reuse
        case .takesInterim, .countsPadding, .acceptsCutChunks: .response
        case .acceptsCutStreams, .mixesStreams, .completesByLengthAlone: .response
        case .reportsRetries, .resendsForever, .resendsRefused, .reportsRefused, .resendsProcessed: .resend
        case .ignoresGoAway, .exceedsStreams: .streams
        case .keepsCredit, .givesCreditPaused: .credit
        case .ignoresCalm, .opensFurther: .connections
        case .drainsForever: .drain
        case .wakesNobody: .turns
        case .shrinksToOne: .fair
        }
    }
}
