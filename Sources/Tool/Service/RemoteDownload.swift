package import PawlBase
package import PawlTerminal

/// A download as reported by the service.
package struct RemoteDownload: Sendable, Hashable {
    package var id: String
    /// Redacted.
    var source: String
    var state: String
    /// The state in words.
    package var stateText: StateText
    var name: String?
    var folder: String
    var written: Int64
    var total: Int64?
    var speed: Int64
    var timeLeft: Double?
    var connections: Int
    var group: String?
    var priority: Int
    var error: Refusal?
    /// The numbers of files of a collection, in words.
    var files: String?
    /// The numbers of segments of a stream, in words.
    var segments: String?
    /// Of what has no size, how much of a hundred is there.
    var share: Double?
    /// A finished download has not its file any more; why.
    var fileProblem: String?

    /// Why it failed.
    struct Refusal: Sendable, Hashable {
        var code: UInt8
        var message: String
        /// The cause and the remedy, without the URL.
        var reason: String
        /// The cause alone.
        var cause: String
    }

    /// Returns `nil` for JSON that is not a download.
    package init?(_ json: JSON) {
        guard let id = json["id"]?.string, let state = json["state"]?.string else { return nil }
        self.id = id
        self.state = state
        stateText = StateText(json)
        source = json["url"]?.string ?? ""
        name = json["name"]?.string
        folder = json["folder"]?.string ?? ""
        written = json["written"]?.integer ?? 0
        total = json["total"]?.integer
        speed = json["speed"]?.integer ?? 0
        timeLeft = json["timeLeft"]?.decimal
        connections = Int(clamping: json["connections"]?.integer ?? 0)
        group = json["group"]?.string
        fileProblem =
            switch json["file"]?.string {
            case "missing": "the file was moved or deleted"
            case "changed": "not the downloaded file any more"
            case _: nil
            }
        priority = Int(clamping: json["priority"]?.integer ?? 0)
        if let files = json["files"] {
            func number(_ name: String) -> Int64 { files[name]?.integer ?? 0 }
            let more = files["isListed"]?.bool == true || hasEnded ? "" : " or more"
            let failed = number("failed") > 0 ? ", \(number("failed")) failed" : ""
            self.files = "\(number("done")) of \(number("listed"))\(more) files\(failed)"
        }
        if let segments = json["segments"], let total = segments["total"]?.integer, !hasEnded {
            self.segments = "\(segments["done"]?.integer ?? 0) of \(total) segments"
            share = self.total == nil ? json["percent"]?.decimal : nil
        }
        if let error = json["error"], let message = error["message"]?.string {
            let code = UInt8(exactly: error["code"]?.integer ?? 1) ?? 1
            let failure = Failure(event: error).inQueue
            let parts = [failure.why, failure.remedy.text].filter { !$0.isEmpty }
            let reason = parts.isEmpty ? message : parts.joined(separator: "; ")
            let sentence = failure.what.isEmpty ? message : failure.commandLineSentence
            self.error = Refusal(
                code: code, message: sentence, reason: reason, cause: failure.why.isEmpty ? reason : failure.why)
        }
    }

    /// The file name, or the last part of the URL until it is known; safe to print on a terminal.
    package var title: String {
        TerminalText.harmless(
            (name ?? ProgressRow.lastComponent(of: source)) + ((files ?? segments).map { " (\($0))" } ?? ""))
    }

    var hasEnded: Bool { ["finished", "failed", "removed"].contains(state) }

    /// Whether it holds a slot.
    var isRunning: Bool { !hasEnded && !["waiting", "waitingForDisk", "preempted", "paused"].contains(state) }
}

extension ProgressRow {
    init(_ download: RemoteDownload, digits: Int) {
        self.init(
            name: "\(download.id.prefix(digits)) \(download.title)", written: download.written, total: download.total,
            speed: download.speed, timeLeft: download.timeLeft, connections: download.connections)
        share = download.share
        take(download.stateText)
        isAtRest = !download.isRunning
        guard isAtRest, notes.isEmpty else { return }
        // A bar that does not move says less.
        notes = [download.stateText.word]
        if let error = download.error {
            notes = [error.reason, error.cause].map { "failed: \(TerminalText.harmless($0))" } + notes
        }
    }
}

/// The number of ID digits to show: enough to distinguish the downloads shown together.
package enum ShortIDs {
    static let fewest = 6

    /// An id in a line about one download.
    static func text(_ id: String) -> String { String(id.prefix(fewest)) }

    package static func digits(_ ids: some Collection<String>) -> Int {
        var digits = fewest
        while digits < 16, Set(ids.map { $0.prefix(digits) }).count < ids.count { digits += 1 }
        return digits
    }
}
