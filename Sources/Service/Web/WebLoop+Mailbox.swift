// Messages of other threads: responses, WebSocket messages, and commands.
extension WebLoop {
    func drainMailbox() {
        for message in mailbox.take() {
            switch message {
            case .reply(let id, let response): if let connection = connections[id] { reply(response, on: connection) }
            case .push(let ids, let messages):
                for id in ids {
                    guard let connection = connections[id] else { continue }
                    for message in messages { push(message, on: connection) }
                }
            case .response(let id, let bytes):
                if let connection = connections[id] { respond(with: bytes, on: connection) }
            case .markAuthenticated(let id):
                if let connection = connections[id] {
                    recognize(connection)
                    setTimeout(0, of: connection)
                }
            case .end(let id):
                guard let connection = connections[id] else { break }
                connection.isEnding = true
                wakeWriter(of: connection)
            case .beat: mailbox.beat()
            case .listen(let path, let completion): completion(listen(atSocket: path))
            case .stop(let completion):
                isStopping = true
                for connection in connections.values where connection.isSocket {
                    connection.isEnding = true
                    wakeWriter(of: connection)
                }
                onStopped.append(completion)
            }
        }
    }

    /// Each call sends one WebSocket message.
    func push(_ bytes: [UInt8], on connection: WebConnection) {
        var piece = bytes
        if connection.isSocket {
            piece = []
            FrameWriter.text(bytes, into: &piece)
        }
        if !enqueue(piece, on: connection) { kill(connection) }
    }

    /// `false` if the client does not read; it has missed data, so it must reconnect.
    func enqueue(_ bytes: [UInt8], on connection: WebConnection) -> Bool {
        guard connection.isAnnounced, !connection.isEnding else { return true }
        connection.enqueue(bytes)
        guard count(connection), connection.backlogBytes <= limits.backlog else { return false }
        wakeWriter(of: connection)
        return true
    }
}
