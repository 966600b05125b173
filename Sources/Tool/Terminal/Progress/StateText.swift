package import Pawl
package import PawlBase
import PawlSystem

/// The state of a download in words, the same in every output of the command line.
package struct StateText: Sendable, Hashable {
    /// One word or two: `downloading`, `queued`, `retrying`.
    package var word: String
    /// The whole text where the word is not all, in several lengths, the longest first:
    /// `retrying in 57 s (503, 2 of 8)`.
    package var notes: [String] = []

    package static let downloading = "downloading"
    package static let waitingForHost = "waiting for host"
    package static let waitingForNetwork = "waiting for network"
    package static let retrying = "retrying"
    package static let scheduled = "scheduled"
    private static let waitingForDisk = "waiting for disk"

    /// Whether it holds a slot but is idle: it waits for its next attempt, its host or the network.
    package var isWaiting: Bool {
        [StateText.waitingForHost, StateText.waitingForNetwork, StateText.retrying].contains(word)
    }

    /// How it is shown where there are colours.
    package var style: StyledLine.Style {
        switch word {
        case "downloading", "connecting", "verifying", "finishing": .done
        case "failed": .failed
        case "paused", "removed", StateText.scheduled: .faint
        case _: isWaiting || word == StateText.waitingForDisk ? .waiting : .plain
        }
    }

    package init(_ snapshot: DownloadSnapshot) {
        self.init(snapshot.state.rawValue)
        if let host = snapshot.waitsForHost {
            wait(for: host, seconds: snapshot.retryIn?.seconds, limit: snapshot.hostLimit.map(HostLimitText.init))
        } else if let wait = snapshot.retryIn {
            takeRetry(in: wait.seconds, snapshot.retry)
        }
    }

    /// The state of a download of the service.
    package init(_ json: JSON) {
        self.init(json["state"]?.string ?? "")
        if word == "paused", let start = json["startAt"]?.integer {
            word = StateText.scheduled
            notes = ["starts at \(TimeText.near(start))", word]
        }
        let wait = json["retryIn"]?.decimal
        if let host = json["waitsForHost"]?.string {
            let limit = HostLimitText(json["hostLimit"])
            self.wait(for: TerminalText.harmless(host), seconds: wait, limit: limit)
        }
        guard let wait, json["waitsForHost"]?.string == nil else { return }
        let attempt = json["retryAttempt"]?.integer
        takeRetry(
            in: wait,
            attempt.map { attempt in
                DownloadSnapshot.Retry(
                    attempt: Int(clamping: attempt), limit: Int(clamping: json["retryLimit"]?.integer ?? 0),
                    reason: TerminalText.harmless(json["retryReason"]?.string ?? ""))
            })
    }

    private init(_ state: String) {
        switch state {
        case "waiting", "preempted": word = "queued"
        case "probing": word = "connecting"
        case "transferring": word = StateText.downloading
        case "publishing": word = "finishing"
        case "waitingForNetwork":
            word = StateText.waitingForNetwork
            notes = [word, "no network"]
        case "waitingForDisk":
            word = StateText.waitingForDisk
            notes = [word, "waiting"]
        default: word = TerminalText.harmless(state)
        }
    }

    private mutating func wait(for host: String, seconds: Double?, limit: HostLimitText?) {
        word = StateText.waitingForHost
        notes = ["waiting for \(host)", word]
        if seconds == nil, let limit { notes = ["waiting: \(limit.sentence)", limit.sentence] + notes }
        let wait = seconds.map(StateText.wait) ?? ""
        if !wait.isEmpty { notes.insert("waiting for \(host), which requested a wait: \(wait) left", at: 0) }
    }

    private mutating func takeRetry(in seconds: Double, _ retry: DownloadSnapshot.Retry?) {
        word = StateText.retrying
        let wait = StateText.wait(seconds)
        let when = wait.isEmpty ? "now" : "in \(wait)"
        notes = ["retrying \(when)", wait.isEmpty ? "retrying" : "retry \(wait)"]
        guard let retry else { return }
        guard retry.attempt > 0 else {
            notes = ["waiting (\(retry.reason))", "waiting"]
            return
        }
        let count = StateText.count(retry.attempt, of: retry.limit)
        notes = ["retrying \(when) (\(retry.reason), \(count))", "retrying \(when) (\(retry.reason))"] + notes
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
