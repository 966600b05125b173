package import PawlBase

/// A message of a client: one call, or a batch in an array.
package enum RPCMessage: Hashable, Sendable {
    case one(RPCCall.Parsed)
    case batch([RPCCall.Parsed])

    /// The body of a POST, or a WebSocket's message.
    package static func parse(_ bytes: [UInt8]) -> RPCMessage {
        do throws(JSON.ParsingError) { return sort(try JSON.parse(bytes)) } catch {
            guard let repaired = error.repaired else { return .one(.refused(id: .null, .parse)) }
            return .one(.refused(id: repaired["id"] ?? .null, .notText))
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
            guard let bytes = Base64.decode(coded.utf8) else { return .one(.refused(id: .null, .invalidRequest)) }
            do throws(JSON.ParsingError) { parameters = try JSON.parse(bytes) } catch {
                guard error.repaired != nil else { return .one(.refused(id: .null, .invalidRequest)) }
                return .one(.refused(id: query("id").map(JSON.string) ?? .null, .notText))
            }
        }
        let (id, method) = (query("id").map(JSON.string), query("method").map(JSON.string))
        if id == nil, method == nil, case .array = parameters, let parameters { return sort(parameters) }
        let members = [("id", id), ("method", method), ("params", parameters)]
        return sort(.object(members.compactMap { name, value in value.map { JSON.Member(name, $0) } }))
    }
}

/// The response to one call.
package struct RPCReply: Hashable, Sendable {
    package var id: JSON
    package var result: Result<JSON, RPCError>

    package init(id: JSON, result: Result<JSON, RPCError>) {
        self.id = id
        self.result = result
    }

    package var json: JSON {
        switch result {
        case .success(let value): ["id": id, "jsonrpc": "2.0", "result": value]
        case .failure(let error): ["id": id, "jsonrpc": "2.0", "error": error.json]
        }
    }

    package var status: Int {
        switch result {
        case .success: 200
        case .failure(let error): error.status
        }
    }
}

/// An encoding of calls and responses other than JSON.
package struct RPCEncoding: Sendable {
    /// As messages name it.
    package let name: String
    package let contentType: String
    /// `nil` if the message is invalid.
    package let parse: @Sendable ([UInt8]) -> RPCCall?
    /// The response to a call of this method.
    package let encode: @Sendable (_ reply: JSON, _ method: String) -> [UInt8]

    package init(
        name: String, contentType: String, parse: @escaping @Sendable ([UInt8]) -> RPCCall?,
        encode: @escaping @Sendable (_ reply: JSON, _ method: String) -> [UInt8]
    ) {
        self.name = name
        self.contentType = contentType
        self.parse = parse
        self.encode = encode
    }
}
