import Pawl
import PawlBase
import PawlWeb

// What can be changed of a download and of the service, and the queue as a list.
extension ServiceMethods {
    /// `[ID]`: what `pawl.add` took, as far as it can be changed; whether a password is set, but not the password.
    func options(_ given: RPCParameters) async throws -> JSON {
        let details = try await one(given, changes: false) { try $0.details(of: $1) }
        guard let details else { throw RPCError.noDownload(try given.text(0)) }
        var members = ServiceMethods.item(details).filter { $0.name != "start" && $0.name != "startAt" }
        let options = (members.first { $0.name == "options" }?.value.members ?? []).filter { $0.name != "password" }
        members.removeAll { $0.name == "options" }
        members.append(JSON.Member("options", .object(options)))
        members.append(JSON.Member("hasPassword", .bool(details.options.password != nil)))
        return .object(members)
    }

    // MARK: service

    /// `[]`: defaults of later downloads, limits, and what only the options of `pawl serve` set.
    func settings() async throws -> JSON {
        let limits = try await manager.limits()
        var members = defaults.json.members ?? []
        members += [
            JSON.Member("slots", .number(limits.maximumConcurrentDownloads)),
            JSON.Member("limit", limits.rateLimit.map { .number($0) } ?? .null),
            JSON.Member("timetable", limits.timetable.map { .string($0) } ?? .null),
            JSON.Member("rules", try await rules()),
            JSON.Member("atEnd", .string(atEnd.action.rawValue)),
            JSON.Member(
                "hooks",
                .object(
                    Hooks.Occasion.allCases.compactMap { occasion in
                        hooks.programs[occasion].map { JSON.Member(occasion.rawValue, .string($0)) }
                    } + (hooks.idle.map { [JSON.Member("idle", .string($0))] } ?? []))),
            JSON.Member("webhook", hooks.webhook.map { .string(Redaction.address($0)) } ?? .null),
        ]
        return .object(members)
    }

    /// `[{options, folder}]`: replaces the defaults of later downloads.
    func configure(_ given: RPCParameters) async throws -> JSON {
        let fields = try RPCFields(try given.requiredMembers(0), named: ["options", "folder"])
        try await defaults.change(try fields.members("options") ?? [], folder: try fields.text("folder"), in: manager)
        return .bool(true)
    }

    /// `[{url, options}]`: name and size of a file, without adding it.
    func check(_ given: RPCParameters) async throws -> JSON {
        let request = try AddItem(try given.requiredMembers(0), given.rights, defaults.options).request
        do { return try await check.check(try request.get(), below: manager.root) } catch let failure as Failure {
            return ["error": .object(ServiceJSON.members(PawlError(failure)))]
        } catch let error as PawlError { return ["error": .object(ServiceJSON.members(error))] }
    }

    /// `[]`: the downloads and collections that have not finished, as `pawl.add` takes them.
    func export() async throws -> JSON {
        let filter = DownloadFilter([.waiting, .paused, .failed])
        var items: [JSON] = []
        var page = try await manager.downloads(matching: filter, limit: 500)
        while let last = page.last {
            for details in try await manager.details(of: page.map(\.id)) {
                items.append(.object(ServiceMethods.item(details) + (try await pieces(of: details))))
            }
            page = try await manager.downloads(matching: filter, after: last.id, limit: 500)
        }
        let single = items.filter { $0["group"]?.string.map { !QueuedCollection.isGroup($0) } ?? true }
        return .array(single + (try await collections.export()))
    }

    private func pieces(of details: DownloadDetails) async throws -> [JSON.Member] {
        guard details.pieceLength != nil else { return [] }
        let id = details.snapshot.id
        return try await manager.pieces(of: id).map { [JSON.Member("pieces", .string($0.text))] } ?? []
    }

    /// The item of `pawl.add` that makes the same download.
    private static func item(_ details: DownloadDetails) -> [JSON.Member] {
        let (snapshot, options) = (details.snapshot, details.options)
        let sources = details.sources()
        var flags = options.restrictions
        if details.checksExistingFile { flags.append(JSON.Member("checkExisting", .bool(true))) }
        if let stream = details.stream { flags.append(JSON.Member("stream", stream.json)) }
        if let text = snapshot.taskDescription { flags.append(JSON.Member("description", .string(text))) }
        return flags + [
            JSON.Member("url", .string(sources.first ?? snapshot.source)), JSON.Member("options", options.exported),
            JSON.Member("mirrors", .array(sources.dropFirst().map { .string($0) })),
            JSON.Member("folder", .string(snapshot.folder)),
            JSON.Member("group", snapshot.group.map { .string($0) } ?? .null),
            JSON.Member("priority", .number(snapshot.priority)),
            JSON.Member("start", .string(snapshot.state == .paused ? "paused" : "enqueued")),
        ] + (snapshot.startAt.map { [JSON.Member("startAt", .number($0))] } ?? [])
    }
}
