/// What the shell has to do; plain facts with ids.
///
/// What is large is kept by reference: lists of these are copied many times for each file.
package enum Action: Hashable, Sendable {
    /// Send a request.
    indirect case open(LaneOrder)
    /// Cancel a request; nothing of it is delivered any more.
    case drop(LaneID)
    /// The lane ends here instead, sooner or later than before.
    case limit(LaneID, end: Int64)
    /// Find the file's place on disk and call `claimed`.
    case claim(LaneID)
    /// Let the body of the lane's answer in.
    case admit(LaneID)
    /// Every byte on disk is void: empty the part file and its journal.
    case startOver
    /// The file will have this many bytes.
    case reserve(Int64)
    /// The journal's facts changed.
    case record
    /// Make what is written durable.
    case checkpoint
    case alarm(Alarm)
    /// Ask for another address of the source's content and call `refreshed` with this generation.
    case refresh(source: Int, generation: UInt32)
    /// The origin has too much to do.
    indirect case throttled(Origin, retryAfter: Interval?)
    /// The origin turned a further connection away without saying that it is one too many, while it serves others.
    case turnedAway(Origin)
    /// Compute the digest of the first `length` bytes and call `digested`.
    case verify(Checksum, length: Int64)
    /// Put the file in its place and call `published`.
    case publish(length: Int64, modified: UnixTime?)
    /// Close the part file; keep it with its journal, or remove both.
    case close(keeping: Bool)
    /// The finished file that was to be continued gets its old name and length back.
    case restoreOriginal
    case tell(Notice)
}

/// A request to send for one lane.
package struct LaneOrder: Hashable, Sendable {
    package var lane: LaneID
    package var source: Int
    package var address: WebAddress
    /// In the resource's offsets, as they go into the header.
    package var asked: RequestedRange
    package var connection: ConnectionUse
    package var bypassesCaches: Bool
}

/// An appointment.
///
/// A ring whose generation is not the present one comes too late and means nothing.
package struct Alarm: Hashable, Sendable {
    package var generation: UInt32
    package var at: Instant
}

/// What is worth telling the person.
package enum Notice: Hashable, Sendable {
    case phase(Phase)
    case started(total: Int64?, resumedAt: Int64)
    case notice(LocalizableMessage)
    indirect case retrying(Failure, after: Interval)
    case finished(length: Int64, wasThere: Bool)
    indirect case failed(Failure)
}

/// What a download is doing.
package enum Phase: Hashable, Sendable {
    case waiting
    case probing
    /// Bytes come in, or a retry is due.
    case transferring
    case waitingForNetwork
    case verifying
    case publishing
    case paused
    case preempted
    case finished
    case failed
    case removed
}

/// What the disk said to a claim.
package enum ClaimOutcome: Hashable, Sendable {
    case fresh
    case found(LoadedJournal)
    /// A finished file of this length is to be continued.
    case existing(length: Int64)
    case skipped
    case failed(Failure)
}
