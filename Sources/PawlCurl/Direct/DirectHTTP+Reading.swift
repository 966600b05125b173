#if os(Linux)
import Glibc
import PawlCore
import PawlEngine

// From the socket to the sink.
extension DirectHTTP {
    /// Reading of one connection in one round: enough to be worth the way, little enough for the others to get on.
    private static let turn = 4 << 20
    /// A head comes in the first read, and a small body with it.
    private static let firstRead = 128 * 1024
    /// So many records make a write worth its call, and are still in the processor's cache when it comes.
    private static let secureRead = 256 * 1024
    /// Longer heads than this are not taken.
    private static let longestHead = 256 * 1024

    /// Reads until nothing is there, the turn is over or the transfer stands still.
    func advance(_ connection: DirectConnection) {
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

    private func receive(_ exchange: DirectExchange, _ connection: DirectConnection) -> Int {
        var size = unsafe min(max(1024, exchange.request.bufferSize), buffer.count)
        if connection.secure != nil { size = min(size, Self.secureRead) }
        if !exchange.hasHead {
            size = min(size, Self.firstRead)
        } else if case .length(let left) = connection.body {
            size = Int(min(left, Int64(size)))
        }
        let space = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
        switch unsafe connection.receive(into: space, isOneEnough: !exchange.hasHead) {
        case .nothing: return 0
        case .closed: closed(exchange, connection)
        case .failed(let fault): lost(exchange, connection, fault)
        case .bytes(let count, _):
            unsafe take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), exchange, connection)
            return count
        }
        return 0
    }

    /// Deals with bytes of an answer, wherever in it they stand.
    private func take(
        _ bytes: UnsafeRawBufferPointer,
        _ exchange: DirectExchange,
        _ connection: DirectConnection
    ) {
        var rest = unsafe bytes
        while !exchange.hasHead {
            guard let count = unsafe collectHead(rest, connection) else {
                return checkBeginning(exchange, connection)
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            guard closeHead(exchange, connection) else { return }
            if unsafe !exchange.hasHead && rest.isEmpty { return }
        }
        unsafe deliver(rest, exchange, connection)
        if exchange.drainable != nil, exchange.sink != nil { goOnDraining(exchange) }
    }

    // MARK: the head

    /// Adds to the head, and tells how many of `bytes` belong to it; `nil` when its end is still to come.
    private func collectHead(_ bytes: UnsafeRawBufferPointer, _ connection: DirectConnection) -> Int? {
        if connection.head.isEmpty, let end = unsafe Self.headEnd(bytes, from: 0) {
            unsafe connection.head.append(contentsOf: bytes[..<end])
            return end
        }
        let known = connection.head.count
        unsafe connection.head.append(contentsOf: bytes)
        let end = unsafe connection.head.withUnsafeBytes { head in
            unsafe Self.headEnd(head, from: max(0, known - 3))
        }
        guard let end else { return nil }
        connection.head.removeSubrange(end...)
        return end - known
    }

    /// Where the empty line ends; lines may end in bare line feeds (RFC 9112 §2.2).
    private static func headEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var index = start
        while index < bytes.count, let found = unsafe memchr(base + index, 0x0A, bytes.count - index) {
            let next = unsafe UnsafeRawPointer(found) - base + 1
            guard next < bytes.count else { return nil }
            if unsafe bytes[next] == 0x0A { return next + 1 }
            if unsafe next + 1 < bytes.count && bytes[next] == 0x0D && bytes[next + 1] == 0x0A {
                return next + 2
            }
            index = next
        }
        return nil
    }

    /// Ends the transfer when what came cannot become a head.
    private func checkBeginning(_ exchange: DirectExchange, _ connection: DirectConnection) {
        if !AnswerFraming.canBegin(connection.head) {
            fail(exchange, TransferFault(.malformed, "the answer is not HTTP"))
        } else if connection.head.count > Self.longestHead {
            fail(exchange, TransferFault(.malformed, "the head of the answer is too long"))
        }
    }

    /// A head is complete.
    ///
    /// `false`: the transfer is over or does not go on here.
    private func closeHead(_ exchange: DirectExchange, _ connection: DirectConnection) -> Bool {
        let framing: AnswerFraming
        var head: ResponseHead
        do throws(TransferFault) {
            guard connection.head.count <= Self.longestHead else {
                throw TransferFault(.malformed, "the head of the answer is too long")
            }
            (framing, head) = try AnswerFraming.read(connection.head)
        } catch {
            fail(exchange, error)
            return false
        }
        guard !framing.isInterim else {
            connection.head.removeAll(keepingCapacity: true)
            return true
        }
        connection.body = framing.body
        connection.chunks = ChunkDecoder()
        connection.keeps = framing.keepsConnection
        if !framing.cookies.isEmpty { onCookies(exchange.request, framing.cookies) }
        exchange.hasHead = true
        if connection.turns == 1, connection.secure != nil { handshakes.answered(exchange.route) }
        guard let sink = exchange.sink else { return false }
        head.lines = connection.head
        let goesOn = sink.transfer(exchange.id, head: head)
        guard exchange.sink != nil else { return false }
        if !goesOn { drain(exchange, connection) }
        return true
    }

    // MARK: the body

    /// Hands bytes of the body on, as far as they go.
    func deliver(
        _ bytes: UnsafeRawBufferPointer,
        _ exchange: DirectExchange,
        _ connection: DirectConnection
    ) {
        switch connection.body {
        case .none: unsafe finish(exchange, connection, isClean: bytes.isEmpty)
        case .length(let left):
            let count = Int(min(left, Int64(bytes.count)))
            guard unsafe offer(bytes, count, exchange, connection) else { return }
            connection.body = .length(left - Int64(count))
            if left == Int64(count) { finish(exchange, connection, isClean: count == bytes.count) }
        case .untilClose:
            _ = unsafe offer(bytes, bytes.count, exchange, connection)
        case .chunked:
            unsafe deliverChunks(bytes, exchange, connection)
        }
    }

    private func deliverChunks(
        _ bytes: UnsafeRawBufferPointer,
        _ exchange: DirectExchange,
        _ connection: DirectConnection
    ) {
        var rest = unsafe bytes
        while true {
            let (framing, step) = unsafe connection.chunks.scan(rest)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[framing...])
            switch step {
            case .hungry: return
            case .broken:
                return fail(exchange, TransferFault(.truncated, "the chunks of the answer are broken"))
            case .end: return unsafe finish(exchange, connection, isClean: rest.isEmpty)
            case .data(let count):
                guard unsafe offer(rest, count, exchange, connection) else { return }
                connection.chunks.take(count)
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// Offers the first `count` of `bytes` to the sink.
    ///
    /// `false`: it did not take them. All of `bytes` are held when it paused.
    private func offer(
        _ bytes: UnsafeRawBufferPointer,
        _ count: Int,
        _ exchange: DirectExchange,
        _ connection: DirectConnection
    ) -> Bool {
        guard count > 0 else { return true }
        if let drainable = exchange.drainable {
            exchange.drainable = drainable - count
            if drainable < count { end(exchange, .stopped) }
            return drainable >= count
        }
        guard let sink = exchange.sink else { return false }
        let answer = unsafe sink.transfer(
            exchange.id,
            chunk: UnsafeRawBufferPointer(rebasing: bytes[..<count])
        )
        guard exchange.sink != nil else { return false }
        switch answer {
        case .taken: return true
        case .pause:
            exchange.isPaused = true
            unsafe exchange.held.append(contentsOf: bytes)
        case .stop: end(exchange, .stopped)
        }
        return false
    }

    /// Lets a paused transfer go on.
    func goOn(_ exchange: DirectExchange) {
        exchange.isPaused = false
        guard let connection = exchange.connection else { return }
        if !exchange.held.isEmpty {
            let held = exchange.held
            exchange.held = []
            unsafe held.withUnsafeBytes { unsafe deliver($0, exchange, connection) }
        }
        advance(connection)
    }
}

#endif
