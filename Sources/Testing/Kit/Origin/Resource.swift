/// The resource under one path: versions of content and the way it is served.
struct Resource: Sendable {
    var versions: [Payload]
    /// The index of the version that requests get now.
    var current = 0
    /// The condition on which the next version replaces the current one, besides on command.
    var change: ContentChange?
    /// Whether bodies in progress continue with the new version's bytes, as when a file is overwritten in place.
    var changesRunningBodies = false
    var behaviour: Behaviour
    var vary: (@Sendable (RequestFacts, inout Behaviour) -> Void)?

    var requests = 0
    var running = 0
    var bodySent: Int64 = 0
    /// The number of releases; a held exchange continues when it changes.
    var releases = 0
    /// The number of responses, for tags that differ each time.
    var tags = 0

    var payload: Payload { versions[current] }

    mutating func changeIfDue() {
        guard let change, current + 1 < versions.count else { return }
        let isDue =
            switch change {
            case .afterRequests(let count): requests >= count * (current + 1)
            case .afterBytes(let count): bodySent >= count * Int64(current + 1)
            }
        if isDue { current += 1 }
    }
}

/// When the content of a path changes automatically.
package enum ContentChange: Hashable, Sendable {
    /// Each version serves that many requests.
    case afterRequests(Int)
    /// Each version sends that many bytes.
    case afterBytes(Int64)
}

/// The facts of a request on which its behaviour may depend.
package struct RequestFacts: Sendable {
    package var request: Request
    /// The number of this request for the path, from 0.
    package var ordinal: Int
    /// The number of its connection, from 0.
    package var connection: Int
    /// The responses in progress for this path, without this one.
    package var running: Int
    /// Body bytes sent for this path so far.
    package var bodySent: Int64
    /// The version of the content, from 0.
    package var version: Int

    package var hasRange: Bool { request.header("Range") != nil }
}
