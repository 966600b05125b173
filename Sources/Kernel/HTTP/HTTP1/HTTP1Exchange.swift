import PawlBase

/// One request and its receiver.
final class HTTP1Exchange {
    let id: TransferID
    private(set) var request: TransferRequest
    private(set) var settings: RequestSettings
    private(set) var connectionKey: ConnectionKey
    let route: ProxyRoute?
    /// Whether an HTTP proxy reads the request.
    let usesAbsoluteForm: Bool
    /// The cookies of responses before it.
    var cookies: String?
    /// The receiver; `nil` once the transfer is detached.
    private(set) var sink: (any TransferSink)?
    /// The connection of the response; `nil` while the request waits for one.
    ///
    /// Each holds the other until `HTTP1Socket.release`.
    var connection: HTTP1Socket?
    /// The request for which a connection is established that may have HTTP/2.
    var shared: HTTP2Exchange?
    /// Whether the server has chosen none of the protocols that the handshake of its connection offered.
    var isOfUnknownVersion = false
    /// Whether it was to go over HTTP/2 before.
    private(set) var wasShared = false
    /// The connection that is being established for it.
    var connector: Connector?
    /// The bytes that the sink did not take when it paused, framing included.
    var held: [UInt8] = []
    /// Whether the file or the socket has rejected splice(2).
    var cannotSplice = false
    /// What is measured of a measured request.
    var timing = TransferTiming()
    /// Whether the request was sent again because a reused connection was lost, which happens at most once.
    var isRetry = false

    init(
        _ request: TransferRequest, as id: TransferID, by route: ProxyRoute?, sink: any TransferSink,
        settings: RequestSettings
    ) {
        self.id = id
        self.request = request
        self.sink = sink
        self.settings = settings
        self.route = route
        connectionKey = ConnectionKey(request, by: route)
        usesAbsoluteForm =
            route.map { ConnectTerms(request.address, settings.values, by: $0).usesAbsoluteForm } ?? false
    }

    /// The same request over HTTP/1.1; `nil` when it was cancelled.
    convenience init?(_ shared: HTTP2Exchange) {
        guard let sink = shared.sink else { return nil }
        self.init(shared.request, as: shared.id, by: shared.route, sink: sink, settings: shared.settings)
        wasShared = true
    }

    /// What its connection is made for.
    var terms: ConnectTerms { ConnectTerms(request.address, settings.values, by: route) }

    /// The same request, with other settings.
    func adopt(_ request: TransferRequest, _ settings: RequestSettings) {
        self.request = request
        self.settings = settings
        connectionKey = ConnectionKey(request, by: route)
    }

    /// Drops the receiver: nothing is delivered any more.
    func detach() { sink = nil }
}
