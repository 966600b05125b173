package import PawlBase

/// The error of a call, in aria2's wording, which clients compare.
package struct RPCError: Error, Hashable, Sendable {
    package var code: Int
    package var message: String
    /// The parts of the message, where it is that of a failure.
    package var data: JSON?

    package init(_ code: Int, _ message: String, data: JSON? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// The call is valid but was refused.
    package init(_ message: String) { self.init(1, message) }

    package static let parse = RPCError(-32700, "Parse error.")
    package static let invalidRequest = RPCError(-32600, "Invalid Request.")
    package static let invalidParameters = RPCError(-32602, "Invalid params.")
    /// A parameter of one of Pawl's own methods that cannot be used.
    package static func invalid(_ message: String) -> RPCError { RPCError(invalidParameters.code, message) }
    /// A string of the message has half of a surrogate pair.
    package static let notText = invalid(
        "a string has half of a surrogate pair, such as \\ud800, which is no character")
    package static let unauthorized = RPCError("Unauthorized")

    package static func noSuchMethod(_ name: String) -> RPCError { RPCError("No such method: \(name)") }
    package static func missing(_ position: Int, code: Int = 1) -> RPCError {
        RPCError(code, "The parameter at \(position) is required but missing.")
    }
    package static func wrongType(_ position: Int, code: Int = 1) -> RPCError {
        RPCError(code, "The parameter at \(position) has wrong type.")
    }

    package static func tooMany(_ limit: Int) -> RPCError { RPCError("One request takes no more than \(limit) calls.") }

    package var json: JSON {
        .object(
            [JSON.Member("code", .number(code)), JSON.Member("message", .string(message))]
                + (data.map { [JSON.Member("data", $0)] } ?? []))
    }

    /// The status of an HTTP response that consists of this error alone.
    package var status: Int {
        switch code {
        case 1, -32600: 400
        case -32601: 404
        default: 500
        }
    }
}
