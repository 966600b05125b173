import Glibc
import Pawl
import PawlCore

extension ServiceMethods {
    /// The only download whose id has the first parameter as its prefix.
    func id(_ given: RPCParameters) async throws -> Download.ID { try await find(try given.text(0)) }

    private func find(_ text: String) async throws -> Download.ID {
        let found = text.isEmpty ? [] : try await manager.find(text)
        guard let first = found.first else {
            throw RPCError(Int(PawlError.Code.notFound.rawValue), "there is no download \(text)")
        }
        guard found.count == 1 else {
            throw RPCError(
                Int(PawlError.Code.badOption.rawValue),
                "ambiguous id \(text): use more digits"
            )
        }
        return first
    }

    /// Applies an operation to one or several downloads, and returns for each whether anything changed.
    func each(
        _ given: RPCParameters,
        _ act: (Download.ID) async throws -> Bool
    ) async throws -> JSON {
        var ids: [Download.ID] = []
        for text in try given.textOrTexts(0) { ids.append(try await find(text)) }
        var results: [JSON.Member] = []
        for id in ids { results.append(JSON.Member(id.description, .bool(try await act(id)))) }
        return .object(results)
    }

    func status() async throws -> JSON {
        let counts = try await manager.counts()
        let running = try await manager.running()
        return [
            "version": .string(PawlVersion.text), "root": .string(manager.root), "pid": .number(getpid()),
            "running": .number(counts.running),
            "waiting": .number(counts.waiting), "ended": .number(counts.ended),
            "speed": .number(running.reduce(0) { $0 + $1.speed }),
            "connections": .number(running.reduce(0) { $0 + $1.connections }),
            "portRefusal": portRefusal.map { .string($0) } ?? .null,
        ]
    }

    /// `[{states, group, text, after, limit}]`, each optional: the first that match, or those that follow the download
    /// `after`.
    func list(_ given: RPCParameters) async throws -> JSON {
        let wish = try given.members(0)
        let filter = try filter(wish)
        let limit = min(10_000, max(0, Int(clamping: wish["limit"]?.integer ?? 1000)))
        let page: [DownloadSnapshot]
        if let after = wish["after"]?.string {
            guard let id = Download.ID(after) else { throw RPCError("\(after) is not an id") }
            page = try await manager.downloads(matching: filter, after: id, limit: limit)
        } else {
            page = try await manager.downloads(matching: filter, limit: limit)
        }
        return .array(page.map { ServiceEvent.json($0) })
    }

    func totals(_ given: RPCParameters) async throws -> JSON {
        let totals = try await manager.totals(matching: try filter(try given.members(0)))
        return [
            "count": .number(totals.count), "written": .number(totals.written),
            "total": .number(totals.total),
            "unknownTotals": .number(totals.unknownTotals),
        ]
    }

    private func filter(_ wish: JSON) throws(RPCError) -> DownloadFilter {
        var filter = DownloadFilter()
        if let words = wish["states"]?.array {
            let known: [String: DownloadFilter.Standing] = [
                "waiting": .waiting, "paused": .paused, "finished": .finished, "failed": .failed,
                "removed": .removed,
            ]
            var standings: Set<DownloadFilter.Standing> = []
            for word in words {
                guard let standing = word.string.flatMap({ known[$0] }) else {
                    throw RPCError("a state must be waiting, paused, finished, failed or removed")
                }
                standings.insert(standing)
            }
            filter.standings = standings
        }
        filter.group = wish["group"]?.string
        filter.text = wish["text"]?.string
        return filter
    }

    func show(_ given: RPCParameters) async throws -> JSON {
        let id = try await id(given)
        guard let details = try await manager.details(of: [id]).first,
            case .object(var members) = ServiceEvent.json(details.snapshot)
        else { throw RPCError(Int(PawlError.Code.notFound.rawValue), "there is no download \(id)") }
        members.append(JSON.Member("sources", .array(details.sources.map { .string(Redaction.address($0)) })))
        members.append(
            JSON.Member(
                "ranges",
                .array(details.written.map { .array([.number($0.lowerBound), .number($0.upperBound)]) })
            )
        )
        let lanes = details.connections.map { lane -> JSON in
            [
                "url": .string(lane.source), "offset": .number(lane.offset),
                "end": lane.end.map { .number($0) } ?? .null,
                "speed": .number(lane.speed), "isReceiving": .bool(lane.isReceiving),
            ]
        }
        members.append(JSON.Member("lanes", .array(lanes)))
        members += try await particulars(details)
        return .object(members)
    }

    /// The second parameter: an index from 0, `"first"`, `"last"`, or a step such as `"+2"`.
    static func place(_ given: RPCParameters) throws(RPCError) -> DownloadManager.Position {
        guard let word = try? given.text(1) else { return .index(try given.integer(1)) }
        switch word {
        case "first": return .index(0)
        case "last": return .fromEnd(0)
        default:
            guard word.hasPrefix("+") || word.hasPrefix("-"), let step = Int(word) else {
                throw RPCError("a position must be an index, first, last, or a step such as +2 or -2")
            }
            return .offset(step)
        }
    }

    /// `["URL", …]` or `[{url, …fields of an option table…}, …]`: an id or an error for each.
    func add(_ given: RPCParameters) async throws -> JSON {
        var requests: [DownloadRequest] = []
        for wish in try given.list(0) { requests.append(try AddWish(wish, given.rights).request) }
        let answers = try await manager.add(requests)
        return .array(
            answers.map { answer in
                switch answer {
                case .success(let id): ["id": .string(id.description)]
                case .failure(let error): ["error": .object(ServiceEvent.members(error))]
                }
            }
        )
    }

    /// `[ID, URL]`: another URL of the same content.
    func replaceURL(_ given: RPCParameters) async throws -> JSON {
        let (id, address) = (try await id(given), try given.text(1))
        // Before any request to a URL from an untrusted client.
        if !given.rights.mayNameFiles, var options = try await manager.details(of: [id]).first?.options,
            options.usesOwnersSecrets
        {
            options.usesOwnersSecrets = false
            try await manager.change(options: options, of: id)
        }
        return .bool(try await manager.replaceURL(of: id, with: address))
    }

    /// `[RATE]` for all together, `[RATE, ID]` for one; `null` removes it.
    func limit(_ given: RPCParameters) async throws -> JSON {
        let rate = try given.optionalNumber(0)
        if let rate, rate <= 0 {
            throw RPCError("a limit must be more than 0 bytes per second, or null for none")
        }
        guard let text = try given.optionalText(1) else {
            try await manager.limit(to: rate)
            return .bool(true)
        }
        let id = try await find(text)
        return .bool(try await manager.limit(id, to: rate))
    }
}

/// One download to be added.
struct AddWish {
    let request: DownloadRequest

    init(_ wish: JSON, _ rights: RPCRights) throws(RPCError) {
        if let source = wish.string {
            var request = DownloadRequest(source)
            request.options.usesOwnersSecrets = rights.mayNameFiles
            self.request = request
            return
        }
        guard let source = wish["url"]?.string else { throw RPCError("a download needs a url") }
        var request = DownloadRequest(source)
        if let fields = wish["options"] {
            guard let members = fields.members else { throw RPCError("options must be an object") }
            var values: [(name: String, value: String)] = []
            for member in members {
                guard let lines = member.value.array ?? [member.value] as [JSON]? else { continue }
                for line in lines {
                    guard let text = line.string else {
                        throw RPCError("the option \(member.name) must be a string")
                    }
                    values.append((name: member.name, value: text))
                }
            }
            if let unknown = request.options.take(values) { throw RPCError("there is no option \(unknown)") }
            if request.options.readsFiles, !rights.mayNameFiles {
                throw RPCError(
                    Int(PawlError.Code.badOption.rawValue),
                    "options that name local files are accepted over the Unix socket only: use 'pawl add'"
                )
            }
        }
        request.options.usesOwnersSecrets = rights.mayNameFiles
        if let folder = wish["folder"]?.string { request.options.folder = folder }
        if let mirrors = wish["mirrors"]?.array { request.options.mirrors = mirrors.compactMap(\.string) }
        request.options.taskDescription = wish["description"]?.string
        request.group = wish["group"]?.string
        request.priority = Int(clamping: wish["priority"]?.integer ?? 0)
        switch wish["start"]?.string {
        case nil, "enqueued": request.start = .enqueued
        case "paused": request.start = .paused
        case "now": request.start = .now
        case .some: throw RPCError("start must be enqueued, paused or now")
        }
        self.request = request
    }
}
