package import PawlBase

/// Turns messages into responses: secrets, batches, and the methods of `system.…`.
package struct RPCDispatcher: Sendable {
    package struct Outcome: Hashable, Sendable {
        package var json: JSON
        package var status: Int
        /// The correct secret was presented.
        package var showedSecret: Bool
        /// The secret was missing or wrong: the response must be delayed.
        package var isUnauthorized: Bool
    }

    private let methods: any RPCMethods
    private let secret: Secret?

    /// If `secret` is `nil`, none is required.
    package init(_ methods: any RPCMethods, secret: Secret?) {
        self.methods = methods
        self.secret = secret
    }

    package func respond(to message: RPCMessage, rights: RPCRights) async -> Outcome {
        var visit = Visit(rights: rights, isKnown: secret == nil || rights.isKnown)
        switch message {
        case .one(let parsed):
            let reply = await respond(to: parsed, &visit)
            return visit.outcome(reply.json, status: reply.status)
        case .batch(let several):
            var replies: [JSON] = []
            for parsed in several {
                replies.append(await respond(to: parsed, &visit).json)
                if visit.isExhausted { break }
            }
            return visit.outcome(.array(replies), status: 200)
        }
    }

    private func respond(to parsed: RPCCall.Parsed, _ visit: inout Visit) async -> RPCReply {
        do throws(RPCError) {
            switch parsed {
            case .refused(let id, let error):
                try visit.begin()
                return RPCReply(id: visit.echo(id), result: .failure(error))
            case .call(let call):
                let id = visit.echo(call.id)
                do throws(RPCError) {
                    return RPCReply(id: id, result: .success(try await perform(call, &visit, depth: 0)))
                } catch { return RPCReply(id: id, result: .failure(error)) }
            }
        } catch { return RPCReply(id: .null, result: .failure(error)) }
    }

    private func perform(_ call: RPCCall, _ visit: inout Visit, depth: Int) async throws(RPCError) -> JSON {
        try visit.begin()
        let result = try await result(of: call, &visit, depth: depth)
        // The results of calls inside it are already counted.
        if call.method != "system.multicall" { try visit.end(result) }
        return result
    }

    private func result(of call: RPCCall, _ visit: inout Visit, depth: Int) async throws(RPCError) -> JSON {
        switch call.method {
        case "system.listMethods": return .array((methods.names + RPCDispatcher.own).map { .string($0) })
        case "system.listNotifications": return .array(methods.notifications.map { .string($0) })
        case "system.multicall":
            guard depth == 0 else { throw RPCError("Recursive system.multicall forbidden.") }
            return try await multicall(call, &visit)
        default: break
        }
        var call = call
        let token = call.takeToken()
        try visit.check(token, against: secret)
        guard methods.has(call.method) else { throw .noSuchMethod(call.method) }
        if visit.rights.isReadOnly, !methods.isReadOnly(call.method) {
            let why = methods.returnsOptions(call.method) ? "can return secrets" : "changes state"
            throw RPCError("\(call.method) \(why) and must be sent with POST or over a WebSocket.")
        }
        if visit.rights.isScript, methods.returnsOptions(call.method) {
            throw RPCError("\(call.method) is not available to JSONP callbacks.")
        }
        return try await methods.call(call.method, call.parameters, visit.rights)
    }

    /// Calls in one message, including those inside a multicall and refused ones.
    package static let mostCalls = 10_000
    /// Approximate bytes of the responses to one message.
    package static let largestResponse = 8 << 20
    /// The same limits for unauthenticated clients.
    package static let mostUnauthenticatedCalls = 100
    package static let largestUnauthenticatedResponse = 16 << 10

    private static let own = ["system.multicall", "system.listMethods", "system.listNotifications"]

    private func multicall(_ call: RPCCall, _ visit: inout Visit) async throws(RPCError) -> JSON {
        guard let first = call.parameters.first else { throw .missing(0) }
        guard let entries = first.array else { throw .wrongType(0) }
        var results: [JSON] = []
        for entry in entries {
            do throws(RPCError) {
                guard entry.members != nil else { throw RPCError("system.multicall expected struct.") }
                guard let name = entry["methodName"]?.string else { throw RPCError("Missing methodName.") }
                let nested = RPCCall(id: .null, method: name, parameters: entry["params"]?.array ?? [])
                results.append(.array([try await perform(nested, &visit, depth: 1)]))
            } catch { results.append(error.json) }
            if visit.isExhausted { break }
        }
        return .array(results)
    }

    /// The state of a client while its message is processed.
    private struct Visit {
        let rights: RPCRights
        /// The limits of authenticated clients apply.
        var isKnown: Bool
        var showedSecret = false
        var isUnauthorized = false
        /// Further calls get no response.
        var isExhausted = false
        private var calls = 0
        private var responded = 0

        init(rights: RPCRights, isKnown: Bool) {
            self.rights = rights
            self.isKnown = isKnown
        }

        mutating func check(_ token: String?, against secret: Secret?) throws(RPCError) {
            guard let secret else {
                showedSecret = true
                return
            }
            if let token, rights.isKnown ? secret.equals(token) : secret.admits(token) {
                showedSecret = true
                isKnown = true
            } else if !rights.isTrusted {
                isUnauthorized = true
                throw .unauthorized
            }
        }

        /// A small message must not cause a large amount of work.
        mutating func begin() throws(RPCError) {
            calls += 1
            let limit = isKnown ? RPCDispatcher.mostCalls : RPCDispatcher.mostUnauthenticatedCalls
            guard calls > limit else { return }
            isExhausted = true
            throw .tooMany(limit)
        }

        /// Nor a huge response.
        mutating func end(_ result: JSON) throws(RPCError) {
            responded += result.weight
            let limit = isKnown ? RPCDispatcher.largestResponse : RPCDispatcher.largestUnauthenticatedResponse
            guard responded > limit else { return }
            isExhausted = true
            throw RPCError("The responses are too large for one request.")
        }

        /// Nor may a long name be sent back to an unauthenticated client.
        func echo(_ id: JSON) -> JSON { isKnown || id.weight <= 64 ? id : .null }

        func outcome(_ json: JSON, status: Int) -> Outcome {
            Outcome(json: json, status: status, showedSecret: showedSecret, isUnauthorized: isUnauthorized)
        }
    }
}

extension JSON {
    /// The approximate size of its text in bytes.
    fileprivate var weight: Int {
        switch self {
        case .null, .bool: 4
        case .number(let text), .string(let text): text.utf8.count + 3
        case .array(let values): values.reduce(2) { $0 + $1.weight }
        case .object(let members): members.reduce(2) { $0 + $1.name.utf8.count + 4 + $1.value.weight }
        }
    }
}
