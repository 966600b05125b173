import PawlCore
import Synchronization

/// What the loops of one engine share: budgets of hosts, the common rate limit, the way out for reports.
final class Shared: Sendable {
    let ports: Ports
    let onReport: @Sendable (Report) -> Void
    /// A download needs the network no more: another may have its slot.
    let onSlotFree: @Sendable (DownloadID) -> Void
    /// A loop has let go of a download, whatever its end.
    let onSettled: @Sendable (DownloadID) -> Void
    private let hosts = Mutex<[Origin: HostBudget]>([:])
    private let limiter = Mutex(RateLimiter(rate: nil))
    private let isLimited = Atomic(false)
    private let transfers = Atomic<UInt64>(0)

    init(
        ports: Ports,
        onReport: @escaping @Sendable (Report) -> Void,
        onSlotFree: @escaping @Sendable (DownloadID) -> Void,
        onSettled: @escaping @Sendable (DownloadID) -> Void
    ) {
        self.ports = ports
        self.onReport = onReport
        self.onSlotFree = onSlotFree
        self.onSettled = onSettled
    }

    func nextTransfer() -> TransferID {
        TransferID(rawValue: transfers.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    func acquire(_ origin: Origin, now: Moment) -> HostBudget.Answer {
        hosts.withLock { $0[origin, default: HostBudget()].acquire(now: now) }
    }

    func release(_ origin: Origin) {
        hosts.withLock { hosts in
            guard let index = hosts.index(forKey: origin) else { return }
            hosts.values[index].release()
            if hosts.values[index].isIdle { hosts.remove(at: index) }
        }
    }

    func complain(_ origin: Origin, retryAfter: Span?, now: Moment) {
        hosts.withLock { $0[origin, default: HostBudget()].complain(retryAfter: retryAfter, now: now) }
    }

    var rate: Int64? { limiter.withLock { $0.rate } }

    func change(rate: Int64?, now: Moment) {
        limiter.withLock { $0.change(rate: rate, now: now) }
        isLimited.store(rate != nil, ordering: .relaxed)
    }

    func charge(_ bytes: Int, now: Moment) {
        limiter.withLock { $0.charge(bytes, now: now) }
    }

    /// How long the next byte of any download has to wait.
    ///
    /// Costs one load while there is no limit.
    func delay(now: () -> Moment) -> Span {
        guard isLimited.load(ordering: .relaxed) else { return .zero }
        let now = now()
        return limiter.withLock { $0.delay(now: now) }
    }

    var hasLimit: Bool { isLimited.load(ordering: .relaxed) }
}
