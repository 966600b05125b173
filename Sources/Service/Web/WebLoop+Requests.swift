import PawlBase
import PawlHTTP

// Requests and responses: one at a time on each connection.
extension WebLoop {
    /// Handles received bytes; returns whether the connection stays open.
    func arrived(_ connection: WebConnection, _ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { awaitTurn(connection) }
        switch connection.stage {
        case .closing:
            // A client that does not stop sending is disconnected.
            connection.discarded += bytes.count
            return connection.discarded <= limits.body(over: connection.listener)
        case .response where connection.isStream: return true
        case .socket:
            unsafe connection.frames.take(bytes)
            return count(connection) && readFrames(of: connection)
        case .request, .waiting, .response:
            unsafe connection.reader.take(bytes)
            return count(connection) && readRequest(of: connection)
        }
    }

    /// Continues parsing at the start of a request; returns whether the connection stays open.
    func readRequest(of connection: WebConnection) -> Bool {
        while case .request = connection.stage {
            switch connection.reader.next() {
            case .incomplete:
                guard mayContinue(connection) else { return true }
                setClock(of: connection)
                return true
            case .head(let head): begin(head, on: connection)
            case .body(let body): ask(connection, body)
            case .broken(let fault): refuse(connection, WebResponse(fault.status, text: fault.text))
            }
        }
        return true
    }

    /// The timeout for the whole request, from its first byte.
    private func setClock(of connection: WebConnection) {
        guard connection.reader.count > 0 || connection.request != nil else {
            connection.isClocked = false
            return setTimeout(limits.idleTime, of: connection)
        }
        guard !connection.isClocked else { return }
        connection.isClocked = true
        setTimeout(limits.requestTime, of: connection)
    }

    private func begin(_ head: RequestHead, on connection: WebConnection) {
        var request = WebRequest(head, connection: connection.id, listener: connection.listener)
        if head.webSocketKey != nil {
            request.isFromLoopback = connection.socket.isFromLoopback
        }
        connection.isHead = head.method == "HEAD"
        connection.keepsConnection = head.keepsConnection
        if handler.recognizes(request) { recognize(connection) }
        if let key = head.webSocketKey { return upgrade(connection, request, key: key) }
        let most = limits.body(over: connection.listener)
        guard head.bodyLength <= most else {
            return refuse(connection, WebResponse(413, text: "the request body is larger than \(most) bytes"))
        }
        connection.request = request
        connection.looked = 0
        if head.expectsContinue, connection.reader.count < head.bodyLength {
            _ = write(ResponseHeadWriter.interimContinue, on: connection)
        }
    }

    /// Large bodies are accepted from authenticated clients only.
    private func mayContinue(_ connection: WebConnection) -> Bool {
        guard connection.request != nil, !connection.isKnown else { return true }
        look(at: connection.reader.count, of: connection) { Array(connection.reader.arriving) }
        guard !connection.isKnown, connection.reader.count > limits.unauthenticatedBody else { return true }
        refuse(
            connection,
            WebResponse(
                413, text: "the body of an unauthenticated request is limited to \(limits.unauthenticatedBody) bytes"))
        return false
    }

    /// Lets the handler search for the secret at two lengths of the received data.
    func look(at count: Int, of connection: WebConnection, _ beginning: () -> [UInt8]) {
        guard !connection.isKnown else { return }
        for border in [limits.unauthenticatedAllowance, limits.unauthenticatedBody]
        where connection.looked < border && count >= border {
            connection.looked = border
            if handler.recognizes(beginning()) { return recognize(connection) }
        }
    }

    private func ask(_ connection: WebConnection, _ body: [UInt8]) {
        guard var request = connection.request else { return }
        request.body = body
        connection.inHand = body.count
        connection.request = nil
        connection.isClocked = false
        connection.stage = .waiting
        // Until there is a response, timeouts are up to the handler.
        setTimeout(0, of: connection)
        let id = connection.id
        handler.respond(to: request) { [mailbox] response in mailbox.post(.reply(id, response)) }
    }

    func refuse(_ connection: WebConnection, _ response: WebResponse) {
        connection.request = nil
        connection.stage = .waiting
        var response = response
        // Later bytes must not be parsed as a request.
        response.closes = true
        reply(response, on: connection)
    }

    func reply(_ response: WebResponse, on connection: WebConnection) {
        guard case .waiting = connection.stage else { return }
        if response.isForKnown { recognize(connection) }
        // The response replaces the request.
        connection.inHand = response.heldBytes
        guard count(connection) else { return kill(connection) }
        connection.stage = .response(response, sent: 0, hasHead: false)
        if case .stream = response.body { connection.isAnnounced = true }
        if let delay = response.delay { return setDelay(delay, of: connection) }
        setTimeout(limits.idleTime, of: connection)
        wakeWriter(of: connection)
    }

    /// What was sent before is gone; returns whether the connection stays open.
    func isWritable(_ connection: WebConnection) -> Bool {
        switch connection.stage {
        case .request, .waiting: return true
        case .response: return sendResponse(on: connection)
        case .socket: return sendMessages(on: connection)
        case .closing(let isTold): return isTold || close(connection)
        }
    }

    /// Sends the next part of the response; returns whether the connection stays open.
    private func sendResponse(on connection: WebConnection) -> Bool {
        guard case .response(let response, let sent, let hasHead) = connection.stage else { return true }
        let closes = response.closes || response.isStream || !connection.keepsConnection || isStopping
        let head = hasHead ? [] : ResponseHeadWriter.bytes(of: response, closes: closes)
        let length = connection.isHead ? 0 : response.length
        guard let length else {
            setTimeout(0, of: connection)
            return sendPiece(on: connection, response, after: head)
        }
        // A client that reads, however slowly, stays connected; one that does not read is disconnected.
        setTimeout(limits.idleTime, of: connection)
        let count = max(0, min(WebLoop.chunk - head.count, Int(length - sent)))
        let part = count > 0 ? response.part(at: sent, count) : []
        // A file that was truncated cannot be sent completely: the client sees the connection close early.
        guard !part.isEmpty || count == 0, write(hasHead ? part : head + part, on: connection) else { return false }
        let next = sent + Int64(part.count)
        if next == length { return complete(connection, closes: closes) }
        connection.stage = .response(response, sent: next, hasHead: true)
        wakeWriter(of: connection)
        return true
    }

    private func sendPiece(on connection: WebConnection, _ response: WebResponse, after head: [UInt8]) -> Bool {
        connection.stage = .response(response, sent: 0, hasHead: true)
        guard let piece = connection.dequeue() else {
            guard head.isEmpty || write(head, on: connection) else { return false }
            return connection.isEnding ? complete(connection, closes: true) : true
        }
        _ = count(connection)
        guard write(head + piece, on: connection) else { return false }
        if connection.hasBacklog || connection.isEnding { wakeWriter(of: connection) }
        return true
    }

    private func complete(_ connection: WebConnection, closes: Bool) -> Bool {
        connection.inHand = 0
        _ = count(connection)
        guard !closes else { return close(connection) }
        connection.stage = .request
        guard connection.isKnown || connection.reader.count == 0 else {
            awaitTurn(connection)
            return true
        }
        return readRequest(of: connection)
    }

    /// Ends the connection once everything was sent: the client has a moment to read it and to close.
    func close(_ connection: WebConnection) -> Bool {
        guard connection.socket.isFlushed else {
            connection.stage = .closing(isTold: false)
            wakeWriter(of: connection)
            return true
        }
        connection.stage = .closing(isTold: true)
        setTimeout(limits.closingTime, of: connection)
        connection.socket.endSending()
        return true
    }
}

extension WebRequest {
    fileprivate init(_ head: RequestHead, connection: ConnectionID, listener: ListenerKind) {
        self.init(
            connection: connection, listener: listener, method: Method(rawValue: head.method) ?? .other, path: head.path
        )
        query = head.query.map { ($0.name, $0.value) }
        for field in Field.allCases { fields[field] = head.fields[field.rawValue] }
    }
}

extension WebResponse {
    /// Bytes of memory that it takes until it is sent.
    fileprivate var heldBytes: Int {
        switch body {
        case .bytes(let bytes): bytes.count
        case .file, .stream: 0
        }
    }

    /// So many bytes of the body, or what the file has of them.
    fileprivate func part(at offset: Int64, _ count: Int) -> [UInt8] {
        switch body {
        case .bytes(let bytes): Array(bytes[Int(offset)..<Int(offset) + count])
        case .file(let file): file.read(count, at: offset)
        case .stream: []
        }
    }
}
