import PawlBase
import PawlHTTP

// WebSockets (RFC 6455).
extension WebLoop {
    /// The handshake is complete; the handler decides whether to accept it.
    func upgrade(_ connection: WebConnection, _ request: WebRequest, key: String) {
        if let refusal = handler.refusal(ofSocket: request) { return refuse(connection, refusal) }
        guard write(ResponseHeadWriter.switching(accept: WebLoop.proof(of: key)), on: connection) else {
            return kill(connection)
        }
        connection.stage = .socket
        connection.isAnnounced = true
        setTimeout(connection.isKnown ? 0 : limits.authenticationTimeout, of: connection)
        handler.opened(connection.id, request: request)
        let rest = connection.reader.takeRest()
        unsafe rest.withUnsafeBytes { unsafe connection.frames.take($0) }
        if !readFrames(of: connection) { kill(connection) }
    }

    /// RFC 6455 §4.2.2.
    private static func proof(of key: String) -> String {
        Base64.encode(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// Delivers complete messages, up to the limit of pending ones; returns whether the connection stays open.
    func readFrames(of connection: WebConnection) -> Bool {
        while case .socket = connection.stage, connection.messages.count < limits.messages {
            switch connection.frames.next() {
            case .incomplete:
                look(at: connection.frames.count, of: connection) { connection.frames.arriving }
                let isTooMuch = !connection.isKnown && connection.frames.count > limits.unauthenticatedBody
                if isTooMuch { end(connection, code: 1009) }
                return count(connection)
            case .message(let message):
                connection.looked = 0
                connection.messages.append(message.count)
                handler.received(message, from: connection.id)
            case .ping(let payload):
                var pong: [UInt8] = []
                FrameWriter.pong(payload, into: &pong)
                guard enqueue(pong, on: connection) else { return false }
            case .close: end(connection, code: 1000)
            case .broken(let code): end(connection, code: code)
            }
        }
        return count(connection)
    }

    /// Sends pending data and the close reason, and ends the connection.
    private func end(_ connection: WebConnection, code: UInt16) {
        var bytes: [UInt8] = []
        while let message = connection.dequeue() { bytes += message }
        FrameWriter.close(code, into: &bytes)
        _ = write(bytes, on: connection)
        connection.stage = .closing(isTold: false)
        setTimeout(limits.idleTime, of: connection)
        wakeWriter(of: connection)
    }

    func respond(with bytes: [UInt8], on connection: WebConnection) {
        guard !connection.messages.isEmpty else { return }
        connection.messages.removeFirst()
        push(bytes, on: connection)
        if !readFrames(of: connection) { kill(connection) }
    }

    /// Sends pending data in one write where possible: events come in bursts, and each system call costs more than
    /// their bytes.
    func sendMessages(on connection: WebConnection) -> Bool {
        guard connection.hasBacklog else {
            if connection.isEnding { end(connection, code: 1001) }
            return true
        }
        var frames: [UInt8] = []
        while frames.count < WebLoop.chunk, let message = connection.dequeue() { frames += message }
        _ = count(connection)
        guard write(frames, on: connection) else { return false }
        if connection.hasBacklog || connection.isEnding { wakeWriter(of: connection) }
        return true
    }
}
