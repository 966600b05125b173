import PawlCore
import PawlEngine

/// One request and what is known of its answer.
final class HTTP1Exchange {
    let id: TransferID
    let request: TransferRequest
    let profile: HTTP1Settings
    let connectionKey: ConnectionKey
    /// `nil` when nobody waits for this transfer any more.
    private(set) var sink: (any TransferSink)?
    /// Where its answer comes; `nil` while it waits for a connection.
    ///
    /// Each holds the other until `HTTP1Connection.end`.
    var connection: HTTP1Connection?
    /// Whether the sink has the head.
    var hasHead = false
    var isPaused = false
    /// What the sink did not take when it paused, framing included.
    var held: [UInt8] = []
    /// Whether the file or the socket has refused splice(2).
    var cannotSplice = false
    /// Whether a kept connection died under it, which happens once to each at most.
    var isRetry = false
    /// How much of the rest of the body may be read for nobody; `nil` when somebody wants it.
    var drainable: Int?
    /// When the draining is given up.
    var drainLimit = Instant(nanoseconds: 0)

    init(
        _ request: TransferRequest,
        as id: TransferID,
        sink: any TransferSink,
        profile: HTTP1Settings
    ) {
        self.id = id
        self.request = request
        self.sink = sink
        self.profile = profile
        connectionKey = ConnectionKey(request)
    }

    /// Forgets the receiver: nothing is delivered any more.
    func detach() { sink = nil }
}
