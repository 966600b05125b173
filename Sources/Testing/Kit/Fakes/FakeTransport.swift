package import PawlBase
import Synchronization

/// Transfers from a simulated network, in virtual time, exactly as the port specifies.
///
/// It sends requests as `HTTP1Client` and `HTTP2Client` do, with the same pools and the same machine for each connection; only
/// the sockets are simulated.
package final class FakeTransport: Transport {
    let network: SimulatedNetwork
    let timeline: Timeline
    let sabotage: Sabotage?
    private let names: TransferNames
    private let generation: Int
    private var isDelivering = false
    /// The requests in progress, in their order.
    private(set) var exchanges: [SimulatedExchange] = []
    /// Requests to be sent.
    package var waiting: [SimulatedExchange] = []
    /// Requests that wait for the first TLS handshake of their connection key.
    var waitingForHandshake: [SimulatedExchange] = []
    /// Decides which connection carries a request.
    var pool = HTTP1Pool()
    /// All open connections, in the order in which they were opened.
    var connections: [SimulatedConnection] = []
    /// Connections whose unwanted bodies are discarded.
    var draining: [SimulatedConnection] = []
    var lastID: UInt64 = 0
    lazy var http2 = FakeHTTP2Client(self)

    init(_ network: SimulatedNetwork, names: TransferNames) {
        self.network = network
        self.names = names
        timeline = network.timeline
        generation = network.generation
        sabotage = network.sabotage
    }

    deinit {
        for connection in connections { connection.release() }
        for exchange in exchanges { exchange.place = nil }
    }

    var now: Instant { timeline.now }
    /// Whether the process has not been killed.
    var isAlive: Bool { network.generation == generation }

    package func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        precondition(!isDelivering, "a transfer was started inside a callback")
        precondition(names.use(id), "transfer \(id.rawValue) was used before")
        // A dead process sends nothing.
        guard isAlive else { return }
        let start = network.begin(request)
        let exchange = SimulatedExchange(request, as: id, sink: sink, start, outages: network.outages)
        exchanges.append(exchange)
        if http2.takes(request) { http2.start(exchange) } else { waiting.append(exchange) }
        timeline.note("#\(exchange.number) \(request.address.text) \(request.range)")
    }

    package func cancel(_ id: TransferID) {
        guard let exchange = exchanges.first(where: { $0.id == id }) else { return }
        let unread = unread(exchange)
        forget(exchange)
        if let connection = exchange.connection { drop(connection) }
        network.close(exchange.number, .cancelled, unread: unread)
        timeline.note("#\(exchange.number) cancelled")
    }

    package func resume(_ id: TransferID) {
        guard let exchange = exchanges.first(where: { $0.id == id }), exchange.isPaused else { return }
        exchange.backlog.resumes(at: now, rate: rate(of: exchange))
        exchange.isPaused = false
        exchange.ownDue = now
    }

    package func begin() -> Instant? {
        precondition(!isDelivering, "begin was called inside a callback")
        breakLost()
        guard isAlive else { return nil }
        http2.sendWaiting()
        sendWaiting()
        var dues = exchanges.compactMap(\.due) + connections.compactMap(\.due) + [http2.due()].compactMap(\.self)
        if sabotage != .drainsForever { dues += draining.compactMap(\.machine.deadline) }
        if !waitingForHandshake.isEmpty, let handshake = pool.deadline { dues.append(handshake) }
        return dues.min()
    }

    package func work() {
        precondition(!isDelivering, "work was called inside a callback")
        isDelivering = true
        deliver()
        isDelivering = false
    }

    /// Handles everything that is due.
    private func deliver() {
        breakLost()
        let now = now
        let ready = exchanges.filter { $0.due.map { $0 <= now } ?? false }
        for exchange in ready where !exchange.isOver {
            // The delivery may kill the process.
            guard isAlive else { return }
            if exchange.ownDue != nil {
                deliverOwn(exchange)
            } else if let connection = exchange.connection {
                arrive(at: connection)
            }
        }
        for connection in connections where connection.exchange == nil {
            if isAlive, let due = connection.due, due <= now { arrive(at: connection) }
        }
        if isAlive { http2.work() }
        if isAlive { endDraining() }
    }

    /// Fails a request without a connection, or resumes a paused one.
    private func deliverOwn(_ exchange: SimulatedExchange) {
        exchange.ownDue = nil
        if let fault = exchange.failure { return notify(exchange, .failed(fault)) }
        if exchange.place != nil { http2.resume(exchange) } else { resume(exchange) }
    }

    /// Breaks the transfers in progress when the network was lost.
    private func breakLost() {
        let outages = network.outages
        for connection in connections where connection.outages < outages {
            connection.outages = outages
            // The client learns it when it uses the connection.
            connection.isSevered = connection.exchange == nil
        }
        http2.breakLost(outages)
        for exchange in exchanges {
            let isCut = network.takeCut(exchange.number)
            guard isCut || exchange.outages < outages else { continue }
            exchange.outages = outages
            let cause = isCut ? "the connection was cut" : "the network went away"
            let fault = TransferFault(.connectionLost, foreign: cause)
            if let connection = exchange.connection {
                connection.schedule(.reset(fault), at: now)
            } else if let session = exchange.place?.session {
                if isCut { http2.lose(session) }
            } else {
                (exchange.failure, exchange.ownDue) = (fault, now)
            }
        }
    }

    /// Detaches the receiver: nothing is delivered any more.
    private func forget(_ exchange: SimulatedExchange) {
        exchange.isOver = true
        exchanges.removeAll { $0 === exchange }
        http2.release(exchange)
    }

    /// Informs the receiver that its transfer has ended.
    func notify(_ exchange: SimulatedExchange?, _ end: TransferEnd) {
        guard let exchange, !exchange.isOver else { return }
        let unread = unread(exchange)
        forget(exchange)
        network.close(exchange.number, .reported(end), unread: unread)
        timeline.note("#\(exchange.number) \(end)")
        if case .failed(let fault) = end, fault.kind == .connectionRefused {
            network.throttled(exchange.number, stillOpen: false, retryAfter: nil)
        }
        exchange.sink.transferEnded(exchange.id, end)
    }
}

/// The transfers of one engine, with unique ids.
final class TransferNames: Sendable {
    private let used = Mutex<Set<TransferID>>([])

    func use(_ id: TransferID) -> Bool { used.withLock { $0.insert(id).inserted } }
}

/// A transport on the simulated network for each loop of one engine.
package struct FakeTransports: TransportMaker {
    private let network: SimulatedNetwork
    private let names = TransferNames()

    package init(_ network: SimulatedNetwork) { self.network = network }

    package func makeTransport(on poller: any Poller) -> any Transport { FakeTransport(network, names: names) }
}
