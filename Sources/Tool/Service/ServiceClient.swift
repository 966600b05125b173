import PawlBase

/// A client of the background service over its Unix socket (HTTP/1.1, JSON-RPC 2.0).
package struct ServiceClient: Sendable {
    let socket: String
    /// Whether no option and no variable names the socket.
    var isUsual = false
    /// The download root that commands use without options.
    var root: String?

    /// Whether a service can be reached.
    ///
    /// Throws if one is running that cannot.
    func isServiceRunning() throws(Failure) -> Bool { try ServiceFinder(self).connection() != nil }

    /// Calls a method; `action` and `place` name the action and its object in errors.
    @discardableResult func call(
        _ method: String, _ parameters: JSON = [], to action: String, _ place: String? = nil,
        _ patience: ServicePatience = .usual
    ) throws(Failure) -> JSON {
        try result(of: try request(method, parameters, patience).wait(), to: action, place)
    }

    /// Sends a call, without waiting for its reply.
    func request(
        _ method: String, _ parameters: JSON, _ patience: ServicePatience
    ) throws(Failure) -> ServiceRequest {
        try request(["id": "pawl", "method": .string(method), "params": parameters], patience)
    }

    /// The result in the reply to a call; see ``call(_:_:to:_:_:)``.
    func result(of reply: JSON, to action: String, _ place: String? = nil) throws(Failure) -> JSON {
        if let result = reply["result"] { return result }
        let code = reply["error"]?["code"]?.integer ?? 1
        // JSON-RPC's code for invalid parameters.
        let known: Failure.Code = code == -32602 ? .badOption : .unknown
        let why = reply["error"]?["message"]?.string ?? "invalid response from the service"
        // A message that says what failed needs no prefix.
        let isWhole = why.hasPrefix("cannot ")
        throw Failure(
            UInt8(exactly: code).map { Failure.Code(rawValue: $0) } ?? known, isWhole ? "" : "cannot \(action)",
            at: place ?? "the service at \(socket)", because: why,
            remedy: why.hasPrefix("there is no download ") ? "'pawl list' shows the IDs" : "")
    }

    /// The whole id of the download that the beginning of an id names.
    func id(_ beginning: String, to action: String) throws(Failure) -> String {
        try call("pawl.show", [.string(beginning)], to: action, beginning)["id"]?.string ?? beginning
    }

    /// Sends several calls as a batch, see ``ServiceRequest/results(of:)``.
    func request(
        _ calls: [(method: String, parameters: JSON)], _ patience: ServicePatience
    ) throws(Failure) -> ServiceRequest {
        let messages = calls.map { call -> JSON in
            ["id": "pawl", "method": .string(call.method), "params": call.parameters]
        }
        return try request(.array(messages), patience)
    }

    /// Opens the stream of events from now on, see ``ServiceStream``.
    func events() throws(Failure) -> ServiceStream {
        let request = ServiceRequest(try connected(.unlimited))
        try request.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try request.stream()
    }

    private func request(_ message: JSON, _ patience: ServicePatience) throws(Failure) -> ServiceRequest {
        let request = ServiceRequest(try connected(patience))
        let body = message.text
        try request.send(
            "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body)
        return request
    }

    private func connected(_ patience: ServicePatience) throws(Failure) -> ServiceConnection {
        let finder = ServiceFinder(self)
        if let connection = try finder.connection(patience) { return connection }
        throw Failure(
            .notFound, "the Pawl service is not running", at: "(socket \(socket))", because: "",
            remedy: finder.other.map { Remedy($0) } ?? "start it with 'pawl serve' or 'pawl add'")
    }
}

/// A request to the service, and as much of its response as has arrived.
struct ServiceRequest: ~Copyable {
    private var connection: ServiceConnection
    private var isHeadRead = false
    private var hasStatus = false
    private var length = 0

    init(_ connection: consuming ServiceConnection) { self.connection = connection }

    /// For `poll`.
    var descriptor: Int32 { connection.descriptor }

    borrowing func send(_ text: String) throws(Failure) { try connection.send(Array(text.utf8)) }

    /// Waits for the whole reply.
    consuming func wait() throws(Failure) -> JSON {
        while true { if let reply = try receive() { return reply } }
    }

    /// Waits for bytes and takes them in; returns the reply when it is complete.
    mutating func receive() throws(Failure) -> JSON? {
        guard try connection.fill() else {
            throw connection.lost(
                isHeadRead
                    ? "connection closed in the middle of a response" : "connection closed without a response")
        }
        guard try readHead(), let body = connection.bytes(length) else { return nil }
        do throws(JSON.ParsingError) { return try JSON.parse(body) } catch {
            throw connection.lost("the response is not JSON: \(error.why)")
        }
    }

    /// Waits for the header section; what follows are events.
    consuming func stream() throws(Failure) -> ServiceStream {
        while try !readHead() {
            guard try connection.fill() else { throw connection.lost("connection closed without a response") }
        }
        return ServiceStream(connection)
    }

    /// Returns whether the whole header section has arrived.
    private mutating func readHead() throws(Failure) -> Bool {
        while !isHeadRead, let line = connection.line() {
            let text = String(decoding: line, as: UTF8.self)
            if !hasStatus, !text.hasPrefix("HTTP/1.1 ") { throw connection.lost("the response is not HTTP") }
            hasStatus = true
            isHeadRead = text.isEmpty
            let parts = text.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == "content-length" {
                length = Int(parts[1].filter { $0 != " " }).map { max(0, $0) } ?? 0
            }
        }
        return isHeadRead
    }

    /// The results in the reply to a batch; that of a rejected call is `.null`.
    static func results(of reply: JSON) -> [JSON] { (reply.array ?? []).map { $0["result"] ?? .null } }
}

/// The stream of the service's events.
struct ServiceStream: ~Copyable {
    private var connection: ServiceConnection

    init(_ connection: consuming ServiceConnection) { self.connection = connection }

    /// For `poll`.
    var descriptor: Int32 { connection.descriptor }

    /// Waits for the next event; `nil` when the service has stopped.
    mutating func next() throws(Failure) -> JSON? {
        while true {
            while let line = connection.line() { if let event = try? JSON.parse(line) { return event } }
            guard try connection.fill() else { return nil }
        }
    }

    /// Waits for bytes and returns the events that are complete; `nil` when the service has stopped.
    mutating func arrived() throws(Failure) -> [JSON]? {
        guard try connection.fill() else { return nil }
        var events: [JSON] = []
        while let line = connection.line() { if let event = try? JSON.parse(line) { events.append(event) } }
        return events
    }
}
