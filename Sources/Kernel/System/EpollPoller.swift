import CPawlSystem
import Glibc
package import PawlBase

/// Waits with epoll(7).
///
/// Its own descriptors are opened when something is watched. While the process may not open more, nothing can be watched, but
/// waking works.
@safe package final class EpollPoller: Poller {
    /// Negative when it is not open.
    private var epoll: Int32 = -1
    private let waker = Waker()
    private let clock: any Clock
    private let ready: UnsafeMutablePointer<pawl_ready>
    private var count = 0
    private var sources: UInt8 = 0

    private static let capacity = 64
    private static let wakeKey: UInt64 = 0
    private static let sourceShift: UInt64 = 56

    package init(clock: any Clock) {
        self.clock = clock
        unsafe ready = .allocate(capacity: Self.capacity)
    }

    deinit {
        waker.close()
        if epoll >= 0 { close(epoll) }
        unsafe ready.deallocate()
    }

    /// Opens the descriptors if they are not open; `false` when that is impossible, with the reason in `errno`.
    fileprivate func isOpen() -> Bool {
        guard epoll < 0 else { return true }
        let new = pawl_poller_make()
        guard new >= 0 else { return false }
        guard waker.open(on: new, key: Self.wakeKey) else {
            let reason = errno
            close(new)
            errno = reason
            return false
        }
        epoll = new
        return true
    }

    package func makeSource() -> PollSource {
        sources += 1
        return PollSource(number: sources)
    }

    package func watch(_ descriptor: Int32, for interest: PollInterest, key: UInt64, of source: PollSource) -> Bool {
        isOpen() && pawl_poller_add(epoll, descriptor, Self.events(interest), Self.key(key, source)) == 0
    }

    package func change(_ descriptor: Int32, to interest: PollInterest, key: UInt64, of source: PollSource) -> Bool {
        pawl_poller_change(epoll, descriptor, Self.events(interest), Self.key(key, source)) == 0
    }

    package func unwatch(_ descriptor: Int32) { pawl_poller_remove(epoll, descriptor) }

    private static func key(_ key: UInt64, _ source: PollSource) -> UInt64 {
        precondition(key < 1 << sourceShift, "a key is too great")
        return UInt64(source.number) << sourceShift | key
    }

    private static func events(_ interest: PollInterest) -> UInt32 {
        switch interest {
        case .changes: UInt32(truncatingIfNeeded: PAWL_WATCH_CHANGES)
        case .reading: UInt32(PAWL_WATCH_READING)
        case .writing: UInt32(PAWL_WATCH_WRITING)
        case .readingAndWriting: UInt32(PAWL_WATCH_READING | PAWL_WATCH_WRITING)
        }
    }

    package func wait(until deadline: Instant?) {
        // Whatever has happened since: a loop has no better time to look for it.
        if ThreadBacklog.shared.isWaiting { ThreadBacklog.shared.retry() }
        guard epoll >= 0 else {
            count = 0
            return waker.wait(until: deadline)
        }
        let found = unsafe pawl_poller_wait(epoll, ready, Int32(Self.capacity), milliseconds(until: deadline))
        count = max(0, Int(found))
    }

    /// Rounded up: waking before an alarm is due would only spin.
    private func milliseconds(until deadline: Instant?) -> Int32 {
        guard let deadline else { return -1 }
        guard deadline > .past else { return 0 }
        let left = (deadline - clock.now).nanoseconds
        return Int32(min(Int64(Int32.max), max(0, left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))))
    }

    package func takeEvents(of source: PollSource, _ body: (PollEvent) -> Void) {
        for index in 0..<count {
            let (key, events) = unsafe (ready[index].key, ready[index].events)
            guard events != 0, key >> Self.sourceShift == UInt64(source.number) else { continue }
            unsafe ready[index].events = 0
            body(
                PollEvent(
                    key: key & (1 << Self.sourceShift - 1), canRead: events & UInt32(PAWL_READY_TO_READ) != 0,
                    canWrite: events & UInt32(PAWL_READY_TO_WRITE) != 0,
                    hasPeerClosed: events & UInt32(PAWL_PEER_CLOSED) != 0))
        }
    }

    package var wake: @Sendable () -> Void { { [waker] in waker.wake() } }
}

/// A descriptor of eventfd(2) that any thread may signal; signals before it is open wait for it.
private final class Waker: Sendable {
    private struct State {
        var descriptor: Int32 = -1
        var isSignalled = false
    }

    private let state = Monitor(State())

    /// Each signal is reported once, so that nothing has to be read.
    func open(on epoll: Int32, key: UInt64) -> Bool {
        state.with(waking: .none) { state in
            let new = pawl_wakeup_make()
            guard new >= 0 else { return false }
            guard pawl_poller_add(epoll, new, UInt32(truncatingIfNeeded: PAWL_WATCH_SIGNALS), key) == 0 else {
                let reason = errno
                _ = Glibc.close(new)
                errno = reason
                return false
            }
            state.descriptor = new
            if state.isSignalled { Self.signal(new) }
            return true
        }
    }

    /// Waits for a signal while the descriptor is not open.
    func wait(until deadline: Instant?) {
        _ = state.wait(until: deadline) { state in
            guard state.isSignalled else { return Void?.none }
            state.isSignalled = false
            return ()
        }
    }

    func wake() {
        // The lock is held so that the descriptor is not closed meanwhile; the write does not block.
        state.with(waking: .one) { state in
            if state.descriptor >= 0 { Self.signal(state.descriptor) } else { state.isSignalled = true }
        }
    }

    private static func signal(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func close() {
        state.with(waking: .none) { state in
            if state.descriptor >= 0 { _ = Glibc.close(state.descriptor) }
            state.descriptor = -1
        }
    }
}

/// Makes pollers of epoll(7).
package struct EpollPollers: PollerMaker {
    private let clock: any Clock

    package init(clock: any Clock) { self.clock = clock }

    package func makePoller() -> any Poller {
        let poller = EpollPoller(clock: clock)
        // Later there may be no descriptor for it.
        _ = poller.isOpen()
        return poller
    }
}
