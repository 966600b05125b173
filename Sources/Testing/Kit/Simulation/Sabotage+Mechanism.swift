import Pawl

extension Sabotage {
    /// What has to happen in a world before this can be noticed, as a tally counts it: the sabotage shows that it counts.
    package var mechanism: String {
        switch self {
        case .flipsBits, .shiftsWrites, .cutsFiles, .litters: "published"
        case .claimsWithoutSync: "checkpoints"
        case .skipsCheckpoints: "power cuts"
        case .forgetsCursors: "kills"
        case .confusesFiles, .hidesJournals: "journals reopened"
        case .hidesThrottling, .hidesSilence: "throttling responses of hosts"
        case .misreadsBytes: "whole contents compared that stay the same"
        case .widensDownloads: "connections reused"
        case .mutesVerdicts: "restarts from 0"
        case .doublesLanes: "steals"
        case .addsSlot, .removesSlot: "slots changed"
        case .ignoresPauses: "pauses"
        case .believesMonitor: "false reports of a lost network"
        case .neverGivesUp, .restartsFailed: "retries: network"
        case .withholdsEnds: "connections cut"
        case .breaksAtOnce: "responses that broke after the bytes to compare or before"
        case .shortensParts: "bytes compared in parts"
        case .cutsWholeFiles, .undatesWholeFiles: "twice: whole files named at once"
        case .undatesPartFiles: "twice: published"
        case .forgetsSelection: "requested parts changed"
        case .confusesHosts: "redirects to another host"
        case .hidesCodings: "coded responses"
        case .hidesPartCodings: "coded responses to parts"
        case .repeatsTags: "contents changed"
        case .disguisesPages: "pages instead of parts"
        case .disguisesLatePages: "pages right after a change"
        case .disguisesTaggedPages: "pages with the tag of the content"
        case .sendsUnread: "downloads under a limit whose traffic was counted"
        case .rewritesHashed: "races under a checksum"
        case .computesOneDigest: "files published with several digests"
        case .skipsPieces: "pieces of a source fetched again"
        case .skipsUnfitPieces: "failed: pieces of another length"
        case .keepsUnchecked: "failed: pieces of a kept file"
        case .sharesParts: "names claimed by two downloads"
        case .trustsDamage: "bytes of part files damaged"
        case .trustsSeeds: "part files begun with seeds"
        case .trustsTails: "foreign tails truncated"
        case .hidesHoles: "holes of existing files"
        case .endsFilesEarly: "files sent by FTP"
        case .keepsLeftovers: "leftovers on idle connections"
        case .reusesEarly: "bodies drained"
        case .ignoresClose: "connections ended by Connection: close"
        case .takesInterim: "early hints"
        case .countsPadding: "chunked bodies with padding"
        case .acceptsCutChunks: "chunks cut"
        case .reportsRetries, .resendsForever: "requests sent again"
        case .acceptsCutStreams: "streams ended early"
        case .mixesStreams: "reads with content of several streams"
        case .completesByLengthAlone: "streams reset after all their content"
        case .ignoresGoAway: "GOAWAY"
        case .exceedsStreams: "streams beyond the number that was announced"
        case .resendsRefused, .reportsRefused: "requests refused beside others"
        case .resendsProcessed: "streams reset within their content"
        case .keepsCredit: "streams that used up their window"
        case .givesCreditPaused: "content held for receivers that paused"
        case .ignoresCalm: "GOAWAY: ENHANCE_YOUR_CALM"
        case .opensFurther: "further connections of HTTP/2"
        case .drainsForever: "drains given up"
        case .wakesNobody: "waits for hosts"
        case .shrinksToOne: "limits of hosts seen"
        }
    }
}

extension QueueSabotage {
    /// The same of a queue's world.
    package var mechanism: String {
        let name =
            switch self {
            case .dropsSyncs: "writes of SQLite lost in power cuts"
            case .losesDownloads: QueueCommand.Kind.add.rawValue
            case .losesOptions: QueueCommand.Kind.options.rawValue
            case .losesURLs: QueueCommand.Kind.replaceURL.rawValue
            case .losesPauses: QueueCommand.Kind.pause.rawValue
            case .losesRemovals: QueueCommand.Kind.remove.rawValue
            case .losesPublishing: "kills inside a disk call"
            case .keepsOutdatedFiles: "kills inside a write"
            case .addsSlot: QueueCommand.Kind.slots.rawValue
            case .hidesRoom: "full disks"
            case .cutsFiles: "finished"
            case .identifiesByName: "files that the user replaces"
            case .beginsAgain: "progress on disks taken away"
            case .hidesAdditions: "events of new downloads"
            case .hidesStates: "events of states"
            case .hidesChanges: "events of changes"
            case .hidesQueueChanges: "events of the queue itself"
            case .hidesMissedEvents: "events that were dropped"
            }
        return "queue: " + name
    }
}
