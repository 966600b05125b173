package import Pawl
package import PawlCore

/// The state of a download in words, the same in every output of the command line.
package struct StateText: Sendable, Hashable {
    /// One word or two: `downloading`, `queued`, `retrying`.
    package var word: String
    /// The whole text where the word is not all, in several lengths, the longest first:
    /// `retrying in 57 s (503, 2 of 8)`.
    package var notes: [String] = []

    package static let downloading = "downloading"

    package init(_ snapshot: DownloadSnapshot) {
        self.init(snapshot.state.rawValue)
        if let wait = snapshot.retryIn { takeRetry(in: wait, snapshot.retry) }
    }

    /// The state of a download of the service.
    package init(_ json: JSON) {
        self.init(json["state"]?.string ?? "")
        guard let wait = json["retryIn"]?.decimal else { return }
        let attempt = json["retryAttempt"]?.integer
        takeRetry(
            in: wait,
            attempt.map { attempt in
                DownloadSnapshot.Retry(
                    attempt: Int(clamping: attempt),
                    limit: Int(clamping: json["retryLimit"]?.integer ?? 0),
                    reason: TerminalText.harmless(json["retryReason"]?.string ?? "")
                )
            }
        )
    }

    private init(_ state: String) {
        switch state {
        case "waiting", "preempted": word = "queued"
        case "probing": word = "connecting"
        case "transferring": word = StateText.downloading
        case "publishing": word = "saving"
        case "waitingForNetwork":
            word = "waiting for network"
            notes = ["waiting for network", "no network"]
        default: word = TerminalText.harmless(state)
        }
    }

    private mutating func takeRetry(in seconds: Double, _ retry: DownloadSnapshot.Retry?) {
        word = "retrying"
        let wait = StateText.wait(seconds)
        let when = wait.isEmpty ? "now" : "in \(wait)"
        notes = ["retrying \(when)", wait.isEmpty ? "retrying" : "retry \(wait)"]
        guard let retry else { return }
        let count = StateText.count(retry.attempt, of: retry.limit)
        notes =
            ["retrying \(when) (\(retry.reason), \(count))", "retrying \(when) (\(retry.reason))"] + notes
    }

    /// `2 of 8`; the limit is left out where it is in practice none.
    package static func count(_ attempt: Int, of limit: Int) -> String {
        limit >= 1_000_000 ? "try \(attempt)" : "\(attempt) of \(limit)"
    }

    /// `57 s`, `1:07`; empty for less than half a second.
    package static func wait(_ seconds: Double) -> String {
        if seconds < 0.5 { return "" }
        return seconds <= 59 ? "\(Int(seconds.rounded(.up))) s" : NumberFormat.duration(seconds)
    }
}
