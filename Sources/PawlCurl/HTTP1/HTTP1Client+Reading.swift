import Glibc
import PawlCore
import PawlEngine

// From the socket to the sink.
extension HTTP1Client {
    /// The limit for one connection in one round: worth the call, and short enough for the others.
    private static let turn = 4 << 20
    /// The header section is in the first read, and a small body with it.
    private static let firstRead = 128 * 1024
    /// Enough records to be worth a write call, and still in the processor's cache when they are written.
    private static let secureRead = 256 * 1024

    /// Reads until the socket is empty, the turn is over or the transfer is paused.
    func advance(_ connection: HTTP1Connection) {
        var left = Self.turn
        while let exchange = connection.exchange, !exchange.isPaused, connection.canRead {
            guard left > 0 else { return readSoon(connection) }
            if let target = spliceTarget(exchange, connection) {
                left -= splice(exchange, connection, to: target)
            } else {
                left -= receive(exchange, connection)
            }
        }
    }

    private func receive(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection) -> Int {
        var size = unsafe min(max(1024, exchange.request.bufferSize), buffer.count)
        if connection.secure != nil { size = min(size, Self.secureRead) }
        if !exchange.hasHead {
            size = min(size, Self.firstRead)
        } else if case .length(let left) = connection.reader.body {
            size = Int(min(left, Int64(size)))
        }
        let isTooEarly = connection.isTooEarly
        let space = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
        switch unsafe connection.receive(into: space, isOneEnough: !exchange.hasHead) {
        case .nothing: return 0
        case .closed: closed(exchange, connection)
        case .failed(let fault): lost(exchange, connection, fault)
        case .bytes(let count, _):
            guard !isTooEarly else {
                refuse(
                    exchange,
                    connection,
                    TransferFault(.malformed, "the server responded before the request was sent")
                )
                break
            }
            guard isWorthDraining(exchange, count) else { break }
            unsafe take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), exchange, connection)
            return count
        }
        return 0
    }

    /// Whether an unwanted body, framing included, is still within the limit.
    private func isWorthDraining(_ exchange: HTTP1Exchange, _ count: Int) -> Bool {
        guard let drainable = exchange.drainable else { return true }
        exchange.drainable = drainable - count
        if drainable < count { end(exchange, .stopped) }
        return drainable >= count
    }

    /// Processes bytes at any position of a response.
    func take(
        _ bytes: UnsafeRawBufferPointer,
        _ exchange: HTTP1Exchange,
        _ connection: HTTP1Connection
    ) {
        var rest = unsafe bytes
        reading: while true {
            let (used, step) = unsafe connection.reader.scan(rest)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[used...])
            switch step {
            case .incomplete: break reading
            case .head(let head): guard deliver(head, exchange, connection) else { return }
            case .data(let count):
                guard unsafe offer(rest, count, exchange, connection) else { return }
                connection.reader.take(count)
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            case .end: return unsafe finish(exchange, connection, isClean: rest.isEmpty)
            case .broken(let fault): return refuse(exchange, connection, fault)
            }
        }
        if exchange.drainable != nil, exchange.sink != nil { goOnDraining(exchange) }
    }

    /// Delivers the final header section to the sink.
    ///
    /// Returns `false` when the transfer is over or does not continue here.
    private func deliver(
        _ head: ResponseHead,
        _ exchange: HTTP1Exchange,
        _ connection: HTTP1Connection
    ) -> Bool {
        let cookies = connection.reader.cookies
        if !cookies.isEmpty { onCookies(exchange.request, cookies) }
        exchange.hasHead = true
        if connection.turns == 1, connection.secure != nil { handshakes.answered(exchange.connectionKey) }
        guard let sink = exchange.sink else { return false }
        let isWanted = sink.transfer(exchange.id, head: head)
        guard exchange.sink != nil else { return false }
        if !isWanted { drain(exchange, connection) }
        // The rest of a body that cannot be drained is not reported.
        return exchange.connection != nil
    }

    /// Offers the first `count` of `bytes` to the sink.
    ///
    /// Returns `false` when the sink did not take them. All of `bytes` are held when it paused.
    private func offer(
        _ bytes: UnsafeRawBufferPointer,
        _ count: Int,
        _ exchange: HTTP1Exchange,
        _ connection: HTTP1Connection
    ) -> Bool {
        guard exchange.drainable == nil else { return true }
        guard let sink = exchange.sink else { return false }
        let result = unsafe sink.transfer(
            exchange.id,
            chunk: UnsafeRawBufferPointer(rebasing: bytes[..<count])
        )
        guard exchange.sink != nil else { return false }
        switch result {
        case .taken: return true
        case .pause:
            exchange.isPaused = true
            unsafe exchange.held.append(contentsOf: bytes)
        case .stop: end(exchange, .stopped)
        }
        return false
    }

    /// Resumes a paused transfer.
    func goOn(_ exchange: HTTP1Exchange) {
        exchange.isPaused = false
        guard let connection = exchange.connection else { return }
        if !exchange.held.isEmpty {
            let held = exchange.held
            exchange.held = []
            unsafe held.withUnsafeBytes { unsafe take($0, exchange, connection) }
        }
        advance(connection)
    }
}
