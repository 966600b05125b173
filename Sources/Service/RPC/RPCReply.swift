package import PawlBase

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
