import Glibc
import Pawl
import PawlCore
import Synchronization

/// Records the total speed once a second while downloads run, so that a page that is opened later shows it.
final class SpeedSampler: Sendable {
    private struct State {
        var history = SpeedHistory()
        var task: Task<Void, Never>?
        var hasEnded = false
    }

    private let manager: DownloadManager
    private let state = Mutex(State())

    init(_ manager: DownloadManager) { self.manager = manager }

    /// Downloads may run: starts sampling unless it is under way.
    func wake() {
        state.withLock { state in
            guard state.task == nil, !state.hasEnded else { return }
            state.task = Task { [weak self] in
                while let self, await self.sample() {
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                }
            }
        }
    }

    /// Whether downloads run.
    private func sample() async -> Bool {
        let running = (try? await manager.running()) ?? []
        let speed = running.reduce(0) { $0 + $1.speed }
        return state.withLock { state in
            state.history.add(speed, at: Int64(time(nil)))
            if running.isEmpty { state.task = nil }
            return !running.isEmpty
        }
    }

    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.task?.cancel()
        }
    }

    /// The last five minutes by the second, and the last hour by ten seconds.
    func json() -> JSON {
        let history = state.withLock { $0.history }
        let now = Int64(time(nil))
        func list(_ step: Int, _ count: Int) -> JSON {
            .array(history.means(of: step, count: count, until: now).map { .number($0) })
        }
        return ["seconds": list(1, 300), "tens": list(10, 360)]
    }
}
