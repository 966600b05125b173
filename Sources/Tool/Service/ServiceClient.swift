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
        _ method: String, _ parameters: JSON = [], to action: String, _ place: String? = nil
    ) throws(Failure) -> JSON {
        let message: JSON = ["id": "pawl", "method": .string(method), "params": parameters]
        let reply = try ask(message)
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

    /// Sends several calls as a batch; the result of a rejected call is `.null`.
    func call(_ calls: [(method: String, parameters: JSON)]) throws(Failure) -> [JSON] {
        let messages = calls.map { call -> JSON in
            ["id": "pawl", "method": .string(call.method), "params": call.parameters]
        }
        return (try ask(.array(messages)).array ?? []).map { $0["result"] ?? .null }
    }

    /// Opens the stream of events from now on, see ``ServiceStream``.
    func events() throws(Failure) -> ServiceStream {
        var connection = try connected()
        try connection.send(Array("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        _ = try ServiceClient.head(&connection)
        return ServiceStream(connection)
    }

    private func ask(_ message: JSON) throws(Failure) -> JSON {
        var connection = try connected()
        let body = message.utf8
        let head =
            "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        try connection.send(Array(head.utf8) + body)
        let response = try connection.bytes(try ServiceClient.head(&connection) ?? 0)
        do throws(JSON.ParsingError) { return try JSON.parse(response) } catch {
            throw connection.lost("the response is not JSON: \(error.why)")
        }
    }

    private func connected() throws(Failure) -> ServiceConnection {
        let finder = ServiceFinder(self)
        if let connection = try finder.connection() { return connection }
        throw Failure(
            .notFound, "the Pawl service is not running", at: "(socket \(socket))", because: "",
            remedy: finder.other.map { Remedy($0) } ?? "start it with 'pawl serve' or 'pawl add'")
    }

    /// Reads the header section of a response and returns its Content-Length, if any.
    private static func head(_ connection: inout ServiceConnection) throws(Failure) -> Int? {
        var length: Int?
        var isFirst = true
        while let line = try connection.line(), !line.isEmpty {
            let text = String(decoding: line, as: UTF8.self)
            if isFirst, !text.hasPrefix("HTTP/1.1 ") { throw connection.lost("the response is not HTTP") }
            isFirst = false
            let parts = text.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == "content-length" {
                length = Int(parts[1].filter { $0 != " " }).map { max(0, $0) }
            }
        }
        if isFirst { throw connection.lost("connection closed without a response") }
        return length
    }
}

/// The stream of the service's events.
struct ServiceStream: ~Copyable {
    private var connection: ServiceConnection

    init(_ connection: consuming ServiceConnection) { self.connection = connection }

    /// For `poll`.
    var descriptor: Int32 { connection.descriptor }

    /// Returns the next event; `nil` when the service has stopped.
    mutating func next() throws(Failure) -> JSON? {
        while let line = try connection.line() { if let event = try? JSON.parse(line) { return event } }
        return nil
    }

    /// Waits for events and returns all that have arrived; `nil` when the service has stopped.
    mutating func arrived() throws(Failure) -> [JSON]? {
        guard try connection.fill() else { return nil }
        var events: [JSON] = []
        while connection.hasLine, let line = try connection.line() {
            if let event = try? JSON.parse(line) { events.append(event) }
        }
        return events
    }
}
