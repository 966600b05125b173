import PawlCore
import Synchronization

/// What the loops of one engine share: budgets of hosts, the common rate limit, the way out for reports.
final class Shared: Sendable {
    let ports: Ports
    /// Whether phases that other tellings imply are told.
    let tellsEveryPhase: Bool
    let onReport: @Sendable (EngineEvent) -> Void
    /// A download needs the network no more: another may have its slot.
    let onSlotFree: @Sendable (DownloadID) -> Void
    /// A loop has let go of a download, whatever its end.
    let onSettled: @Sendable (DownloadID) -> Void
    private struct Hosts: Sendable {
        var limits = HostLimits()
        var budgets: [Origin: HostBudget] = [:]
        /// With so many budgets those that have nothing to remember go.
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

    /// What every origin has and may have that is in use or has complained.
    var budgets: [Origin: HostBudget] { hosts.withLock { $0.budgets } }

    func release(_ origin: Origin, served: Bool) {
        hosts.withLock { $0.budgets[origin]?.release(served: served) }
    }

    func accept(_ origin: Origin) { hosts.withLock { $0.budgets[origin]?.accept() } }
    func isCrowded(_ origin: Origin) -> Bool { hosts.withLock { $0.budgets[origin]?.isCrowded ?? false } }

    func throttled(_ origin: Origin, retryAfter: Interval?, now: Instant) {
        learn(of: origin) { $0.throttled(retryAfter: retryAfter, now: now) }
    }

    /// The address as it is to be asked.
    func secured(_ address: WebAddress) -> WebAddress {
        address.scheme == .http ? ports.hostNotes?.secured(address) ?? address : address
    }

    func note(transportSecurity field: String, of host: String) {
        ports.hostNotes?.note(transportSecurity: field, of: host)
    }

    func turnedAway(_ origin: Origin, now: Instant) { learn(of: origin) { $0.turnedAway(now: now) } }

    /// What a host was seen to bear is kept for the next start.
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

    /// Costs two loads.
    var hasLimit: Bool { common.isLimited || isHostLimited.load(ordering: .relaxed) }
    /// The slowest that any download may have to be, whatever its own limit.
    var slowest: Int64? { [common.rate, hosts.withLock { $0.limits.rate }].compactMap { $0 }.min() }
}
