import PawlBase
import PawlTestKit

/// Transfers from a scripted server, each on a connection of its own, in virtual time.
final class ScriptedTransport: Transport {
    private final class Exchange {
        let id: TransferID
        let sink: any TransferSink
        let response: ScriptedServer.Response
        var reader = ResponseReader()
        var rest: ArraySlice<UInt8>
        var due: Instant?
        var isOver = false

        init(_ id: TransferID, _ sink: any TransferSink, _ response: ScriptedServer.Response, due: Instant) {
            (self.id, self.sink, self.response, self.due) = (id, sink, response, due)
            rest = response.bytes[...]
            reader.begin()
        }
    }

    private let server: ScriptedServer
    private let timeline: Timeline
    private var exchanges: [Exchange] = []

    init(_ server: ScriptedServer, _ timeline: Timeline) {
        self.server = server
        self.timeline = timeline
    }

    func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        let due = timeline.now + .milliseconds(5)
        exchanges.append(Exchange(id, sink, server.response(to: request.range), due: due))
    }

    func cancel(_ id: TransferID) {
        exchanges.first { $0.id == id }?.isOver = true
        exchanges.removeAll { $0.id == id }
    }

    func resume(_ id: TransferID) { exchanges.first { $0.id == id }?.due = timeline.now }

    func begin() -> Instant? { exchanges.compactMap(\.due).min() }

    func work() {
        let now = timeline.now
        for exchange in exchanges where !exchange.isOver {
            guard let due = exchange.due, due <= now else { continue }
            exchange.due = nil
            advance(exchange)
        }
    }

    private func advance(_ exchange: Exchange) {
        if let fault = exchange.response.fault { return end(exchange, .failed(fault)) }
        while !exchange.isOver {
            let (used, step) = unsafe exchange.rest.withUnsafeBytes { unsafe exchange.reader.scan($0) }
            exchange.rest = exchange.rest.dropFirst(used)
            switch step {
            case .incomplete: return endOfBytes(exchange)
            case .head(let head): if !exchange.sink.transfer(exchange.id, head: head) { end(exchange, .stopped) }
            case .data(let count):
                // As much as a read has; the next one comes later.
                let chunk = exchange.rest.prefix(min(count, 32_768))
                switch unsafe chunk.withUnsafeBytes({ unsafe exchange.sink.transfer(exchange.id, chunk: $0) }) {
                case .taken:
                    exchange.reader.take(chunk.count)
                    exchange.rest = exchange.rest.dropFirst(chunk.count)
                    exchange.due = timeline.now + .milliseconds(1)
                    return
                case .pause: return
                case .stop: end(exchange, .stopped)
                }
            case .end: end(exchange, .complete)
            case .broken(let fault): end(exchange, .failed(fault))
            }
        }
    }

    private func endOfBytes(_ exchange: Exchange) {
        let lost = TransferFault(.connectionLost, foreign: "the connection was lost")
        switch exchange.response.ending {
        case .stall: break
        case .reset: end(exchange, .failed(lost))
        case .close:
            switch exchange.reader.close() {
            case .complete: end(exchange, .complete)
            case .withoutResponse: end(exchange, .failed(lost))
            case .truncated(let fault): end(exchange, .failed(fault))
            }
        }
    }

    private func end(_ exchange: Exchange, _ end: TransferEnd) {
        guard !exchange.isOver else { return }
        exchange.isOver = true
        exchanges.removeAll { $0 === exchange }
        exchange.sink.transferEnded(exchange.id, end)
    }
}

struct ScriptedTransports: TransportMaker {
    let server: ScriptedServer
    let timeline: Timeline

    func makeTransport(on poller: any Poller) -> any Transport { ScriptedTransport(server, timeline) }
}
