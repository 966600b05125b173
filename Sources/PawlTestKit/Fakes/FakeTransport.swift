package import PawlCore
package import PawlEngine
import Synchronization

/// Transfers from a simulated network, in virtual time, exactly as the port specifies.
package final class FakeTransport: Transport {
    let network: SimulatedNetwork
    let timeline: Timeline
    private let seat: Int
    private let names: TransferNames
    private var exchanges: [SimulatedExchange] = []
    private var isDelivering = false
    private let generation: Int

    init(_ network: SimulatedNetwork, seat: Int, names: TransferNames) {
        self.network = network
        self.names = names
        timeline = network.timeline
        self.seat = seat
        generation = network.generation
    }

    package var wake: @Sendable () -> Void {
        { [timeline, seat] in timeline.wake(seat) }
    }

    package func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        precondition(!isDelivering, "a transfer was started inside a callback")
        precondition(names.use(id), "transfer \(id.rawValue) was used before")
        // A dead process sends nothing.
        guard network.generation == generation else { return }
        let (number, fare, wait) = network.begin(request)
        let exchange = SimulatedExchange(
            id: id,
            request: request,
            sink: sink,
            number: number,
            outages: network.outages
        )
        exchange.due = timeline.now + wait
        switch fare {
        case .answered(let response): exchange.stage = .answering(response)
        case .failed(let fault): exchange.stage = .failing(fault)
        case .silent: exchange.due = nil
        }
        exchanges.append(exchange)
        timeline.note("#\(number) \(request.address.text) \(request.range)")
    }

    package func cancel(_ id: TransferID) {
        guard let index = exchanges.firstIndex(where: { $0.id == id }) else { return }
        let exchange = exchanges.remove(at: index)
        exchange.isOver = true
        network.close(exchange.number, .cancelled, unread: unread(exchange))
        timeline.note("#\(exchange.number) cancelled")
    }

    package func resume(_ id: TransferID) {
        guard let exchange = exchanges.first(where: { $0.id == id }), exchange.isPaused else { return }
        exchange.backlog.resumes(at: timeline.now, rate: rate(of: exchange))
        exchange.isPaused = false
        exchange.due = timeline.now
    }

    package func perform(until deadline: Instant?) {
        precondition(!isDelivering, "perform was called inside a callback")
        breakLost()
        let isDead = network.generation != generation
        let dues = (isDead ? [] : exchanges.compactMap(\.due)) + [deadline].compactMap(\.self)
        timeline.wait(seat, until: dues.min())
        breakLost()
        guard network.generation == generation else { return }
        let now = timeline.now
        isDelivering = true
        let ready = exchanges.filter { $0.due.map { $0 <= now } ?? false }
        for exchange in ready where !exchange.isOver && !exchange.isPaused {
            // The delivery may kill the process.
            if network.generation == generation { deliver(exchange, now: now) }
        }
        isDelivering = false
    }

    /// Breaks the transfers in progress when the network was lost.
    private func breakLost() {
        let outages = network.outages
        for exchange in exchanges {
            let isCut = network.takeCut(exchange.number)
            guard isCut || exchange.outages < outages else { continue }
            exchange.outages = outages
            exchange.isPaused = false
            let cause = isCut ? "the connection was cut" : "the network went away"
            exchange.stage = .failing(TransferFault(.connectionLost, cause))
            exchange.due = timeline.now
        }
    }

    private func deliver(_ exchange: SimulatedExchange, now: Instant) {
        switch exchange.stage {
        case .silent: exchange.due = nil
        case .failing(let fault): end(exchange, .failed(fault))
        case .answering(let response): head(of: response, to: exchange, now: now)
        case .flowing(let response): chunk(of: response, to: exchange, now: now)
        }
    }

    private func head(of response: SimulatedResponse, to exchange: SimulatedExchange, now: Instant) {
        timeline.note("#\(exchange.number) head \(response.head.status)")
        network.answered(exchange.number, status: response.head.status)
        let isComplaint = [429, 503].contains(response.head.status)
        var told = response.head
        if isComplaint, network.hides(.hidesComplaints) { told.status = 500 }
        if network.hides(.hidesSilence) { told.retryAfter = nil }
        if [200, 206].contains(told.status) { network.disguise(&told) }
        if isComplaint {
            let wait = response.head.retryAfter.flatMap { Int64($0) }
            network.throttled(
                exchange.number,
                stillOpen: true,
                retryAfter: wait.map { .milliseconds($0 * 1000) }
            )
        }
        let goesOn = exchange.sink.transfer(exchange.id, head: told)
        guard !exchange.isOver else { return }
        guard goesOn else { return end(exchange, .stopped) }
        exchange.stage = .flowing(response)
        schedule(exchange, response, now: now)
    }

    /// Schedules the next chunk, or the event in place of it.
    private func schedule(_ exchange: SimulatedExchange, _ response: SimulatedResponse, now: Instant) {
        var left = response.length - exchange.sent
        if let fault = response.fault {
            left = min(left, fault.after - exchange.sent)
            if left <= 0, exchange.sent < response.length {
                exchange.stage = fault.end.map { .failing($0) } ?? .silent
                exchange.due = fault.end == nil ? nil : now
                return
            }
        }
        let host = exchange.request.address.host
        let (size, wait) = network.pace(
            of: response,
            host: host,
            buffer: exchange.request.bufferSize,
            left: max(0, left)
        )
        exchange.size = size
        exchange.due = now + wait
    }

    private func chunk(of response: SimulatedResponse, to exchange: SimulatedExchange, now: Instant) {
        guard exchange.size > 0 else { return end(exchange, .complete) }
        let start = response.start + exchange.sent
        let range = ByteRange(start, start + Int64(exchange.size))
        let taken = unsafe response.payload.bytes(in: range).withUnsafeBytes { bytes in
            unsafe exchange.sink.transfer(exchange.id, chunk: bytes)
        }
        timeline.note("#\(exchange.number) \(range) \(taken)")
        switch taken {
        case .taken, .stop: network.took(exchange.number, range)
        case .pause: break
        }
        guard !exchange.isOver else { return }
        switch taken {
        case .taken:
            exchange.sent += Int64(exchange.size)
            exchange.backlog.drains(Int64(exchange.size))
            schedule(exchange, response, now: now)
        case .pause:
            exchange.isPaused = true
            exchange.backlog.pauses(at: now)
            exchange.due = nil
        case .stop: end(exchange, .stopped)
        }
    }

    private func end(_ exchange: SimulatedExchange, _ end: TransferEnd) {
        exchange.isOver = true
        exchanges.removeAll { $0 === exchange }
        network.close(exchange.number, .told(end), unread: unread(exchange))
        timeline.note("#\(exchange.number) \(end)")
        if case .failed(let fault) = end, fault.kind == .connectionRefused {
            network.throttled(exchange.number, stillOpen: false, retryAfter: nil)
        }
        exchange.sink.transferEnded(exchange.id, end)
    }
}

/// One request in progress.
final class SimulatedExchange {
    enum Stage {
        case silent
        case failing(TransferFault)
        case answering(SimulatedResponse)
        case flowing(SimulatedResponse)
    }

    let id: TransferID
    let request: TransferRequest
    let sink: any TransferSink
    let number: Int
    var stage = Stage.silent
    /// The time of the next event; `nil` when nothing is scheduled.
    var due: Instant?
    var sent: Int64 = 0
    /// The size of the chunk that is due.
    var size = 0
    var isPaused = false
    var isOver = false
    var backlog = SocketBacklog()
    var outages: Int

    init(id: TransferID, request: TransferRequest, sink: any TransferSink, number: Int, outages: Int) {
        self.id = id
        self.request = request
        self.sink = sink
        self.number = number
        self.outages = outages
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

    package func makeTransport() -> any Transport {
        FakeTransport(network, seat: network.timeline.turn, names: names)
    }
}
