import CPawlSystem
import Glibc
package import PawlCore
package import PawlEngine
import Synchronization

/// Waits with epoll(7).
@safe
package final class EpollPoller: Poller {
    private let epoll: Int32
    private let waker: Waker
    private let clock: any Clock
    private let ready: UnsafeMutablePointer<pawl_ready>
    private var count = 0
    private var sources: UInt8 = 0

    private static let capacity = 64
    private static let wakeKey: UInt64 = 0
    private static let sourceShift: UInt64 = 56

    /// `nil` when the process may not open more descriptors.
    package init?(clock: any Clock) {
        self.clock = clock
        epoll = pawl_poller_make()
        waker = Waker()
        unsafe ready = .allocate(capacity: Self.capacity)
        guard epoll >= 0, waker.isAdded(to: epoll, key: Self.wakeKey) else { return nil }
    }

    deinit {
        waker.close()
        if epoll >= 0 { close(epoll) }
        unsafe ready.deallocate()
    }

    package func makeSource() -> PollSource {
        sources += 1
        return PollSource(number: sources)
    }

    package func watch(
        _ descriptor: Int32,
        for interest: PollInterest,
        key: UInt64,
        of source: PollSource
    ) -> Bool {
        pawl_poller_add(epoll, descriptor, Self.events(interest), Self.key(key, source)) == 0
    }

    package func change(
        _ descriptor: Int32,
        to interest: PollInterest,
        key: UInt64,
        of source: PollSource
    ) -> Bool {
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
                    key: key & (1 << Self.sourceShift - 1),
                    canRead: events & UInt32(PAWL_READY_TO_READ) != 0,
                    canWrite: events & UInt32(PAWL_READY_TO_WRITE) != 0,
                    hasPeerClosed: events & UInt32(PAWL_PEER_CLOSED) != 0
                )
            )
        }
    }

    package var wake: @Sendable () -> Void {
        { [waker] in waker.wake() }
    }
}

/// A descriptor of eventfd(2) that any thread may signal; does nothing once it is closed.
private final class Waker: Sendable {
    private let descriptor = Mutex(pawl_wakeup_make())

    /// Each signal is reported once, so that nothing has to be read.
    func isAdded(to epoll: Int32, key: UInt64) -> Bool {
        descriptor.withLock {
            $0 >= 0 && pawl_poller_add(epoll, $0, UInt32(truncatingIfNeeded: PAWL_WATCH_SIGNALS), key) == 0
        }
    }

    func wake() {
        // The lock is held so that the descriptor is not closed meanwhile; the write does not block.
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            var one: UInt64 = 1
            _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
        }
    }

    func close() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { _ = Glibc.close(descriptor) }
            descriptor = -1
        }
    }
}

/// Makes pollers of epoll(7).
package struct EpollPollers: PollerMaker {
    private let clock: any Clock

    package init(clock: any Clock) { self.clock = clock }

    /// Stops the process if it may not open two more descriptors when an engine starts.
    package func makePoller() -> any Poller {
        guard let poller = EpollPoller(clock: clock) else {
            preconditionFailure("cannot wait for sockets: \(SystemError.last.text)")
        }
        return poller
    }
}
