import Glibc
import PawlBase

// From the socket to the sink.
extension HTTP1Client {
    /// The limit for one connection in one round: worth the call, and short enough for the others.
    private static let turn = 4 << 20
    /// Enough records to be worth a write call, and still in the processor's cache when they are written.
    private static let secureRead = 256 * 1024

    /// Reads until the socket is empty, the turn is over or the transfer is paused.
    func advance(_ connection: HTTP1Socket) {
        var left = Self.turn
        while connection.ask({ $0.reads }), connection.canRead {
            guard left > 0 else { return readSoon(connection) }
            if let exchange = connection.exchange, let target = spliceTarget(exchange, connection) {
                left -= splice(exchange, connection, to: target)
            } else {
                left -= receive(connection)
            }
        }
    }

    private func receive(_ connection: HTTP1Socket) -> Int {
        if connection.ask({ $0.deliversBody }), let exchange = connection.exchange,
            exchange.sink?.holdsBack(exchange.id) == true
        {
            connection.machine.pause()
            return 0
        }
        let awaitsHead = connection.ask { $0.awaitsHead }
        let size = readSize(connection)
        let space = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
        switch unsafe connection.receive(into: space, isOneEnough: awaitsHead) {
        case .nothing: return 0
        case .closed: end(connection, connection.machine.ended())
        case .failed(let fault): end(connection, connection.machine.lost(fault))
        case .bytes(let count, _):
            // Determined after the read: before it, request and response may pass between the two.
            if let ending = connection.machine.received(count, unacknowledged: connection.unacknowledged) {
                end(connection, ending)
                return 0
            }
            unsafe take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), connection)
            return count
        }
        return 0
    }

    private func readSize(_ connection: HTTP1Socket) -> Int {
        let wanted = connection.exchange?.request.bufferSize ?? HTTP1Limits.longestDrain
        var size = unsafe min(max(1024, wanted), buffer.count)
        if connection.secure != nil { size = min(size, Self.secureRead) }
        return connection.ask { $0.readSize(atMost: size) }
    }

    /// Processes bytes at any position of a response.
    func take(_ bytes: UnsafeRawBufferPointer, _ connection: HTTP1Socket) {
        var rest = unsafe bytes
        while true {
            let (used, step) = unsafe connection.machine.scan(rest)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[used...])
            switch step {
            case .more: return
            case .head(let head): deliver(head, connection)
            case .data(let count):
                guard unsafe offer(rest, count, connection) else { return }
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            case .end(let ending): return end(connection, ending)
            }
        }
    }

    /// Delivers the final header section to the sink.
    private func deliver(_ head: ResponseHead, _ connection: HTTP1Socket) {
        guard let exchange = connection.exchange, let sink = exchange.sink else { return drop(connection) }
        let fields = connection.ask { $0.cookies }
        if !fields.isEmpty { cookies.store(fields, from: exchange.request) }
        if connection.ask({ $0.isFirstRequest }) {
            takeTickets(of: connection)
            idle.responded(exchange.connectionKey)
        }
        if exchange.request.isMeasured {
            exchange.timing.responseStart = clock.now
            exchange.timing.receivedHead = head.lines.count
            exchange.timing.networkProtocol = "http/1.1"
            sink.transfer(exchange.id, timing: exchange.timing)
        }
        let isWanted = sink.transfer(exchange.id, head: head)
        // The sink may have cancelled the transfer: then the connection is closed.
        guard exchange.sink != nil else { return }
        if isWanted { connection.machine.wantsBody() } else { refuseBody(connection) }
    }

    /// Offers the first `count` of `bytes` to the sink.
    ///
    /// Returns `false` when the sink did not take them. All of `bytes` are held when it paused.
    private func offer(_ bytes: UnsafeRawBufferPointer, _ count: Int, _ connection: HTTP1Socket) -> Bool {
        guard let exchange = connection.exchange, let sink = exchange.sink else { return false }
        let result = unsafe sink.transfer(exchange.id, chunk: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        guard exchange.sink != nil else { return false }
        switch result {
        case .taken:
            connection.machine.took(count)
            return true
        case .pause:
            connection.machine.pause()
            unsafe exchange.held.append(contentsOf: bytes)
        case .stop: end(connection, .stopped)
        }
        return false
    }

    /// Resumes a paused transfer.
    func resume(_ exchange: HTTP1Exchange) {
        guard let connection = exchange.connection, connection.ask({ $0.isPaused }) else { return }
        connection.machine.resume()
        if !exchange.held.isEmpty {
            let held = exchange.held
            exchange.held = []
            unsafe held.withUnsafeBytes { unsafe take($0, connection) }
        }
        advance(connection)
    }
}
