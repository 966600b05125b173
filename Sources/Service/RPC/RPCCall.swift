package import PawlBase

/// One call of a client (JSON-RPC 2.0 as aria2 speaks it).
package struct RPCCall: Hashable, Sendable {
    package var id: JSON
    package var method: String
    package var parameters: [JSON]

    package init(id: JSON, method: String, parameters: [JSON] = []) {
        self.id = id
        self.method = method
        self.parameters = parameters
    }

    /// A call, or the error response to its text.
    package enum Parsed: Hashable, Sendable {
        case call(RPCCall)
        case refused(id: JSON, RPCError)
    }

    package static func parse(_ value: JSON) -> Parsed {
        guard value.members != nil, let id = value["id"] else { return .refused(id: .null, .invalidRequest) }
        guard let method = value["method"]?.string else { return .refused(id: id, .invalidRequest) }
        guard let parameters = value["params"] else { return .call(RPCCall(id: id, method: method)) }
        guard let list = parameters.array else { return .refused(id: id, .invalidParameters) }
        return .call(RPCCall(id: id, method: method, parameters: list))
    }

    /// The secret in the first parameter, which is removed whether a secret is required or not.
    package mutating func takeToken() -> String? {
        guard let first = parameters.first?.string, first.hasPrefix("token:") else { return nil }
        parameters.removeFirst()
        return String(first.dropFirst("token:".count))
    }
}
