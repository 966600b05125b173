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
        var run = SamplerRun()
        var task: Task<Void, Never>?
    }

    private let manager: DownloadManager
    private let state = Mutex(State())

    init(_ manager: DownloadManager) { self.manager = manager }

    /// Downloads may run: starts sampling unless it is under way.
    func wake() {
        state.withLock { state in
            guard state.run.wake() else { return }
            state.task = Task { [weak self] in
                while let self, await self.sample() {
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                }
            }
        }
    }

    /// Whether downloads run.
    private func sample() async -> Bool {
        state.withLock { $0.run.begin() }
        let running = (try? await manager.running()) ?? []
        let speed = running.reduce(0) { $0 + $1.speed }
        return state.withLock { state in
            let now = Int64(time(nil))
            state.history.add(speed, at: now)
            var each: [Download.ID: SpeedHistory] = [:]
            for snapshot in running.prefix(SpeedSampler.mostDownloads) {
                each[snapshot.id] =
                    state.each.removeValue(forKey: snapshot.id) ?? SpeedHistory(span: SpeedSampler.seconds)
                each[snapshot.id]?.add(snapshot.speed, at: now)
            }
            state.each = each
            return state.run.continues(running: !running.isEmpty)
        }
    }

    func end() {
        state.withLock { state in
            state.run.end()
            state.task?.cancel()
        }
    }

    /// How many values by the second, and by ten seconds, a chart has.
    private static let (seconds, tens) = (300, 360)
    /// The memory does not grow with the number of downloads that may run at once.
    private static let mostDownloads = 100

    /// The last five minutes of a download that runs, by the second; empty if it does not.
    func json(of id: Download.ID) -> JSON {
        let history = state.withLock { $0.each[id] }
        let now = Int64(time(nil))
        return .array((history?.means(of: 1, count: SpeedSampler.seconds, until: now) ?? []).map { .number($0) })
    }

    /// The last five minutes by the second, and the last hour by ten seconds.
    func json() -> JSON {
        let history = state.withLock { $0.history }
        let now = Int64(time(nil))
        func list(_ step: Int, _ count: Int) -> JSON {
            .array(history.means(of: step, count: count, until: now).map { .number($0) })
        }
        return ["seconds": list(1, SpeedSampler.seconds), "tens": list(10, SpeedSampler.tens)]
    }
}

/// Whether sampling goes on: not when no download runs, unless one may have started while that was asked.
enum SamplerRun: Hashable {
    case idle
    case sampling(isWoken: Bool)
    case ended

    init() { self = .idle }

    /// Downloads may run; whether sampling has to be started.
    mutating func wake() -> Bool {
        switch self {
        case .idle:
            self = .sampling(isWoken: false)
            return true
        case .sampling:
            self = .sampling(isWoken: true)
            return false
        case .ended: return false
        }
    }

    /// A sample begins: what started before is in it.
    mutating func begin() { if case .sampling = self { self = .sampling(isWoken: false) } }

    /// The sample showed whether downloads run; whether another follows.
    mutating func continues(running: Bool) -> Bool {
        guard case .sampling(let isWoken) = self else { return false }
        if running || isWoken { return true }
        self = .idle
        return false
    }

    mutating func end() { self = .ended }
}
