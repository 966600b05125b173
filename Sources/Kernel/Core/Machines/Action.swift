package import PawlBase
package import PawlJournal

/// The effects that the shell carries out; plain facts with ids.
///
/// Large values are kept by reference: lists of actions are copied many times for each file.
package enum Action: Hashable, Sendable {
    /// Send a request.
    indirect case open(LaneOrder)
    /// Cancel a request; nothing of it is delivered afterwards.
    case drop(LaneID)
    /// Move the end of the lane.
    case limit(LaneID, end: Int64)
    /// Find the file's place on disk and call `claimed`.
    case claim(LaneID)
    /// Find out whether the file that is there was made from the content that the lane's response names, and call `recognized`.
    case recognize(LaneID)
    /// Deliver the body of the lane's response.
    case admit(LaneID)
    /// Discard all bytes on disk: empty the part file and its journal.
    case startOver
    /// The file will have this many bytes.
    case reserve(Int64)
    /// The journal's facts changed.
    case record
    /// Make what is written durable.
    case checkpoint
    case alarm(Alarm)
    /// Request another address of the source's content and call `refreshed` with this generation.
    case refresh(source: Int, generation: UInt32)
    /// Ask the program, and call `replied`.
    indirect case ask(HookOrder)
    /// Keep the content in memory; a part file without a byte is removed.
    case useMemory(limit: Int64)
    /// The origin refused the connection of a lane, which has been dropped.
    indirect case refused(LaneRefusal)
    /// Compute the digests of the first `length` bytes and call `digested`.
    case verify([HashAlgorithm], length: Int64)
    /// Compute the digests of what the first `length` bytes decode to, and call `digestedDecoded`.
    case verifyDecoded([HashAlgorithm], coding: String, length: Int64)
    /// Look for digests beside the source's content, and in the description that it links to, and call `foundSidecars`.
    indirect case findSidecars(source: Int, hasSums: Bool, description: WebAddress?)
    /// Compute the digest of the piece's bytes and call `pieceHashed`.
    indirect case check(PieceMap.Check, HashAlgorithm)
    /// The bytes of the range on disk are wrong, and count as missing from now on.
    case discard(ByteRange)
    /// Move the file to its place and call `published`.
    case publish(length: Int64, modified: UnixTime?)
    /// Close the part file; keep it with its journal, or remove both.
    case close(keeping: Bool)
    /// Restore the old name and length of the finished file that was to be continued.
    case restoreOriginal
    /// Restore the old name of the finished file that was continued, with its first `length` bytes.
    case restoreExtended(length: Int64)
    case notify(StatusUpdate)

    /// Whether its execution writes the present facts to the journal.
    var recordsFacts: Bool {
        switch self {
        case .startOver, .discard: true
        case _: false
        }
    }
}

extension [Action] {
    /// Most lists that are joined are empty: then the other one is the result, without a copy.
    static func + (first: [Action], second: [Action]) -> [Action] {
        if first.isEmpty { return second }
        if second.isEmpty { return first }
        var all: [Action] = []
        all.reserveCapacity(first.count + second.count)
        all.append(contentsOf: first)
        all.append(contentsOf: second)
        return all
    }
}

/// A request to send for one lane.
package struct LaneOrder: Hashable, Sendable {
    package var lane: LaneID
    package var source: Int
    package var address: WebAddress
    /// In the resource's offsets, as in the header field.
    package var requested: RequestedRange
    package var connection: ConnectionUse
    package var bypassesCaches: Bool
    /// The user or the program has requested it for now, whatever the host has requested.
    package var isForced = false
    /// The length that an FTP server's file had before.
    package var knownLength: Int64?
    /// The content is wanted only if it has changed since.
    package var unchangedSince: UnixTime?
}

/// The refusal of a lane's connection, by a response or before any.
package struct LaneRefusal: Hashable, Sendable {
    package var lane: LaneID
    package var reason: HostNote.Reason
    /// The wait that the server requested for the URL.
    package var retryAfter: Interval?
    /// Whether another lane receives bytes from the same source.
    package var isSameFile: Bool
}

/// A scheduled wakeup.
///
/// An alarm whose generation is not the present one is obsolete and is ignored.
package struct Alarm: Hashable, Sendable {
    package var generation: UInt32
    package var at: Instant
}

/// An update of the status of a download, for its owner.
package enum StatusUpdate: Hashable, Sendable {
    case phase(DownloadState)
    case started(total: Int64?, resumedAt: Int64)
    case notice(LocalizableMessage)
    indirect case retrying(Failure, after: Interval)
    case finished(length: Int64, wasThere: Bool)
    indirect case failed(Failure)
}

/// The disk's result of a claim.
package enum ClaimOutcome: Hashable, Sendable {
    case fresh
    case found(LoadedJournal)
    /// A finished file of this length is to be continued; nothing was ever written to its `holes`.
    case existing(length: Int64, holes: [ByteRange] = [])
    /// A finished file of this length is kept as it is.
    case skipped(length: Int64?)
    case failed(Failure)
}
