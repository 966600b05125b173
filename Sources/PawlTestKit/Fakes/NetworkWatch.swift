import PawlCore
import Synchronization

/// Checks that connections stay within the plan and within what hosts allow.
///
/// It is more lenient than the budget that it checks: it sees requests only when they are sent.
struct NetworkWatch: Sendable {
    private struct Host: Sendable {
        /// The connections that the host allows; `nil` until it has throttled.
        var limit: Int?
        var since = Instant(nanoseconds: 0)
        var holdUntil = Instant(nanoseconds: 0)
        /// The most that were open since it throttled, at the same instant.
        var peak: Int?
    }

    private var hosts: [String: Host] = [:]
    /// The connections of each path: the number that is open, and the limit.
    private var open: [String: Int] = [:]
    var widths: [String: Int] = [:]
    private(set) var violations: [Violation] = []
    private(set) var throttlings = 0

    mutating func begins(_ address: WebAddress, running: Int, now: Instant) {
        let count = open[address.path, default: 0] + 1
        open[address.path] = count
        if let width = widths[address.path], let text = Law.within(count, width) {
            violations.append(Violation(.connections, "\(address.text): \(text)"))
        }
        guard let host = hosts[address.host] else { return }
        if host.peak != nil {
            hosts[address.host]?.peak = max(host.peak ?? 0, running + 1)
        } else if let limit = host.limit {
            let recovered = Int((now - host.since).seconds / HostBudget.recovery.seconds)
            if let text = Law.within(running + 1, limit + recovered) {
                violations.append(Violation(.connections, "\(address.host) throttled: \(text)"))
            }
        }
        if let text = Law.silent(now: now, until: host.holdUntil), host.peak == nil {
            violations.append(Violation(.silence, "\(address.host): \(text)"))
        }
    }

    mutating func violate(_ law: Law, _ text: String) { violations.append(Violation(law, text)) }

    mutating func ends(_ address: WebAddress) { open[address.path, default: 1] -= 1 }

    /// Requests that are sent at the same instant may have been granted before.
    mutating func throttled(_ name: String, open: Int, retryAfter: Interval?, now: Instant) {
        throttlings += 1
        var host = hosts[name] ?? Host()
        host.peak = max(host.peak ?? 0, open)
        host.limit = host.limit.map { $0 + Int((now - host.since).seconds / HostBudget.recovery.seconds) }
        host.since = now
        if let retryAfter { host.holdUntil = max(host.holdUntil, now + retryAfter) }
        hosts[name] = host
    }

    mutating func instantEnds() {
        for (name, host) in hosts {
            guard let peak = host.peak else { continue }
            hosts[name]?.limit = max(1, min(host.limit ?? .max, peak))
            hosts[name]?.peak = nil
        }
    }

    /// A new process knows nothing of earlier throttling.
    mutating func forget() { hosts = [:] }
}

extension SimulatedNetwork {
    /// Sets the most connections that a download of `path` may have.
    package func limit(_ path: String, to width: Int) { state.withLock { $0.watch.widths[path] = width } }
    package var violations: [Violation] { state.withLock { $0.watch.violations } }
    package var throttlings: Int { state.withLock { $0.watch.throttlings } }
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
