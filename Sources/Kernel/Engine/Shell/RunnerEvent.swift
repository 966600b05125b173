import PawlBase
import PawlCore
import PawlJournal

/// Events for a runner from other threads.
///
/// Large values are kept by reference, as in ``Action``.
enum RunnerEvent: Sendable {
    case checkpointed(Result<Void, Failure>)
    indirect case digested(Result<[Checksum], Failure>)
    indirect case digestedDecoded(Result<[Checksum]?, Failure>)
    indirect case foundSidecars(FoundDigests, of: WebAddress)
    indirect case pieceHashed(PieceMap.Check, Result<[UInt8], Failure>)
    case published(Result<String, Failure>)
    /// The owner has recorded the file's name, and the file may be published.
    case mayPublish(length: Int64, modified: UnixTime?)
    indirect case refreshed(source: Int, generation: UInt32, WebAddress?)
    /// There is a connection to this origin for it.
    indirect case turn(Origin)
    indirect case replied(HookOrder, HookReply)
    /// Another download has released descriptors.
    case descriptorReleased
}
