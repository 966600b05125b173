import PawlBase

/// One request and its receiver.
final class HTTP1Exchange {
    let id: TransferID
    let request: TransferRequest
    let settings: ConnectionSettings
    let connectionKey: ConnectionKey
    /// The receiver; `nil` once the transfer is detached.
    private(set) var sink: (any TransferSink)?
    /// The connection of the response; `nil` while the request waits for one.
    ///
    /// Each holds the other until `HTTP1Socket.release`.
    var connection: HTTP1Socket?
    /// The attempt to connect without libcurl.
    var attempt: HTTP1ConnectionID?
    /// Whether such an attempt has failed.
    var needsCurl = false
    /// The bytes that the sink did not take when it paused, framing included.
    var held: [UInt8] = []
    /// Whether the file or the socket has rejected splice(2).
    var cannotSplice = false
    /// What is measured of a measured request.
    var timing = TransferTiming()
    /// When its host was looked up, if it waited for that.
    var lookup: LookupTime?
    /// Whether the request was sent again because a reused connection was lost, which happens at most once.
    var isRetry = false

    init(_ request: TransferRequest, as id: TransferID, sink: any TransferSink, settings: ConnectionSettings) {
        self.id = id
        self.request = request
        self.sink = sink
        self.settings = settings
        connectionKey = ConnectionKey(request)
    }

    /// Drops the receiver: nothing is delivered any more.
    func detach() { sink = nil }
}
