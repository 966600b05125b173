import PawlBase
import PawlSystem
import Synchronization

/// Keeps the threads of a process until `run`, which runs them to their end one step at a time.
///
/// A single one runs on the caller's own thread; several get threads, of which only one ever moves. One that another starts
/// begins when it gets its turn.
package final class InlineThreads: Threads {
    private struct State {
        var bodies: [@Sendable () -> Void] = []
        var isRunning = false
        var started: [SystemThread] = []
    }

    private let timeline: Timeline
    private let state = Mutex(State())

    package init(_ timeline: Timeline) { self.timeline = timeline }

    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isRunning { state.bodies.append(body) }
            return state.isRunning
        }
        guard isLate else { return }
        let seat = timeline.addSeat()
        let thread = SystemThread.start { [timeline] in Self.run(body, at: seat, of: timeline) }
        state.withLock { $0.started.append(thread) }
    }

    /// Runs everything that was started, to its end.
    package func run() {
        let bodies = state.withLock { state in
            defer { state.bodies = [] }
            state.isRunning = !state.bodies.isEmpty
            return state.bodies
        }
        guard !bodies.isEmpty else { return }
        timeline.seat(bodies.count)
        if bodies.count == 1 {
            Self.run(bodies[0], at: 0, of: timeline)
        } else {
            let threads = bodies.enumerated().map { [timeline] seat, body in
                SystemThread.start { Self.run(body, at: seat, of: timeline) }
            }
            for thread in threads { thread.join() }
        }
        while let thread = state.withLock({ $0.started.popLast() }) { thread.join() }
        state.withLock { $0.isRunning = false }
    }

    private static func run(_ body: @Sendable () -> Void, at seat: Int, of timeline: Timeline) {
        timeline.enter(seat)
        body()
        timeline.leave(seat)
    }
}
