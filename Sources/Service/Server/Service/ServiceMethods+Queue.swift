import Glibc
import Pawl
import PawlBase
import PawlWeb

extension ServiceMethods {
    /// Runs `body` for the download whose id begins with the first parameter, as one step of the queue.
    ///
    /// With `changes` `false` it only queries the queue.
    func one<Value: Sendable>(
        _ given: RPCParameters, at position: Int = 0, changes: Bool = true,
        _ body: @escaping @Sendable (QueueStep, Download.ID) throws -> Value
    ) async throws -> Value { try await steer([try given.text(position)], changes: changes, body)[0].value }

    /// Runs `body` for the downloads of the first parameter, as one step of the queue, and returns for each whether
    /// anything changed.
    func each(
        _ given: RPCParameters, _ body: @escaping @Sendable (QueueStep, Download.ID) throws -> Bool
    ) async throws -> JSON {
        .object(try await steer(try given.textOrTexts(0), body).map { JSON.Member($0.id.description, .bool($0.value)) })
    }

    /// Gives a command to the download whose id begins with the parameter.
    func one(
        _ given: RPCParameters, at position: Int = 0, _ command: @escaping @Sendable (Download.ID) -> QueueCommand
    ) async throws -> QueueCommand.Outcome { try await one(given, at: position) { try $0.perform(command($1)) } }

    /// Gives a command to each download of the first parameter.
    func each(
        _ given: RPCParameters, _ command: @escaping @Sendable (Download.ID) -> QueueCommand
    ) async throws -> JSON { try await each(given) { try $0.perform(command($1)).isChange } }

    func steer<Value: Sendable>(
        _ texts: [String], changes: Bool = true, _ body: @escaping @Sendable (QueueStep, Download.ID) throws -> Value
    ) async throws -> [(id: Download.ID, value: Value)] {
        guard !texts.contains("") else { throw RPCError.invalid("an id must not be empty") }
        switch try await manager.steer(texts, changes: changes, body) {
        case .done(let results): return results
        case .missing(let text): throw RPCError.noDownload(text)
        case .ambiguous(let text):
            throw RPCError(Int(PawlError.Code.badOption.rawValue), "ambiguous id \(text): use more digits")
        }
    }

    package func status() async throws -> JSON {
        let counts = try await manager.counts()
        let running = try await manager.running()
        func count(_ standing: DownloadFilter.Standing) async throws -> Int {
            try await manager.totals(matching: DownloadFilter([standing])).count
        }
        let paused = try await count(.paused)
        let stalled = try await manager.waitingForDisk()
        let limits = try await manager.limits()
        let troubles = troubles + (try await manager.queueTrouble().map { [$0] } ?? [])
        return [
            "version": .string(PawlVersion.text), "root": .string(manager.root), "pid": .number(getpid()),
            "running": .number(counts.running), "sleeping": .number(running.count { $0.isSleeping }),
            "waiting": .number(max(0, counts.waiting - paused - stalled)), "waitingForDisk": .number(stalled),
            "paused": .number(paused), "finished": .number(try await count(.finished)),
            "failed": .number(try await count(.failed)), "ended": .number(counts.ended),
            "speed": .number(running.reduce(0) { $0 + $1.speed }),
            "connections": .number(running.reduce(0) { $0 + $1.connections }),
            "isPaused": .bool(limits.isPaused), "pausedUntil": limits.pausedUntil.map { .number($0) } ?? .null,
            "portRefusal": portRefusal.map { .string($0) } ?? .null, "troubles": .array(troubles.map { .string($0) }),
        ]
    }

    /// `[]`: the limits of all downloads together.
    func limits() async throws -> JSON {
        let limits = try await manager.limits()
        return [
            "slots": .number(limits.maximumConcurrentDownloads), "limit": limits.rateLimit.map { .number($0) } ?? .null,
            "timetable": limits.timetable.map { .string($0) } ?? .null, "isPaused": .bool(limits.isPaused),
            "pausedUntil": limits.pausedUntil.map { .number($0) } ?? .null,
        ]
    }

    /// `[]`: the groups, by name.
    func groups() async throws -> JSON {
        .array(
            try await manager.groups().map { group in
                ["name": .string(group.name), "paused": .bool(group.isPaused), "count": .number(group.count)]
            })
    }

    /// `[{states, group, text, after, limit}]`, each optional: those that match, or those of them that follow the
    /// download `after`.
    func list(_ given: RPCParameters) async throws -> JSON {
        let fields = try RPCFields(try given.members(0), named: ["states", "group", "text", "after", "limit"])
        let filter = try await filter(fields)
        let limit = try fields.integer("limit", in: 0...10_000) ?? .max
        let page: [DownloadSnapshot]
        if let after = try fields.text("after") {
            guard let id = Download.ID(after) else { throw RPCError.invalid("\(after) is not an id") }
            page = try await manager.downloads(matching: filter, after: id, limit: limit)
        } else {
            page = try await manager.downloads(matching: filter, limit: limit)
        }
        return .array(page.map { ServiceJSON.json($0) })
    }

    func totals(_ given: RPCParameters) async throws -> JSON {
        let fields = try RPCFields(try given.members(0), named: ["states", "group", "text"])
        let totals = try await manager.totals(matching: try await filter(fields))
        return [
            "count": .number(totals.count), "written": .number(totals.written), "total": .number(totals.total),
            "unknownTotals": .number(totals.unknownTotals),
        ]
    }

    private func filter(_ fields: RPCFields) async throws -> DownloadFilter {
        var filter = DownloadFilter()
        if let words = try fields.texts("states") {
            let known: [String: DownloadFilter.Standing] = [
                "waiting": .waiting, "paused": .paused, "finished": .finished, "failed": .failed, "removed": .removed,
            ]
            var standings: Set<DownloadFilter.Standing> = []
            for word in words {
                guard let standing = known[word] else {
                    throw RPCError.invalid("a state must be waiting, paused, finished, failed or removed")
                }
                standings.insert(standing)
            }
            filter.standings = standings
        }
        if let name = try fields.text("group") { filter.group = try await group(name) }
        filter.text = try fields.text("text")
        return filter
    }

    func show(_ given: RPCParameters) async throws -> JSON {
        if let text = try? given.text(0), QueuedCollection.isID(text) {
            let id = try await collection(text)
            guard let found = try await collections.snapshots(of: [id]).first else { throw RPCError.noDownload(text) }
            return ServiceJSON.json(found)
        }
        guard let found = try await one(given, changes: false, { try $0.inspectedDetails(of: $1) }),
            let details = await InspectedDetails.completed([found]).first,
            case .object(var members) = ServiceJSON.json(details.snapshot)
        else { throw RPCError.noDownload(try given.text(0)) }
        members.append(JSON.Member("sources", .array(details.sources.map { .string(Redaction.address($0)) })))
        members.append(
            JSON.Member(
                "ranges", .array(details.written.map { .array([.number($0.lowerBound), .number($0.upperBound)]) })))
        let lanes = details.connections.map { lane -> JSON in
            [
                "url": .string(lane.source), "offset": .number(lane.offset),
                "end": lane.end.map { .number($0) } ?? .null, "speed": .number(lane.speed),
                "isReceiving": .bool(lane.isReceiving),
            ]
        }
        members.append(JSON.Member("lanes", .array(lanes)))
        members.append(JSON.Member("stream", details.stream?.json ?? .null))
        members.append(JSON.Member("parts", .array(details.files.map { .string($0) })))
        members += particulars(details)
        return .object(members)
    }

    /// The second parameter: an index from 0, `"first"`, `"last"`, or a step such as `"+2"`.
    static func place(_ given: RPCParameters) throws(RPCError) -> DownloadManager.Position {
        guard let word = try? given.text(1) else {
            let index = try given.integer(1)
            guard index >= 0 else { throw .invalid("an index must not be negative; a step is a string") }
            return .index(index)
        }
        switch word {
        case "first": return .index(0)
        case "last": return .fromEnd(0)
        default:
            guard word.hasPrefix("+") || word.hasPrefix("-"), let step = Int(word) else {
                throw .invalid("a position must be an index, first, last, or a step such as +2 or -2")
            }
            return .offset(step)
        }
    }

    /// `[ID]`: the finished file, compared with its digests.
    func verify(_ given: RPCParameters) async throws -> JSON {
        let id = try await one(given, changes: false) { $1 }
        return .object(try await manager.check(id).json)
    }

    /// `[ID]`: the same; a wrong file is downloaded again.
    func repair(_ given: RPCParameters) async throws -> JSON {
        let id = try await one(given, changes: false) { $1 }
        let (check, isRepairing) = try await manager.repair(id)
        return .object(check.json + [JSON.Member("repairing", .bool(isRepairing))])
    }

    /// `["URL", …]` or `[{url, …fields of an option table…}, …]`: an id or an error for each.
    func add(_ given: RPCParameters) async throws -> JSON {
        var items: [AddItem] = []
        for object in try given.list(0) { items.append(try AddItem(object, given.rights, defaults.options)) }
        return .array(try await add(items))
    }

    /// `[ID, URL]`: another URL of the same content.
    func replaceURL(_ given: RPCParameters) async throws -> JSON {
        let address = try Self.word(1, "a URL", of: given)
        let isTrusted = given.rights.mayNameFiles
        return .bool(try await one(given) { .replaceURL($0, address, usesOwnersSecrets: isTrusted) }.isChange)
    }

    /// A text that must not be empty.
    static func word(_ position: Int, _ what: String, of given: RPCParameters) throws(RPCError) -> String {
        let text = try given.text(position)
        guard !text.isEmpty else { throw .invalid("\(what) must not be empty") }
        return text
    }

    /// `[RATE]` for all together, `[RATE, ID]` for one; `null` removes it.
    func limit(_ given: RPCParameters) async throws -> JSON {
        let rate = try given.numberOrNull(0)
        if let rate, rate <= 0 {
            throw RPCError.invalid("a limit must be more than 0 bytes per second, or null for none")
        }
        guard try given.optionalText(1) != nil else {
            try await manager.perform(.totalLimit(rate))
            return .bool(true)
        }
        return .bool(try await one(given, at: 1) { .limit($0, rate) }.isChange)
    }
}

extension DownloadSnapshot {
    /// Whether it holds a slot but is idle: it waits for its next attempt, its host or the network.
    fileprivate var isSleeping: Bool { retryIn != nil || waitsForHost != nil || state == .waitingForNetwork }
}
