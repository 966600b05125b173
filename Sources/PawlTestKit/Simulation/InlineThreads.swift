import PawlEngine
import PawlSystem
import Synchronization

/// Keeps the loops of an engine until `run`, which runs them to their end one step at a time.
///
/// A single loop runs on the caller's own thread; several get threads, of which only one ever moves.
package final class InlineThreads: Threads {
    private let timeline: Timeline
    private let bodies = Mutex<[@Sendable () -> Void]>([])

    package init(_ timeline: Timeline) { self.timeline = timeline }

    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        bodies.withLock { $0.append(body) }
    }

    /// Runs everything that was started, to its end.
    package func run() {
        let bodies = bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        guard !bodies.isEmpty else { return }
        timeline.seat(bodies.count)
        let runs = bodies.enumerated().map { [timeline] seat, body in
            { @Sendable in
                timeline.enter(seat)
                body()
                timeline.leave(seat)
            }
        }
        guard runs.count > 1 else { return runs[0]() }
        for thread in runs.map({ run in SystemThread.start { run() } }) { thread.join() }
    }
}
