import CWebSockets
import PawlCore

// Requests come in, answers go out.
extension WebLoop {
    /// The head is complete; whether the connection goes on.
    func headArrived(_ wsi: OpaquePointer) -> Bool {
        let connection = unsafe connection(wsi)
        let head = unsafe WebHead(wsi: wsi)
        let request = head.request(connection.id, door: connection.door)
        connection.stage = .request
        connection.arriving = []
        connection.request = request
        guard request.method == .post else {
            ask(connection)
            return true
        }
        guard let length = head.contentLength, !head.isChunked else {
            refuse(connection, WebResponse(411, text: "a request with a body has to say its Content-Length"))
            return true
        }
        if length > Int64(limits.body) {
            refuse(connection, WebResponse(413, text: "the request is larger than \(limits.body) bytes"))
        } else if length <= 0 {
            ask(connection)
        }
        return true
    }

    func bodyArrived(_ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let connection = unsafe connection(wsi)
        guard connection.request != nil else { return true }
        guard connection.arriving.count + bytes.count <= limits.body, hold(bytes.count, for: connection)
        else {
            return false
        }
        unsafe connection.arriving.append(contentsOf: bytes)
        return true
    }

    func bodyIsComplete(_ wsi: OpaquePointer) {
        let connection = unsafe connection(wsi)
        guard connection.request != nil else { return }
        connection.request?.body = connection.arriving
        connection.arriving = []
        ask(connection)
    }

    private func ask(_ connection: WebConnection) {
        guard let request = connection.request else { return }
        connection.request = nil
        // Until the answer is there the clock is the handler's.
        unsafe lws_set_timeout(connection.wsi, NO_PENDING_TIMEOUT, 0)
        let id = connection.id
        handler.answer(request) { [mailbox] response in mailbox.post(.reply(id, response)) }
    }

    private func refuse(_ connection: WebConnection, _ response: WebResponse) {
        connection.request = nil
        var response = response
        // The body that nobody reads must not be taken for the next request.
        response.closes = true
        reply(response, on: connection)
    }

    func reply(_ response: WebResponse, on connection: WebConnection) {
        guard case .request = connection.stage else { return }
        // The request is forgotten, the answer takes its place.
        guard hold((response.heldBytes) - connection.held, for: connection) else {
            unsafe lws_set_timeout(connection.wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC)
            return
        }
        connection.stage = .answer(response, sent: 0, hasHead: false)
        if case .stream = response.body { connection.isAnnounced = true }
        guard let delay = response.delay else {
            _ = unsafe lws_callback_on_writable(connection.wsi)
            return
        }
        let (seconds, attoseconds) = delay.components
        unsafe lws_set_timer_usecs(connection.wsi, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }

    /// Sends the next part of the answer; whether the connection goes on.
    func sendAnswer(_ wsi: OpaquePointer) -> Bool {
        let connection = unsafe connection(wsi)
        guard case .answer(let response, let sent, let hasHead) = connection.stage else { return true }
        if !hasHead {
            guard sendHead(of: response, on: connection) else { return false }
            connection.stage = .answer(response, sent: 0, hasHead: true)
            if response.length == 0 { return complete(connection, response) }
            // The body at once where there is room: to be called again costs a look at every connection there is.
            guard unsafe lws_send_pipe_choked(wsi) == 0 else {
                _ = unsafe lws_callback_on_writable(wsi)
                return true
            }
        }
        switch response.body {
        case .bytes(let bytes):
            return unsafe sendPart(of: response, on: connection, sent: sent, count: bytes.count) { room in
                unsafe room.copyBytes(from: bytes[Int(sent)..<(Int(sent) + room.count)])
                return room.count
            }
        case .file(let file):
            return unsafe sendPart(of: response, on: connection, sent: sent, count: Int(file.length)) {
                room in
                unsafe file.read(into: room, at: sent)
            }
        case .stream: return sendPiece(on: connection)
        }
    }

    private func sendPart(
        of response: WebResponse,
        on connection: WebConnection,
        sent: Int64,
        count: Int,
        fill: (UnsafeMutableRawBufferPointer) -> Int
    ) -> Bool {
        let wish = min(WebLoop.chunk, count - Int(sent))
        guard let base = unsafe scratch.baseAddress else { return false }
        let start = unsafe base + pawl_web_room
        let got = unsafe fill(UnsafeMutableRawBufferPointer(start: start, count: wish))
        // A file that has become shorter cannot be answered any more: the client sees a cut.
        guard got > 0 else { return false }
        let isLast = Int(sent) + got == count
        guard
            unsafe lws_write(connection.wsi, start, got, isLast ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP)
                >= got
        else { return false }
        connection.stage = .answer(response, sent: sent + Int64(got), hasHead: true)
        if isLast { return complete(connection, response) }
        _ = unsafe lws_callback_on_writable(connection.wsi)
        return true
    }

    private func sendPiece(on connection: WebConnection) -> Bool {
        guard let piece = connection.dequeue() else { return !connection.isEnding }
        _ = hold(-piece.count, for: connection)
        guard write(piece, on: connection, as: LWS_WRITE_HTTP) else { return false }
        if connection.hasBacklog || connection.isEnding {
            _ = unsafe lws_callback_on_writable(connection.wsi)
        }
        return true
    }

    func write(_ bytes: [UInt8], on connection: WebConnection, as kind: lws_write_protocol) -> Bool {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: pawl_web_room + bytes.count) { room in
            guard let base = room.baseAddress else { return false }
            let start = unsafe base + pawl_web_room
            unsafe UnsafeMutableRawBufferPointer(start: start, count: bytes.count).copyBytes(from: bytes)
            return unsafe lws_write(connection.wsi, start, bytes.count, kind) >= bytes.count
        }
    }

    private func complete(_ connection: WebConnection, _ response: WebResponse) -> Bool {
        connection.stage = .request
        _ = hold(-connection.held, for: connection)
        let wsi = unsafe connection.wsi
        return unsafe lws_http_transaction_completed(wsi) == 0 && !response.closes && !isStopping
    }

    func sendHead(of response: WebResponse, on connection: WebConnection) -> Bool {
        guard let base = unsafe scratch.baseAddress else { return false }
        let wsi = unsafe connection.wsi
        let start = unsafe base + pawl_web_room
        let end = unsafe start + WebLoop.chunk
        var position: UnsafeMutablePointer<UInt8>? = unsafe start
        guard unsafe lws_add_http_header_status(wsi, UInt32(response.status), &position, end) == 0 else {
            return false
        }
        var fields = response.fields
        if let type = response.contentType { fields.append(("content-type", type)) }
        if response.length == nil || response.closes { fields.append(("connection", "close")) }
        for (name, value) in fields {
            let bytes = Array(value.utf8)
            let added = unsafe lws_add_http_header_by_name(
                wsi,
                Array((name.lowercased() + ":").utf8) + [0],
                bytes,
                Int32(bytes.count),
                &position,
                end
            )
            guard added == 0 else { return false }
        }
        if let length = response.length {
            guard unsafe lws_add_http_header_content_length(wsi, lws_filepos_t(length), &position, end) == 0
            else {
                return false
            }
        }
        return unsafe lws_finalize_write_http_header(wsi, start, &position, end) == 0
    }
}

extension WebResponse {
    /// Of the body in bytes; `nil` for a stream.
    fileprivate var length: Int64? {
        switch body {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.length
        case .stream: nil
        }
    }

    /// Bytes of memory that it takes until it is sent.
    fileprivate var heldBytes: Int {
        switch body {
        case .bytes(let bytes): bytes.count
        case .file, .stream: 0
        }
    }
}
