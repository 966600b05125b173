package import PawlBase
import PawlSystem
import PawlWeb
import Synchronization

/// The thread `pawl-watchdog`, which looks once a second whether the web server's thread (`pawl-web`) still takes messages,
/// and whether a shutdown ends: a service that hangs does not keep its root and port occupied.
///
/// ``Heartbeat`` has the limits. After a fault `onFault` restarts the service: through its supervisor, else in the same process.
/// The thread also returns freed memory to the system, and starts threads that the system had refused.
package final class Watchdog: Sendable {
    private struct State {
        var heartbeat = Heartbeat()
        var server: WebServer?
        var isEnding = false
        var isOver = false
    }

    /// Seconds after which freed memory is returned to the system.
    private static let trimPeriod = 60

    private let state = Mutex(State())
    private let onBeat: @Sendable () -> Void
    private let onFault: @Sendable (Heartbeat.Finding) -> Void

    /// - Parameters:
    ///   - onBeat: called on its thread after each check without a fault.
    ///   - onFault: called on its thread, once; is expected to end the process.
    package init(onBeat: @escaping @Sendable () -> Void, onFault: @escaping @Sendable (Heartbeat.Finding) -> Void) {
        self.onBeat = onBeat
        self.onFault = onFault
    }

    /// Throws code 1 when the system refuses its thread.
    package func start() throws(Failure) {
        try SystemThread.launch("pawl-watchdog") {
            for second in 1... {
                SystemThread.sleep(seconds: 1)
                guard let finding = self.look() else { return }
                if finding != .well { return self.onFault(finding) }
                self.onBeat()
                ThreadBacklog.shared.retry()
                if second % Self.trimPeriod == 0 { SystemMemory.trim() }
            }
        }
    }

    /// From now on the service's web server must respond.
    package func watch(_ service: Service) { state.withLock { $0.server = service.server } }

    /// The process was requested to end.
    package func expectEnd() { state.withLock { $0.isEnding = true } }

    /// The shutdown is complete.
    package func end() { state.withLock { $0.isOver = true } }

    private func look() -> Heartbeat.Finding? {
        // It takes the server's own lock: not under this one.
        let hasResponded = state.withLock(\.server)?.takeBeat() ?? true
        return state.withLock { state in
            state.isOver ? nil : state.heartbeat.look(hasResponded: hasResponded, isEnding: state.isEnding)
        }
    }
}
