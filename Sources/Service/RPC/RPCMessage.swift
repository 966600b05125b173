import PawlBase

/// A message of a client: one call, or a batch in an array.
package enum RPCMessage: Hashable, Sendable {
    case one(RPCCall.Parsed)
    case batch([RPCCall.Parsed])

    /// The body of a POST, or a WebSocket's message.
    package static func parse(_ bytes: [UInt8]) -> RPCMessage {
        do throws(JSON.ParsingError) { return sort(try JSON.parse(bytes)) } catch {
            return .one(.refused(id: .null, .parse))
        }
    }

    private static func sort(_ value: JSON) -> RPCMessage {
        switch value {
        // Elements of a batch that are not objects are ignored.
        // Their number is checked before any of them is parsed.
        case .array(let values) where values.count > RPCDispatcher.mostCalls:
            .one(.refused(id: .null, .tooMany(RPCDispatcher.mostCalls)))
        case .array(let values): .batch(values.filter { $0.members != nil }.map(RPCCall.parse))
        case .null, .bool, .number, .string, .object: .one(RPCCall.parse(value))
        }
    }

    /// `GET /jsonrpc?method=M&id=I&params=BASE64`; with parameters alone they are a batch.
    package static func parse(query: (String) -> String?) -> RPCMessage {
        var parameters: JSON?
        if let coded = query("params"), !coded.isEmpty {
            // aria2 responds to an unreadable parameter with this code, not with the parse error's.
            guard let bytes = Base64.decode(coded.utf8), let value = try? JSON.parse(bytes) else {
                return .one(.refused(id: .null, .invalidRequest))
            }
            parameters = value
        }
        let (id, method) = (query("id").map(JSON.string), query("method").map(JSON.string))
        if id == nil, method == nil, case .array = parameters, let parameters { return sort(parameters) }
        let members = [("id", id), ("method", method), ("params", parameters)]
        return sort(.object(members.compactMap { name, value in value.map { JSON.Member(name, $0) } }))
    }
}
