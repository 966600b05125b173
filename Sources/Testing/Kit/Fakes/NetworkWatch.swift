import PawlBase
import PawlCore
import Synchronization

/// Checks that connections stay within the plan and within what hosts allow.
///
/// It is more lenient than the budget that it checks: it sees requests only when they are sent.
struct NetworkWatch: Sendable {
    private struct Host: Sendable {
        /// The connections that the host allows; `nil` until it has refused one beside others of the same file.
        var limit: Int?
        var since = Instant(nanoseconds: 0)
        /// The most that were open since it refused one, at the same instant.
        var peak: Int?
        /// How many were open when, lately.
        var open: [(at: Instant, count: Int)] = []
        /// Its quota is used up.
        var holdUntil = Instant(nanoseconds: 0)
        var heldAt = Instant(nanoseconds: 0)

        func recentPeak(_ now: Instant) -> Int {
            open.filter { now - $0.at <= HostBudget.recovery * 2 }.map(\.count).max() ?? 0
        }
    }

    private var hosts: [String: Host] = [:]
    /// The connections of each path: the number that is open, and the limit.
    private var open: [String: Int] = [:]
    /// Until when nothing is to be requested of a URL.
    private var silences: [String: Instant] = [:]
    var widths: [String: Int] = [:]
    private(set) var violations: [Violation] = []
    private(set) var throttlings = 0
    private(set) var quotas = 0

    mutating func begins(_ address: WebAddress, running: Int, now: Instant) {
        let count = open[address.path, default: 0] + 1
        open[address.path] = count
        if let width = widths[address.path], let text = Law.within(count, width) {
            violations.append(Violation(.connections, "\(address.text): \(text)"))
        }
        if let text = silences[address.text].flatMap({ Law.silent(now: now, until: $0) }) {
            violations.append(Violation(.silence, "\(address.text): \(text)"))
        }
        var host = hosts[address.host] ?? Host()
        check(host, address, running: running, now: now)
        if host.peak != nil { host.peak = max(host.peak ?? 0, running + 1) }
        host.open.append((now, running + 1))
        if host.open.count > 1_000 { host.open.removeFirst(500) }
        hosts[address.host] = host
    }

    private mutating func check(_ host: Host, _ address: WebAddress, running: Int, now: Instant) {
        if host.peak == nil, let limit = host.limit {
            let recovered = Int((now - host.since).seconds / HostBudget.recovery.seconds)
            if let text = Law.within(running + 1, limit + recovered) {
                violations.append(Violation(.connections, "\(address.host) throttled: \(text)"))
            }
        }
        // What was requested at that instant may have been granted before.
        if host.heldAt != now, let text = Law.silent(now: now, until: host.holdUntil) {
            violations.append(Violation(.silence, "\(address.host): \(text)"))
        }
    }

    mutating func violate(_ law: Law, _ text: String) { violations.append(Violation(law, text)) }

    mutating func ends(_ address: WebAddress) { open[address.path, default: 1] -= 1 }

    /// A response was accepted with so many connections open: the host allows these, and one more may be tried.
    mutating func served(_ name: String, open: Int) {
        guard let limit = hosts[name]?.limit, open > limit else { return }
        hosts[name]?.limit = open + 1
    }

    /// The host refused a request for `address` for overload.
    ///
    /// `isSameFile`: while it sent the same file over another connection. Requests that are sent at the same instant may
    /// have been granted before.
    mutating func throttled(_ address: WebAddress, open: Int, isSameFile: Bool, retryAfter: Interval?, now: Instant) {
        throttlings += 1
        if let retryAfter {
            let before = silences[address.text] ?? Instant(nanoseconds: 0)
            silences[address.text] = max(before, now + retryAfter)
        }
        guard isSameFile else { return }
        var host = hosts[address.host] ?? Host()
        host.peak = max(host.peak ?? 0, open, host.recentPeak(now))
        host.limit = host.limit.map { $0 + Int((now - host.since).seconds / HostBudget.recovery.seconds) }
        host.since = now
        hosts[address.host] = host
    }

    /// The host has no request left for that long.
    mutating func usedUp(_ name: String, wait: Interval, now: Instant) {
        quotas += 1
        hosts[name, default: Host()].holdUntil = now + wait
        hosts[name, default: Host()].heldAt = now
    }

    mutating func instantEnds() {
        for (name, host) in hosts {
            guard let peak = host.peak else { continue }
            hosts[name]?.limit = max(1, min(host.limit ?? .max, peak))
            hosts[name]?.peak = nil
        }
    }

    /// A new process knows nothing of earlier throttling.
    mutating func forget() {
        hosts = [:]
        silences = [:]
    }
}

extension SimulatedNetwork {
    /// Sets the most connections that a download of `path` may have.
    package func limit(_ path: String, to width: Int) { state.withLock { $0.watch.widths[path] = width } }
    package var violations: [Violation] { state.withLock { $0.watch.violations } }
    package var throttlings: Int { state.withLock { $0.watch.throttlings } }
    package var quotas: Int { state.withLock { $0.watch.quotas } }
    package func instantEnds() { state.withLock { $0.watch.instantEnds() } }

    package func set(sabotage: Sabotage?) { state.withLock { $0.sabotage = sabotage } }
    /// Removes from a header section what distinguishes versions.
    func disguise(_ head: inout ResponseHead) {
        switch state.withLock({ $0.sabotage }) {
        case .hidesCodings: head.contentEncoding = nil
        case .repeatsTags: head.entityTag = EntityTag(opaque: "always", isWeak: false)
        case .disguisesPages:
            // As if each were the next version of the file.
            if head.contentType == "application/json" { head.lastModified = UnixTime(seconds: 1_700_000_001) }
            head.contentType = nil
        case _: break
        }
    }

    var sabotage: Sabotage? { state.withLock { $0.sabotage } }
}
