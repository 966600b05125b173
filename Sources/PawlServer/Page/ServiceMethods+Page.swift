import Pawl
import PawlCore

// What the page asks for beside what everybody does.
extension ServiceMethods {
    /// `[ID or IDs, {keepFile, grace}]`: with `grace` it goes after so many seconds, and can be taken back until then.
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

    /// `[ID or IDs]`: takes removals back.
    func restore(_ given: RPCParameters) async throws -> JSON {
        try await each(given) { id in
            defer { page.feed.touch(id) }
            return try await page.pendingRemovals.restore(id)
        }
    }

    /// `[ID]`: its address with everything in it, to be copied.
    func source(_ given: RPCParameters) async throws -> JSON {
        let details = try await manager.details(of: [try await id(given)])
        return details.first?.sources.first.map { .string($0) } ?? .null
    }

    /// `[TEXT or null]`: limits by time of day.
    func timetable(_ given: RPCParameters) async throws -> JSON {
        try await manager.change(timetable: try given.textOrNull(0))
        return .bool(true)
    }

    /// What is told of one download only: how it is fetched, what its server said, what was decided and when.
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
