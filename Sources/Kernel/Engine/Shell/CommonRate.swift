import PawlBase
import PawlCore
import Synchronization

/// The common rate limit of all downloads: those of one engine, or of several that share it.
package final class CommonRate: Sendable {
    private struct Member: Sendable { weak var engine: Engine? }

    private let limiter = Mutex(RateLimiter(rate: nil))
    private let isSet = Atomic(false)
    private let members = Mutex<[Member]>([])

    package init() {}

    /// In bytes per second; `nil` for none.
    package var rate: Int64? { limiter.withLock { $0.rate } }
    /// Costs one atomic load.
    var isLimited: Bool { isSet.load(ordering: .relaxed) }

    /// Notifies the engine of changes for as long as it lives.
    func join(_ engine: Engine) {
        members.withLock { members in
            members.removeAll { $0.engine == nil }
            members.append(Member(engine: engine))
        }
    }

    func change(to rate: Int64?, now: Instant) {
        limiter.withLock { $0.change(rate: rate, now: now) }
        isSet.store(rate != nil, ordering: .relaxed)
        for member in members.withLock({ $0 }) { member.engine?.limitsChanged() }
    }

    func charge(_ bytes: Int, now: Instant) { if isLimited { limiter.withLock { $0.charge(bytes, now: now) } } }

    /// How long the next byte of any download has to wait.
    func delay(now: Instant) -> Interval { isLimited ? limiter.withLock { $0.delay(now: now) } : .zero }
}
