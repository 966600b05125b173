import PawlCore
import Synchronization

/// State shared by the loops of one engine: budgets of hosts, the common rate limit, the handler of events.
final class Shared: Sendable {
    let ports: Ports
    /// Whether phases that other events imply are reported.
    let tellsEveryPhase: Bool
    let onReport: @Sendable (EngineEvent) -> Void
    /// A download no longer needs the network: its slot is free.
    let onSlotFree: @Sendable (DownloadID) -> Void
    /// A loop has released a download, however it ended.
    let onSettled: @Sendable (DownloadID) -> Void
    private struct Hosts: Sendable {
        var limits = HostLimits()
        var budgets: [Origin: HostBudget] = [:]
        /// The number of budgets at which unused ones are removed.
        var sweepsAt = 64

        mutating func sweep(now: Instant) {
            guard budgets.count >= sweepsAt else { return }
            for origin in Array(budgets.keys) where budgets[origin]?.isForgettable(now: now) ?? false {
                budgets[origin] = nil
            }
            sweepsAt = max(64, budgets.count * 2)
        }
    }

    private let hosts = Mutex(Hosts())
    private let common: CommonRate
    private let isHostLimited = Atomic(false)
    private let transfers = Atomic<UInt64>(0)

    init(
        ports: Ports,
        common: CommonRate,
        tellsEveryPhase: Bool,
        onReport: @escaping @Sendable (EngineEvent) -> Void,
        onSlotFree: @escaping @Sendable (DownloadID) -> Void,
        onSettled: @escaping @Sendable (DownloadID) -> Void
    ) {
        self.ports = ports
        self.common = common
        self.tellsEveryPhase = tellsEveryPhase
        self.onReport = onReport
        self.onSlotFree = onSlotFree
        self.onSettled = onSettled
    }

    func nextTransfer() -> TransferID {
        TransferID(rawValue: transfers.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    func acquire(_ origin: Origin, now: Instant) -> HostBudget.Grant {
        hosts.withLock { hosts in
            hosts.sweep(now: now)
            if hosts.budgets[origin] == nil, let borne = ports.hostNotes?.borne(by: origin) {
                hosts.budgets[origin] = HostBudget(borne: borne, now: now)
            }
            return hosts.budgets[origin, default: HostBudget()].acquire(
                most: hosts.limits.connections,
                now: now
            )
        }
    }

    /// The budgets of all origins that are in use or reported overload.
    var budgets: [Origin: HostBudget] { hosts.withLock { $0.budgets } }

    func release(_ origin: Origin, served: Bool) {
        hosts.withLock { $0.budgets[origin]?.release(served: served) }
    }

    func accept(_ origin: Origin) { hosts.withLock { $0.budgets[origin]?.accept() } }
    func isCrowded(_ origin: Origin) -> Bool { hosts.withLock { $0.budgets[origin]?.isCrowded ?? false } }

    func throttled(_ origin: Origin, retryAfter: Interval?, now: Instant) {
        learn(of: origin) { $0.throttled(retryAfter: retryAfter, now: now) }
    }

    /// The address with the scheme that its host requires.
    func secured(_ address: WebAddress) -> WebAddress {
        address.scheme == .http ? ports.hostNotes?.secured(address) ?? address : address
    }

    func note(transportSecurity field: String, of host: String) {
        ports.hostNotes?.note(transportSecurity: field, of: host)
    }

    func turnedAway(_ origin: Origin, now: Instant) { learn(of: origin) { $0.turnedAway(now: now) } }

    /// Stores for the next start how many connections a host was seen to allow.
    private func learn(of origin: Origin, _ edit: (inout HostBudget) -> Void) {
        let (before, after) = hosts.withLock { hosts in
            var budget = hosts.budgets[origin] ?? HostBudget()
            let before = budget.borne
            edit(&budget)
            hosts.budgets[origin] = budget
            return (before, budget.borne)
        }
        if let after, after != before { ports.hostNotes?.note(after, of: origin) }
    }

    func change(hosts limits: HostLimits, now: Instant) {
        hosts.withLock { $0.limits = limits }
        isHostLimited.store(limits.rate != nil, ordering: .relaxed)
    }

    func charge(_ bytes: Int, to origin: Origin, now: Instant) {
        common.charge(bytes, now: now)
        guard isHostLimited.load(ordering: .relaxed) else { return }
        hosts.withLock { hosts in
            hosts.budgets[origin]?.charge(bytes, rate: hosts.limits.rate, now: now)
        }
    }

    /// How long the next byte of any download from this origin has to wait.
    func delay(of origin: Origin, now: Instant) -> Interval {
        let common = common.delay(now: now)
        guard isHostLimited.load(ordering: .relaxed) else { return common }
        return hosts.withLock { hosts in
            max(common, hosts.budgets[origin]?.delay(rate: hosts.limits.rate, now: now) ?? .zero)
        }
    }

    /// Costs two atomic loads.
    var hasLimit: Bool { common.isLimited || isHostLimited.load(ordering: .relaxed) }
    /// The lowest limit that applies to any download, apart from its own.
    var slowest: Int64? { [common.rate, hosts.withLock { $0.limits.rate }].compactMap { $0 }.min() }
}
