import PawlCore

/// Asks the background service over its socket file (HTTP/1.1, JSON-RPC 2.0).
struct ServiceClient: Sendable {
    let socket: String

    /// Whether somebody listens there.
    func isAnswered() throws(Failure) -> Bool { try ServiceConnection.open(socket) != nil }

    /// Calls a method; `wish` and `place` say in errors what was wanted of what.
    @discardableResult
    func call(
        _ method: String,
        _ parameters: JSON = [],
        to wish: String,
        _ place: String? = nil
    ) throws(Failure) -> JSON {
        let letter: JSON = ["id": "pawl", "method": .string(method), "params": parameters]
        let answer = try ask(letter)
        if let result = answer["result"] { return result }
        let code = answer["error"]?["code"]?.integer ?? 1
        throw Failure(
            Failure.Code(rawValue: UInt8(exactly: code) ?? 1),
            "cannot \(wish)",
            at: place ?? "the service at \(socket)",
            because: answer["error"]?["message"]?.string ?? "the service's answer cannot be understood"
        )
    }

    /// Several calls at once; `.null` stands for those that were refused.
    func call(_ calls: [(method: String, parameters: JSON)]) throws(Failure) -> [JSON] {
        let letters = calls.map { call -> JSON in
            ["id": "pawl", "method": .string(call.method), "params": call.parameters]
        }
        return (try ask(.array(letters)).array ?? []).map { $0["result"] ?? .null }
    }

    /// What happens from now on, see ``ServiceStream``.
    func events() throws(Failure) -> ServiceStream {
        var connection = try connected()
        try connection.send(Array("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        _ = try ServiceClient.head(&connection)
        return ServiceStream(connection)
    }

    private func ask(_ letter: JSON) throws(Failure) -> JSON {
        var connection = try connected()
        let body = letter.utf8
        let head =
            "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        try connection.send(Array(head.utf8) + body)
        let answer = try connection.bytes(try ServiceClient.head(&connection) ?? 0)
        do throws(JSON.ParsingError) { return try JSON.parse(answer) } catch {
            throw connection.lost("its answer is not JSON: \(error.why)")
        }
    }

    private func connected() throws(Failure) -> ServiceConnection {
        if let connection = try ServiceConnection.open(socket) { return connection }
        throw Failure(
            .notFound,
            "cannot ask",
            at: socket,
            because: "no service runs there",
            remedy: "'pawl serve' starts one, and so does 'pawl add'"
        )
    }

    /// Reads the head of an answer and gives the length of the body, if it is told.
    private static func head(_ connection: inout ServiceConnection) throws(Failure) -> Int? {
        var length: Int?
        var isFirst = true
        while let line = try connection.line(), !line.isEmpty {
            let text = String(decoding: line, as: UTF8.self)
            if isFirst, !text.hasPrefix("HTTP/1.1 ") { throw connection.lost("it does not speak HTTP") }
            isFirst = false
            let parts = text.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == "content-length" {
                length = Int(parts[1].filter { $0 != " " }).map { max(0, $0) }
            }
        }
        if isFirst { throw connection.lost("it ended without an answer") }
        return length
    }
}

/// The service's events, one after another.
struct ServiceStream: ~Copyable {
    private var connection: ServiceConnection

    init(_ connection: consuming ServiceConnection) { self.connection = connection }

    /// For `poll`.
    var descriptor: Int32 { connection.descriptor }

    /// The next event; `nil` when the service has ended.
    mutating func next() throws(Failure) -> JSON? {
        while let line = try connection.line() {
            if let event = try? JSON.parse(line) { return event }
        }
        return nil
    }

    /// All that have arrived, after waiting for some; `nil` when the service has ended.
    mutating func arrived() throws(Failure) -> [JSON]? {
        guard try connection.fill() else { return nil }
        var events: [JSON] = []
        while connection.hasLine, let line = try connection.line() {
            if let event = try? JSON.parse(line) { events.append(event) }
        }
        return events
    }
}
