import Glibc
import Pawl
import PawlBase
import Synchronization

/// Records speeds once a second while downloads run, so that a page that is opened later shows them: an hour of the total,
/// and five minutes of each download that runs, 2.4 KB each.
final class SpeedSampler: Sendable {
    private struct State {
        var history = SpeedHistory()
        /// Of the downloads that run, as long as they do.
        var each: [Download.ID: SpeedHistory] = [:]
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
            let now = Int64(time(nil))
            state.history.add(speed, at: now)
            var each: [Download.ID: SpeedHistory] = [:]
            for snapshot in running.prefix(SpeedSampler.mostDownloads) {
                each[snapshot.id] =
                    state.each.removeValue(forKey: snapshot.id) ?? SpeedHistory(span: SpeedSampler.minutes)
                each[snapshot.id]?.add(snapshot.speed, at: now)
            }
            state.each = each
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

    private static let minutes = 300
    /// The memory does not grow with the number of downloads that may run at once.
    private static let mostDownloads = 100

    /// The last five minutes of a download that runs, by the second; empty if it does not.
    func json(of id: Download.ID) -> JSON {
        let history = state.withLock { $0.each[id] }
        let now = Int64(time(nil))
        return .array((history?.means(of: 1, count: SpeedSampler.minutes, until: now) ?? []).map { .number($0) })
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
