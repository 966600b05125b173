import Pawl
import PawlCore

// Methods that only the page uses.
extension ServiceMethods {
    /// `[ID or IDs, {keepFile, grace}]`: with `grace` the removal happens after so many seconds and can be undone.
    func remove(_ given: RPCParameters) async throws -> JSON {
        let wish = try given.members(1)
        let keepsFile = wish["keepFile"]?.bool ?? false
        guard let grace = wish["grace"]?.integer, grace > 0 else {
            return try await each(given) { try await manager.remove($0, keepingFile: keepsFile) }
        }
        let delay = Duration.seconds(min(grace, 60))
        return try await each(given) { id in
            defer { page.feed.touch(id) }
            return try await page.pendingRemovals.remove(id, keepingFile: keepsFile, after: delay)
        }
    }

    /// `[ID or IDs]`: undoes removals.
    func restore(_ given: RPCParameters) async throws -> JSON {
        try await each(given) { id in
            defer { page.feed.touch(id) }
            return try await page.pendingRemovals.restore(id)
        }
    }

    /// `[ID]`: its URL including secrets, to be copied.
    func source(_ given: RPCParameters) async throws -> JSON {
        let details = try await manager.details(of: [try await id(given)])
        return details.first?.sources.first.map { .string($0) } ?? .null
    }

    /// `[TEXT or null]`: limits by time of day.
    func timetable(_ given: RPCParameters) async throws -> JSON {
        try await manager.change(timetable: try given.textOrNull(0))
        return .bool(true)
    }

    /// Details of one download: its transfer, its server's response, the decisions and their times.
    func particulars(_ details: DownloadDetails) async throws -> [JSON.Member] {
        let location: JSON =
            switch try await manager.location(of: details.snapshot.id) {
            case .missing: "missing"
            case .finished: "there"
            case .unknown, .unfinished: .null
            }
        return [
            JSON.Member("headers", .array(details.options.headers.map { .string(Redaction.header($0)) })),
            JSON.Member("checksum", details.options.checksum.map { .string($0) } ?? .null),
            JSON.Member("limit", details.options.rateLimit.map { .number($0) } ?? .null),
            JSON.Member("file", location),
        ] + page.decisions.members(of: details.snapshot.id)
    }
}
