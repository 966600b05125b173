/// A part of the queue, as `--state` and `status` name them.
enum ListedState: String, Sendable, Hashable, CaseIterable {
    case running, queued, paused, finished, failed, removed

    /// Also by the words that lists show.
    init?(_ word: String) {
        switch word.lowercased() {
        case "waiting": self = .queued
        case "downloading", "active", "connecting", "retrying", "verifying": self = .running
        case "complete", "completed", "done": self = .finished
        case "error": self = .failed
        case let other: self.init(rawValue: other)
        }
    }

    /// The state that the service stores: running and queued downloads have the same.
    var stored: String {
        switch self {
        case .running, .queued: "waiting"
        case .paused, .finished, .failed, .removed: rawValue
        }
    }

    func includes(_ download: RemoteDownload) -> Bool {
        switch self {
        case .running: download.isRunning
        case .queued: ["waiting", "preempted"].contains(download.state)
        case .paused, .finished, .failed, .removed: download.state == rawValue
        }
    }
}
