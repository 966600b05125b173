import PawlCore
import Synchronization

/// State shared by the loops of one engine: budgets of hosts, the common rate limit, the handler of events.
final class Shared: Sendable {
    let ports: Ports
    /// Whether phases that other events imply are reported.
    let reportsEveryPhase: Bool
    let onReport: @Sendable (EngineEvent) -> Void
    /// A download paused or failed, and is about to be released.
    let onRests: @Sendable (DownloadID) -> Void
    /// A download no longer needs the network.
    let onPublishing: @Sendable (DownloadID) -> Void
    /// A loop has released a download, however it ended.
    let onReleased: @Sendable (DownloadID) -> Void
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

        /// Edits the budget of an origin in place; `nil` when there is none.
        mutating func edit<Value>(_ origin: Origin, _ body: (inout HostBudget) -> Value) -> Value? {
            budgets.index(forKey: origin).map { body(&budgets.values[$0]) }
        }
    }

    let sidecars: SidecarFinder

    private let hosts = Mutex(Hosts())
    let line = Mutex(DescriptorQueue())
    /// Descriptors are scarce: idle connections are to be closed.
    let onScarcity: @Sendable () -> Void
    private let common: CommonRate
    private let isHostLimited = Atomic(false)
    private let transfers = Atomic<UInt64>(0)

    init(
        ports: Ports,
        common: CommonRate,
        reportsEveryPhase: Bool,
        onReport: @escaping @Sendable (EngineEvent) -> Void,
        onRests: @escaping @Sendable (DownloadID) -> Void,
        onPublishing: @escaping @Sendable (DownloadID) -> Void,
        onReleased: @escaping @Sendable (DownloadID) -> Void,
        onScarcity: @escaping @Sendable () -> Void
    ) {
        self.ports = ports
        sidecars = SidecarFinder(signatures: ports.signatures)
        self.common = common
        self.reportsEveryPhase = reportsEveryPhase
        self.onReport = onReport
        self.onRests = onRests
        self.onPublishing = onPublishing
        self.onReleased = onReleased
        self.onScarcity = onScarcity
    }

    func nextTransfer() -> TransferID {
        TransferID(rawValue: transfers.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    func acquire(_ origin: Origin, now: Instant) -> HostBudget.Grant {
        hosts.withLock { hosts in
            hosts.sweep(now: now)
            let most = hosts.limits.connections
            if let grant = hosts.edit(origin, { $0.acquire(most: most, now: now) }) { return grant }
            let learntLimit = ports.hostNotes?.learntLimit(of: origin)
            var budget = learntLimit.map { HostBudget(learntLimit: $0, now: now) } ?? HostBudget()
            defer { hosts.budgets[origin] = budget }
            return budget.acquire(most: most, now: now)
        }
    }

    /// The budgets of all origins that are in use or reported overload.
    var budgets: [Origin: HostBudget] { hosts.withLock { $0.budgets } }

    func release(_ origin: Origin, served: Bool) {
        _ = hosts.withLock { $0.edit(origin) { $0.release(served: served) } }
    }

    func accept(_ origin: Origin) {
        let allowsMore = hosts.withLock { $0.edit(origin) { $0.accept() } ?? false }
        if allowsMore { ports.hostNotes?.forget(origin) }
    }

    func isCrowded(_ origin: Origin) -> Bool { hosts.withLock { $0.budgets[origin]?.isCrowded ?? false } }

    func throttled(_ origin: Origin, retryAfter: Interval?, isFirst: Bool, now: Instant) {
        learn(of: origin) { $0.throttled(retryAfter: retryAfter, isFirst: isFirst, now: now) }
    }

    func withdrawRefusal(_ origin: Origin) { hosts.withLock { $0.budgets[origin]?.withdrawRefusal() } }

    func endHold(_ origin: Origin) { hosts.withLock { $0.budgets[origin]?.endHold() } }

    /// The address with the scheme that its host requires.
    func secured(_ address: WebAddress) -> WebAddress {
        address.scheme == .http ? ports.hostNotes?.secured(address) ?? address : address
    }

    func note(transportSecurity field: String, of host: String) {
        ports.hostNotes?.note(transportSecurity: field, of: host)
    }

    func connectionRefused(_ origin: Origin, isSameFile: Bool, now: Instant) {
        learn(of: origin) { $0.connectionRefused(isSameFile: isSameFile, now: now) }
    }

    /// Stores for the next start how many connections a host was seen to allow.
    private func learn(of origin: Origin, _ edit: (inout HostBudget) -> Void) {
        let (before, after) = hosts.withLock { hosts in
            var budget = hosts.budgets[origin] ?? HostBudget()
            let before = budget
            edit(&budget)
            hosts.budgets[origin] = budget
            return (before, budget)
        }
        guard let learntLimit = after.learntLimit,
            learntLimit != before.learntLimit || after.isLearntLimitCertain && !before.isLearntLimitCertain
        else { return }
        ports.hostNotes?.note(learntLimit, of: origin, isCertain: after.isLearntLimitCertain)
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
