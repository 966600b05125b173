import Pawl
package import PawlBase
import PawlSystem
import Synchronization

/// Time that only a test moves, for what waits: retries, timeouts, slow responses, limits of speed.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.transport = origin.transport(clock: clock)
/// // … until the download waits for its next attempt
/// await clock.advance(by: .seconds(30))
/// ```
///
/// It is the time of the downloads of one or several downloaders. Files are written in the time of the machine.
public final class ManualClock: Sendable {
    /// A loop that waits for events.
    private struct Seat {
        enum State {
            case working
            case waiting(until: Instant?)
        }

        var state = State.working
        let wake: @Sendable () -> Void
    }

    private struct Time {
        var now = Instant(nanoseconds: 1_000_000_000)
        var seats: [Int: Seat] = [:]
        var next = 0
    }

    private let time = Mutex(Time())
    private let changes = ChangeSignal()
    private let began: Int64

    /// Creates a clock that stands.
    ///
    /// `start`: the time of day, in seconds since 1970, by which cookies and dates of responses are judged. Default 1 January 2026.
    public init(startingAt start: Int64 = 1_767_225_600) { began = start }

    /// How far it was moved.
    public var elapsed: Duration { .nanoseconds(now.nanoseconds - 1_000_000_000) }

    /// Moves it by `duration`, in steps: what becomes due on the way is done first, and in its order.
    ///
    /// Returns when everything that was due by then was done, as far as it is done by the threads of transfers: a file may still be
    /// synced. Wait for a state of the download before it is moved, such as `waiting` with a `retryIn`, or for ``StubGate/reached()``:
    /// while it stands, snapshots show no further bytes.
    public func advance(by duration: Duration) async {
        let (seconds, attoseconds) = duration.components
        let end = now + .seconds(Double(seconds) + Double(attoseconds) / 1e18)
        while true {
            let seen = changes.count
            switch step(to: end) {
            case .done: return
            case .woke(let wakes): for wake in wakes { wake() }
            case .busy: await changes.wait(after: seen)
            }
            // A cancelled test does not wait.
            if Task.isCancelled { return }
        }
    }

    private enum Step {
        case done
        case woke([@Sendable () -> Void])
        /// A loop is working.
        case busy
    }

    private func step(to end: Instant) -> Step {
        time.withLock { time in
            var due: Instant?
            for seat in time.seats.values {
                guard case .waiting(let until) = seat.state else { return .busy }
                if let until { due = min(due ?? until, until) }
            }
            guard let due, due <= end else {
                time.now = max(time.now, end)
                return .done
            }
            time.now = max(time.now, due)
            var wakes: [@Sendable () -> Void] = []
            for (number, seat) in time.seats {
                guard case .waiting(let until?) = seat.state, until <= time.now else { continue }
                time.seats[number]?.state = .working
                wakes.append(seat.wake)
            }
            return .woke(wakes)
        }
    }

    // MARK: loops

    fileprivate func join(_ wake: @escaping @Sendable () -> Void) -> Int {
        time.withLock { time in
            time.next += 1
            time.seats[time.next] = Seat(wake: wake)
            return time.next
        }
    }

    fileprivate func leave(_ number: Int) {
        time.withLock { $0.seats[number] = nil }
        changes.notify()
    }

    /// The loop waits; `false` if it has something to do now.
    fileprivate func sit(_ number: Int, until deadline: Instant?) -> Bool {
        let waits = time.withLock { time in
            if let deadline, deadline <= time.now { return false }
            time.seats[number]?.state = .waiting(until: deadline)
            return true
        }
        if waits { changes.notify() }
        return waits
    }

    fileprivate func rise(_ number: Int) { time.withLock { $0.seats[number]?.state = .working } }
}

extension ManualClock: PawlBase.Clock {
    package var now: Instant { time.withLock { $0.now } }
    package var wallTime: UnixTime {
        UnixTime(seconds: began + (now.nanoseconds - 1_000_000_000) / 1_000_000_000)
    }
}

/// Waits for events of descriptors, and for the clock to be moved.
private final class ManualPoller: Poller {
    private let clock: ManualClock
    private let inner: any Poller
    private let seat: Int

    init(_ clock: ManualClock) {
        self.clock = clock
        inner = EpollPollers(clock: SystemClock()).makePoller()
        seat = clock.join(inner.wake)
    }

    deinit { clock.leave(seat) }

    func makeSource() -> PollSource { inner.makeSource() }

    func watch(_ descriptor: Int32, for interest: PollInterest, key: UInt64, of source: PollSource) -> Bool {
        inner.watch(descriptor, for: interest, key: key, of: source)
    }

    func change(_ descriptor: Int32, to interest: PollInterest, key: UInt64, of source: PollSource) -> Bool {
        inner.change(descriptor, to: interest, key: key, of: source)
    }

    func unwatch(_ descriptor: Int32) { inner.unwatch(descriptor) }

    func wait(until deadline: Instant?) {
        guard clock.sit(seat, until: deadline) else { return inner.wait(until: .past) }
        inner.wait(until: nil)
        clock.rise(seat)
    }

    func takeEvents(of source: PollSource, _ body: (PollEvent) -> Void) { inner.takeEvents(of: source, body) }

    var wake: @Sendable () -> Void { inner.wake }
}

struct ManualPollers: PollerMaker {
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func makePoller() -> any Poller { ManualPoller(clock) }
}
