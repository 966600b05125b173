package import Pawl
package import PawlBase

/// How many connections a host allowed, and when, in words.
package struct HostLimitText: Hashable, Sendable {
    private let limit: DownloadSnapshot.HostLimit

    package init(_ limit: DownloadSnapshot.HostLimit) { self.limit = limit }

    /// As the service sends it; `nil` for `null`.
    package init?(_ json: JSON?) {
        guard let host = json?["host"]?.string, let connections = json?["connections"]?.integer,
            let since = json?["since"]?.integer
        else { return nil }
        limit = DownloadSnapshot.HostLimit(
            host: TerminalText.harmless(host), connections: Int(clamping: connections), since: since,
            reason: TerminalText.harmless(json?["reason"]?.string ?? ""))
    }

    /// `files.example allowed 2 connections at 06:59`.
    var sentence: String {
        let count = limit.connections == 1 ? "1 connection" : "\(limit.connections) connections"
        return "\(limit.host) allowed \(count) at \(TimeText.near(limit.since))"
    }

    /// The same with the reason, and what ends it.
    package var details: String { "\(sentence) (\(reason)); 'pawl hosts --forget \(limit.host)' forgets it" }

    /// When and how it was seen, without the host's name.
    package var line: String { "\(limit.connections) at \(TimeText.near(limit.since)) (\(reason))" }

    /// How a further connection was refused.
    var reason: String {
        switch limit.reason {
        case "refused": "a further one was refused"
        case "reset": "a further one was reset"
        case "reply": "a further one was refused by the server"
        case let status: "a further one got status \(status)"
        }
    }
}
