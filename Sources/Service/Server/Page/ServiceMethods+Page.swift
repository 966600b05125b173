import Pawl
import PawlBase
import PawlWeb

// Methods that the page needs beside those of the queue; commands use some of them too.
extension ServiceMethods {
    /// `[ID or IDs, {keepFile, grace}]`: with `grace` the removal happens after so many seconds and can be undone.
    func remove(_ given: RPCParameters) async throws -> JSON {
        let fields = try RPCFields(try given.members(1), named: ["keepFile", "grace"])
        let keepsFile = try fields.flag("keepFile") ?? false
        let removing: @Sendable (String) async throws -> Bool = { [collections] in try await collections.remove($0) }
        guard let grace = try fields.integer("grace", in: 0...60), grace > 0 else {
            return try await each(given, collections: removing) { .remove($0, Removal(keepsFile: keepsFile)) }
        }
        let delay = Duration.seconds(grace)
        return try await touching(given) { [page] in
            try page.pendingRemovals.remove($1, in: $0, keepingFile: keepsFile, after: delay)
        }
    }

    /// `[ID or IDs]`: undoes removals.
    func restore(_ given: RPCParameters) async throws -> JSON {
        try await touching(given) { [page] in try page.pendingRemovals.restore($1, in: $0) }
    }

    /// As ``each(_:_:)``, for changes of which the queue sends no event.
    private func touching(
        _ given: RPCParameters, _ body: @escaping @Sendable (QueueStep, Download.ID) throws -> Bool
    ) async throws -> JSON {
        let results = try await each(given, collections: { try await collections.remove($0) }, body)
        for member in results.members ?? [] { Download.ID(member.name).map { page.feed.touch($0) } }
        return results
    }

    /// `[ID]`: its URL including secrets, to be copied.
    func source(_ given: RPCParameters) async throws -> JSON {
        try await one(given, changes: false) { try $0.details(of: $1)?.sources.first }.map { .string($0) } ?? .null
    }

    /// `[ID]`: the speeds of the last minutes, for its chart.
    func speeds(_ given: RPCParameters) async throws -> JSON {
        page.speeds.json(of: try await one(given, changes: false) { $1 })
    }

    /// `[TEXT or null]`: limits by time of day.
    func timetable(_ given: RPCParameters) async throws -> JSON {
        try await manager.perform(.timetable(try given.textOrNull(0)))
        return .bool(true)
    }

    /// Details of one download: its transfer, its server's response, the decisions and their times.
    func particulars(_ details: DownloadDetails) -> [JSON.Member] {
        [
            JSON.Member("headers", .array(details.options.headers.map { .string(Redaction.header($0)) })),
            JSON.Member("checksum", details.options.checksum.map { .string($0) } ?? .null),
            JSON.Member("limit", details.options.rateLimit.map { .number($0) } ?? .null),
        ] + page.decisions.members(of: details.snapshot.id)
    }
}
