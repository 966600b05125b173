package import PawlBase
import PawlSystem

/// Looks host names up, as `HostCache` decides, for all transports of the process.
///
/// The threads are started when they are needed and end when there is nothing to look up.
package final class HostResolver: Sendable {
    package static let shared = HostResolver(SystemClock(), lookingUp: SystemResolver.lookUp)

    fileprivate struct State {
        var cache = HostCache()
        var dice: Dice
        var lastWaiter: HostCache.Waiter = 0
        var receivers: [HostCache.Waiter: HostResolver.Receiver] = [:]
        var threads = 0
        /// The threads that wait for a lookup.
        var idle = 0
        /// Whether one of them waits for the time of a delayed lookup.
        var isTimed = false
    }

    private let state: Monitor<State>
    private let clock: any Clock
    private let idleTime: Interval
    private let lookUp: @Sendable (HostQuery) -> HostResult

    /// `lookUp` may block; a thread without work ends after `idleTime`.
    init(
        _ clock: any Clock, idleTime: Interval = .seconds(5),
        lookingUp lookUp: @escaping @Sendable (HostQuery) -> HostResult
    ) {
        self.clock = clock
        self.idleTime = idleTime
        self.lookUp = lookUp
        state = Monitor(State(dice: Dice(seed: UInt64(truncatingIfNeeded: clock.now.nanoseconds))))
    }

    package typealias Receiver = @Sendable (HostCache.Waiter, HostResult) -> Void

    package enum Reply {
        case known(HostResult)
        /// The receiver is called, on another thread, unless the number is withdrawn before.
        case waiting(HostCache.Waiter)
    }

    package func ask(_ query: HostQuery, _ receiver: @escaping Receiver) -> Reply {
        let now = clock.now
        let (reply, starts) = state.with(waking: .none) { state -> (Reply, Bool) in
            state.lastWaiter += 1
            let waiter = state.lastWaiter
            if let result = state.cache.ask(query, for: waiter, at: now) { return (.known(result), false) }
            state.receivers[waiter] = receiver
            return (.waiting(waiter), state.needsThread(at: now))
        }
        if case .waiting = reply { workIsReady(starts) }
        return reply
    }

    /// The receiver of the number is not called from now on, except by a thread that is about to.
    package func withdraw(_ waiter: HostCache.Waiter, from query: HostQuery) {
        state.with(waking: .none) { state in
            state.cache.withdraw(waiter, from: query)
            state.receivers[waiter] = nil
        }
    }

    /// Whether a name that libcurl could not resolve is known not to exist; starts a lookup when nothing is known.
    package func isMissing(_ query: HostQuery) -> Bool {
        let now = clock.now
        let (result, starts) = state.with(waking: .none) { state in
            let result = state.cache.ask(query, for: nil, at: now)
            return (result, result == nil && state.needsThread(at: now))
        }
        if result == nil { workIsReady(starts) }
        return result == .missing
    }

    private func workIsReady(_ startsThread: Bool) {
        if startsThread { startThread() } else { state.with(waking: .one) { _ in } }
    }

    private func startThread() {
        let thread = SystemThread("pawl-names", blocksSignals: true) { [self] in
            while let query = next() { end(query, lookUp(query)) }
        }
        if let thread { return thread.detach() }
        // Other threads do the work; without any, nothing can be looked up.
        let now = clock.now
        let orphans = state.with { state in
            state.threads -= 1
            var orphans: [HostQuery] = []
            while state.threads == 0, let query = state.cache.next(at: now) { orphans.append(query) }
            return orphans
        }
        for query in orphans { end(query, .unavailable) }
    }

    private enum Task {
        case lookUp(HostQuery)
        /// To become the thread that waits for delayed lookups.
        case keepTime
    }

    /// The next name for this thread; `nil` when the thread is no longer needed.
    private func next() -> HostQuery? {
        while true {
            let due = state.with(waking: .none) { state -> Instant? in
                state.idle += 1
                guard !state.isTimed, let due = state.cache.deadline else { return nil }
                state.isTimed = true
                return due
            }
            let isTimed = due != nil
            let task = state.wait(until: due ?? clock.now + idleTime) { [clock] state -> Task? in
                if let query = state.cache.next(at: clock.now) { return .lookUp(query) }
                return !isTimed && !state.isTimed && state.cache.deadline != nil ? .keepTime : nil
            }
            let now = clock.now
            let (ends, starts, hasMore) = state.with(waking: task == nil ? .all : .none) { state in
                state.idle -= 1
                if isTimed { state.isTimed = false }
                let hasMore = state.cache.deadline != nil
                if case .lookUp = task { return (false, state.needsThread(at: now), hasMore) }
                // Another thread waits for what is not due yet, or this one does.
                let ends = task == nil && !isTimed && (!hasMore || state.idle > 0)
                if ends { state.threads -= 1 }
                return (ends, false, hasMore)
            }
            if ends { return nil }
            guard case .lookUp(let query) = task else { continue }
            if hasMore { workIsReady(starts) }
            return query
        }
    }

    /// Waits until all threads have ended; `false` when the deadline has come before.
    func waitForThreads(until deadline: Instant) -> Bool {
        state.wait(until: deadline) { $0.threads == 0 ? true : nil } ?? false
    }

    private func end(_ query: HostQuery, _ result: HostResult) {
        let now = clock.now
        let notified = state.with(waking: .none) { state in
            guard let end = state.cache.ended(query, result, at: now, dice: &state.dice) else {
                return [] as [(Receiver, HostCache.Waiter, HostResult)]
            }
            return end.waiters.compactMap { waiter in
                state.receivers.removeValue(forKey: waiter).map { ($0, waiter, end.result) }
            }
        }
        for (receiver, waiter, result) in notified { receiver(waiter, result) }
    }
}

extension HostResolver.State {
    /// Whether another thread has to be started; counts it.
    fileprivate mutating func needsThread(at now: Instant) -> Bool {
        guard threads < HostCache.mostLookups, cache.deadline != nil else { return false }
        // One waits for what is not due yet.
        guard idle == 0 || cache.ready(at: now) > idle else { return false }
        threads += 1
        return true
    }
}
