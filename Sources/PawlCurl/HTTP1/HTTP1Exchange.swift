import PawlCore
import PawlEngine

/// One request and the state of its response.
final class HTTP1Exchange {
    let id: TransferID
    let request: TransferRequest
    let profile: HTTP1Settings
    let connectionKey: ConnectionKey
    /// The receiver; `nil` once the transfer is detached.
    private(set) var sink: (any TransferSink)?
    /// The connection of the response; `nil` while the request waits for one.
    ///
    /// Each holds the other until `HTTP1Connection.end`.
    var connection: HTTP1Connection?
    /// Whether the header section was delivered.
    var hasHead = false
    var isPaused = false
    /// The bytes that the sink did not take when it paused, framing included.
    var held: [UInt8] = []
    /// Whether the file or the socket has rejected splice(2).
    var cannotSplice = false
    /// Whether the request was sent again because a reused connection was lost, which happens at most once.
    var isRetry = false
    /// The number of further body bytes that may be discarded; `nil` when the sink wants it.
    var drainable: Int?
    /// The deadline for draining.
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

    /// Drops the receiver: nothing is delivered any more.
    func detach() { sink = nil }
}
