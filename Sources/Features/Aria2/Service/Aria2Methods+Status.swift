import Pawl
import PawlBase
package import PawlWeb

// Methods that return state.
extension Aria2Methods {
    func tellStatus(_ parameters: RPCParameters) async throws -> JSON {
        let keys = Set(try parameters.optionalTexts(1) ?? [])
        return try await status(parameters, looking: Aria2Status.needsRanges(keys)).json(keys: keys)
    }

    func tellActive(_ parameters: RPCParameters) async throws -> JSON {
        let keys = Set(try parameters.optionalTexts(0) ?? [])
        return try await statuses(.running, keys: keys)
    }

    func tellWaiting(_ parameters: RPCParameters) async throws -> JSON {
        let window = try Window(parameters)
        let count = try await manager.counts().waiting
        guard let slice = window.slice(of: count) else { return [] }
        return try await statuses(
            .line(offset: slice.lowerBound, limit: slice.count), keys: window.keys, isReversed: window.isReversed)
    }

    func tellStopped(_ parameters: RPCParameters) async throws -> JSON {
        let window = try Window(parameters)
        let all = try await manager.counts().ended
        // The older ones are not listed.
        let count = min(all, Int(clamping: settings.options.number("max-download-result") ?? 1000))
        guard let slice = window.slice(of: count) else { return [] }
        return try await statuses(
            .ended(offset: all - count + slice.lowerBound, limit: slice.count), keys: window.keys,
            isReversed: window.isReversed)
    }

    func getURIs(_ parameters: RPCParameters) async throws -> JSON {
        let status = try await status(parameters, looking: false)
        guard !status.isOver else { throw RPCError("No URI data is available for GID#\(status.snapshot.id)") }
        return status.uris
    }

    func getFiles(_ parameters: RPCParameters) async throws -> JSON { [try await status(parameters).file] }

    func getPeers(_ parameters: RPCParameters) async throws -> JSON {
        let status = try await status(parameters, looking: false)
        guard !status.isOver else { throw RPCError("No peer data is available for GID#\(status.snapshot.id)") }
        return []
    }

    func getServers(_ parameters: RPCParameters) async throws -> JSON {
        let status = try await status(parameters)
        guard Aria2Status.word(status.snapshot.state) == "active" else {
            throw RPCError("No active download for GID#\(status.snapshot.id)")
        }
        let servers = status.details.connections.map { connection -> JSON in
            [
                "uri": .string(status.details.sources[0]), "currentUri": .string(connection.source),
                "downloadSpeed": .string(String(connection.speed)),
            ]
        }
        return [["index": "1", "servers": .array(servers)]]
    }

    func getGlobalStat() async throws -> JSON {
        let counts = try await manager.counts()
        let speed = try await manager.speed()
        let shown = min(counts.ended, Int(settings.options.number("max-download-result") ?? 1000))
        return [
            "downloadSpeed": .string(String(speed)), "uploadSpeed": "0", "numActive": .string(String(counts.running)),
            "numWaiting": .string(String(counts.waiting)), "numStopped": .string(String(shown)),
            "numStoppedTotal": .string(String(counts.ended)),
        ]
    }

    var version: JSON {
        ["version": .string(Aria2Version.text), "enabledFeatures": .array(Aria2Version.features.map { .string($0) })]
    }

    private func statuses(_ part: QueuePart, keys: Set<String>, isReversed: Bool = false) async throws -> JSON {
        let details = try await manager.details(of: part, looking: Aria2Status.needsRanges(keys))
        var statuses: [JSON] = []
        for one in isReversed ? details.reversed() : details {
            let followers = keys.isEmpty || keys.contains("followedBy") ? await followers(of: one) : []
            statuses.append(status(one, followers).json(keys: keys))
        }
        return .array(statuses)
    }

    /// The status of the download that the first parameter names.
    package func status(_ parameters: RPCParameters, looking: Bool = true) async throws -> Aria2Status {
        let (id, found) = try await one(parameters, changes: false) {
            try $0.inspectedDetails(of: $1, looking: looking)
        }
        guard let found, let details = await InspectedDetails.completed([found]).first else {
            throw RPCError("GID \(id) is not found")
        }
        return status(details, await followers(of: details))
    }

    private func status(_ details: DownloadDetails, _ followers: [Download.ID]) -> Aria2Status {
        Aria2Status(
            details: details, options: Aria2Options.remembered(in: details.options.attributes), root: settings.root,
            isStandIn: settings.isStandIn, followers: followers)
    }

    /// Runs `body` for the only download whose id begins with the first parameter, as one step of the queue.
    ///
    /// With `changes` `false` it only queries the queue.
    func one<Value: Sendable>(
        _ parameters: RPCParameters, changes: Bool = true,
        _ body: @escaping @Sendable (QueueStep, Download.ID) throws -> Value
    ) async throws -> (id: Download.ID, value: Value) {
        let text = try parameters.text(0)
        let digits = text.lowercased()
        let isHexadecimal = digits.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        guard !digits.isEmpty, digits.utf8.count <= 16, isHexadecimal else { throw RPCError("Invalid GID \(text)") }
        switch try await manager.steer([digits], changes: changes, body) {
        case .done(let results): return results[0]
        case .missing: throw RPCError("GID \(text) is not found")
        case .ambiguous: throw RPCError("GID \(text) is not unique")
        }
    }

    /// A range of a list: from the front, or with a negative offset from the end backwards.
    private struct Window {
        let offset: Int
        let count: Int
        let keys: Set<String>

        init(_ parameters: RPCParameters) throws(RPCError) {
            offset = try parameters.integer(0)
            count = min(try parameters.integer(1), 10_000)
            keys = Set(try parameters.optionalTexts(2) ?? [])
            if count < 0 {
                throw RPCError(
                    "The integer parameter at 1 has invalid value: the value must be greater than or equal to 0.")
            }
        }

        var isReversed: Bool { offset < 0 }

        /// `nil` if it is empty.
        func slice(of total: Int) -> Range<Int>? {
            // −1 is the last entry.
            let last = offset < 0 ? total + offset : offset
            guard last >= 0, last < total, count > 0 else { return nil }
            return offset < 0 ? max(0, last - count + 1)..<(last + 1) : last..<min(total, last + min(count, total))
        }
    }
}
