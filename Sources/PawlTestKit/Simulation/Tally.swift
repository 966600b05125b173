/// How often each mechanism ran: a simulation in which nothing happens proves nothing.
package struct Tally: Sendable, Hashable {
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    package mutating func note(_ mechanism: String, _ count: Int = 1) {
        guard count > 0 else { return }
        counts[mechanism, default: 0] += count
    }

    package mutating func add(_ other: Tally) { counts.merge(other.counts, uniquingKeysWith: +) }

    package subscript(mechanism: String) -> Int { counts[mechanism, default: 0] }

    /// What many worlds together must have seen.
    package static let expected = [
        "kills", "power cuts", "kills inside a disk call", "power cuts inside a disk call",
        "disk calls that failed", "kills between a write and its cursor",
        "disk full", "journals taken up", "journals damaged by a power cut", "checkpoints", "steals", "races",
        "slow lanes replaced", "restarts from 0", "comparisons that agreed", "verdict: the content changed",
        "verdict: continuing without ranges", "verdict: left out a source", "verdict: range never answered",
        "verdict: the redirect's target expired", "connections cut", "network losses", "complaints of hosts",
        "pauses", "removals", "slots changed", "pre-empted", "limits changed", "contents changed",
        "retries: network", "retries: timeout",
        "wishes changed", "orders of sources changed", "coded responses", "contents made for one response",
        "hops to another host", "pages instead of parts", "verdict: tags vary", "verdict: another part",
        "lanes compared where they met", "files compared at places",
        "downloads under a limit whose traffic was counted", "connections under a limit",
        "responses of bad nodes", "races under a checksum", "bytes of races dropped", "failed: checksum",
        "part files grown by others", "tails of others cut",
        "retries: overloaded", "published", "failed: disk full", "failed: not found",
    ]

    package var missing: [String] { Self.expected.filter { self[$0] == 0 } }
}
