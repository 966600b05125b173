import PawlBase
import Synchronization

/// The latest progress sample of one download, for callers and watchers.
package final class ProgressCell: Sendable {
    private struct State: Sendable {
        var reading = ProgressSample()
        var watchers: [@Sendable (ProgressSample) -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var reading: ProgressSample { state.withLock { $0.reading } }
    var phase: DownloadState { state.withLock { $0.reading.phase } }

    /// Calls `watcher` with every new sample, on the thread that made it.
    package func watch(_ watcher: @escaping @Sendable (ProgressSample) -> Void) {
        state.withLock { $0.watchers.append(watcher) }
    }

    package func set(_ reading: ProgressSample) { change { $0 = reading } }
    func set(phase: DownloadState) { change { $0.phase = phase } }

    private func change(_ edit: (inout ProgressSample) -> Void) {
        let heard = state.withLock { state -> (ProgressSample, [@Sendable (ProgressSample) -> Void])? in
            edit(&state.reading)
            return state.watchers.isEmpty ? nil : (state.reading, state.watchers)
        }
        guard let (reading, watchers) = heard else { return }
        for watcher in watchers { watcher(reading) }
    }
}
