import Pawl

/// The number of runs of each mechanism: a simulation in which nothing happens proves nothing.
package struct Tally: Sendable, Hashable {
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    package mutating func note(_ mechanism: String, _ count: Int = 1) {
        guard count > 0 else { return }
        counts[mechanism, default: 0] += count
    }

    package mutating func add(_ other: Tally) { counts.merge(other.counts, uniquingKeysWith: +) }

    package subscript(mechanism: String) -> Int { counts[mechanism, default: 0] }

    /// The mechanisms that many worlds together must have run.
    package static let expected = expectedOfDownloads + expectedOfStreams

    private static let expectedOfDownloads = [
        "kills", "power cuts", "kills inside a disk call", "power cuts inside a disk call", "disk calls that failed",
        "kills between a write and its cursor", "disk full", "journals reopened", "journals damaged by a power cut",
        "checkpoints", "steals", "races", "slow lanes replaced", "restarts from 0", "comparisons that agreed",
        "verdict: the content changed", "verdict: continuing without ranges", "verdict: left out a source",
        "verdict: no response to a range", "verdict: the redirect's target expired", "connections cut",
        "network losses", "network losses that are not reported", "reports of a network",
        "false reports of a lost network", "throttling responses of hosts", "quotas used up",
        "limits of hosts remembered", "waits for hosts", "limits of hosts seen", "hosts with a limit of an earlier run",
        "pauses", "removals", "slots changed", "preempted", "limits changed", "contents changed", "retries: network",
        "retries: timeout", "requested parts changed", "source orders changed", "coded responses",
        "contents generated for one response", "redirects to another host", "pages instead of parts",
        "pages with the tag of the content",
        "coded responses to parts", "pages right after a change", "valid ranges refused", "verdict: tags vary",
        "verdict: another part", "lanes compared where they met", "files compared at samples", "other places compared",
        "longer runs compared", "whole contents compared that stay the same",
        "downloads under a limit whose traffic was counted", "connections under a limit",
        "responses of bad nodes", "races under a checksum", "bytes of races dropped", "failed: checksum",
        "files published with several digests", "failed: one of several digests",
        "part files extended by other programs", "foreign tails truncated", "holes of existing files",
        "connections kept", "connections reused", "connections kept by draining", "bodies drained", "drains given up",
        "idle connections closed by the server", "closed connections found by probing",
        "connections closed with the last bytes", "requests sent again", "leftovers on idle connections",
        "leftovers found by probing", "bytes before their request had arrived", "early hints",
        "responses read in pieces", "responses of HTTP/1.0", "connections ended by Connection: close",
        "bodies ended by the connection", "chunked bodies", "chunked bodies with padding", "chunks cut",
        "questions to the program", "replies to withdrawn questions",
        "responses that broke after the bytes to compare or before", "bytes compared in parts",
        "short parts compared one after another", "files sent by FTP", "files sent by FTP without a length",
        "offsets refused by FTP servers", "files that changed during an FTP transfer",
        "downloads with pieces under a limit", "bytes of part files damaged", "part files begun with seeds",
        "pieces on disk fetched again", "pieces of a source fetched again", "verdict: left out for wrong pieces",
        "failed: pieces of another length", "failed: pieces of a kept file", "files kept with right pieces",
        "names claimed by two downloads", "retries: overloaded", "published", "failed: disk full", "failed: not found",
    ]

    /// Of these, what concerns HTTP/2.
    private static let expectedOfStreams = [
        "requests that join a connection", "waits for a connection with room",
        "waits for room on full connections", "servers that have HTTP/1.1 only",
        "connections of HTTP/2", "further connections of HTTP/2", "connections of HTTP/2 that failed beside others",
        "connections of HTTP/2 that came too late",
        "connections of HTTP/2 lost at reuse", "idle connections of HTTP/2 closed by the server",
        "streams beside others", "reads with content of several streams", "streams lost together",
        "requests sent again on another stream", "requests refused beside others",
        "streams beyond the number that was announced", "numbers of streams that shrink",
        "numbers of streams learned from GOAWAY", "GOAWAY", "GOAWAY without some of the streams", "GOAWAY: NO_ERROR",
        "GOAWAY: ENHANCE_YOUR_CALM", "GOAWAY: HTTP_1_1_REQUIRED", "streams reset: REFUSED_STREAM",
        "streams reset: ENHANCE_YOUR_CALM", "streams reset: HTTP_1_1_REQUIRED", "streams reset: INTERNAL_ERROR",
        "streams reset within their content", "streams reset after all their content", "streams reset after their end",
        "streams ended early", "streams ended apart from their content", "streams longer than stated",
        "interim heads on streams", "trailers", "padded frames", "heads and content in small frames",
        "content held for receivers that paused", "streams that used up their window", "windows that grew",
        "unwanted streams drained", "unwanted streams reset", "drains of streams given up",
    ]

    /// The same of queues.
    package static let expectedOfCollections = [
        "listings", "files listed", "pages refused or cut", "incomplete listings", "listings of WebDAV", "mirrors",
        "killed mirrors", "mirrors of incomplete listings", "files fetched", "files kept", "files removed",
        "files of users", "files that became folders", "folders that became files", "files that gave way",
    ].map { "collections: " + $0 }

    package static let expectedOfQueues =
        ([
            "opened", "kills", "power cuts", "kills inside a disk call", "power cuts inside a disk call",
            "kills inside a write", "writes that failed", "restarts", "network losses", "full disks",
            "options changed while verifying", "options changed while publishing", "URLs replaced while verifying",
            "URLs replaced while publishing", "URLs replaced by another content's while verifying",
            "URLs replaced by another content's while publishing", "URLs replaced by another content's", "finished",
            "files that the user moves", "files that the user movesBack", "files that the user replaces",
            "files that the user edits", "worlds of queues in SQLite", "kills inside SQLite",
            "calls of SQLite that failed", "writes of SQLite lost in power cuts", "writes of SQLite torn in power cuts",
            "starts at which another process has the lock", "disks taken away", "progress on disks taken away",
            "events of new downloads", "events of states", "events of changes", "events of the queue itself",
            "events that were dropped",
            "rows of followers compared",
        ] + QueueCommand.Kind.allCases.map(\.rawValue)).map { "queue: " + $0 }

    package func missing(of expected: [String]) -> [String] { expected.filter { self[$0] == 0 } }
}
