import PawlBase

/// One request and its receiver.
package final class SimulatedExchange {
    let id: TransferID
    let request: TransferRequest
    let sink: any TransferSink
    package let number: Int
    let connectionKey: ConnectionKey
    /// What the server does with the request, whenever it arrives.
    let fare: SimulatedNetwork.Fare
    /// The time from the first sending to the response.
    let wait: Interval
    /// The connection of the response; `nil` while the request waits for one.
    var connection: SimulatedConnection?
    /// The failure of a request without a connection.
    var failure: TransferFault?
    /// When that, or a resumption, is due.
    var ownDue: Instant?
    /// The bytes that the sink did not take when it paused, framing included.
    var held: [UInt8] = []
    /// The connection of HTTP/2, and the stream of the response.
    var place: (session: SimulatedSession, stream: HTTP2StreamID)?
    /// How often it was sent in vain on connections of HTTP/2 that served nothing else.
    var refusals = 0
    /// Since there is no room for it on connections of HTTP/2.
    var waitsForRoomUntil: Instant?
    /// Whether the request was sent again because a reused connection was lost.
    var isRetry = false
    var isPaused = false
    var isOver = false
    var backlog = SocketBacklog()
    var outages: Int

    // MARK: what the laws check

    /// The header section that the server has sent for this request.
    var expected: [UInt8] = []
    /// The response whose header section was delivered.
    var response: SimulatedResponse?
    /// The bytes of the body that the sink took.
    var sent: Int64 = 0
    /// How often the request was sent.
    var sendings = 0
    /// How often a connection of HTTP/2 refused it that had served others.
    private(set) var freeRefusals = 0
    /// Whether its last stream was refused.
    var wasRefused = false
    /// Whether the server has told its client to calm down.
    var wasCalmed = false

    init(
        _ request: TransferRequest, as id: TransferID, sink: any TransferSink,
        _ start: (number: Int, fare: SimulatedNetwork.Fare, wait: Interval), outages: Int
    ) {
        self.id = id
        self.request = request
        self.sink = sink
        (number, fare, wait) = start
        self.outages = outages
        connectionKey = ConnectionKey(request)
    }

    /// The time of the next event; `nil` when nothing is scheduled.
    var due: Instant? { ownDue ?? connection?.due }

    /// Its stream was refused by a connection that has served so many others.
    func refused(beside served: Int) {
        wasRefused = true
        if served > 0 { freeRefusals += 1 }
    }

    /// The length of the request's header section, roughly.
    var length: Int { 40 + request.address.text.utf8.count }
}
