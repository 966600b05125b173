import PawlTerminal

/// A filter as `--state` and `status` name it: the word that lists show, without details.
package enum StateFilter: String, Sendable, Hashable, CaseIterable {
    case running, queued, connecting, downloading, retrying, waiting, verifying, finishing, paused, scheduled, finished,
        failed, removed

    /// All names, for help texts.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Accepts synonyms from other tools too.
    init?(_ word: String) {
        switch word.lowercased() {
        case "active": self = .running
        case "complete", "completed", "done": self = .finished
        case "error": self = .failed
        case let other: self.init(rawValue: other)
        }
    }

    /// The state that the service stores: running and queued downloads have the same.
    var stored: String {
        switch self {
        case .running, .queued, .connecting, .downloading, .retrying, .waiting, .verifying, .finishing: "waiting"
        case .scheduled: "paused"
        case .paused, .finished, .failed, .removed: rawValue
        }
    }

    func includes(_ download: RemoteDownload) -> Bool {
        switch self {
        case .running: download.isRunning
        case .queued: ["waiting", "preempted"].contains(download.state)
        case .waiting:
            download.state == "waitingForDisk"
                || download.isRunning && download.stateText.isWaiting && download.stateText.word != StateText.retrying
        case .connecting, .downloading, .retrying, .verifying, .finishing:
            download.isRunning && download.stateText.word == rawValue
        case .scheduled: download.stateText.word == StateText.scheduled
        case .paused, .finished, .failed, .removed: download.state == rawValue
        }
    }
}
