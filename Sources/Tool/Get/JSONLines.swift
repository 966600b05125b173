package import Pawl
import PawlCollections
import PawlTerminal

/// Reports as JSON, one object per line.
///
/// Documentation/JSON.md specifies the fields.
package enum JSONLines {
    package static func line(_ report: Report) -> String {
        var object = object(report.word, report.id, report.source, report.name)
        switch report.kind {
        case .started(let total, let resumedAt):
            object.set("total", total)
            object.set("resumedAt", resumedAt)
        case .notice(let text): object.set("message", text)
        case .retry(let error, let delay):
            set(error, in: &object)
            object.set("delay", delay, decimals: 3)
        case .waitingForNetwork, .waitingForDisk, .verifying, .paused: break
        case .finished(let file):
            object.set("path", file.path)
            object.set("length", file.length)
            object.set("received", file.received)
            object.set("seconds", file.duration.seconds, decimals: 3)
            object.set("wasThere", file.wasThere)
            object.set("verification", json: file.verification?.json)
            if !file.others.isEmpty { object.set("others", json: .array(file.others.map { .string($0) })) }
            if !file.gaps.isEmpty { object.set("gaps", json: .array(file.gaps.map { .string($0) })) }
        case .failed(let error): set(error, in: &object)
        case .unchanged(let path, let length):
            object.set("path", path)
            object.set("length", length)
        case .removed(let path): object.set("path", path)
        case .listed(let tally):
            object.set("files", tally.files)
            object.set("folders", tally.folders)
            object.set("bytes", tally.bytes)
            object.set("unchanged", tally.unchanged)
            object.set("unchangedByTime", tally.byTime)
            object.set("refused", tally.refused)
            object.set("isComplete", !tally.isPartial)
        }
        return object.line
    }

    /// The progress of a download, printed once a second.
    package static func progress(_ snapshot: DownloadSnapshot) -> String {
        var object = object("progress", snapshot.id.rawValue, snapshot.source, snapshot.name)
        object.set("state", snapshot.retry == nil ? snapshot.state.rawValue : "retrying")
        object.set("written", snapshot.written)
        object.set("total", snapshot.total)
        object.set("percent", snapshot.percent, decimals: 2)
        object.set("received", snapshot.received)
        object.set("speed", snapshot.speed)
        object.set("smoothedSpeed", snapshot.smoothedSpeed)
        object.set("timeLeft", snapshot.timeLeft?.seconds, decimals: 1)
        object.set("connections", snapshot.connections)
        if let segments = snapshot.segments { object.set("segments", json: segments.json) }
        if let host = snapshot.waitsForHost { object.set("waitsForHost", host) }
        if let limit = snapshot.hostLimit { object.set("hostLimit", json: limit.json) }
        if let wait = snapshot.retryIn { object.set("retryIn", wait.seconds, decimals: 1) }
        if snapshot.retry != nil {
            object.set("retryAttempt", snapshot.retry.map { Int64($0.attempt) })
            object.set("retryLimit", snapshot.retry.map { Int64($0.limit) })
            object.set("retryReason", snapshot.retry?.reason)
        }
        return object.line
    }

    /// The last line.
    package static func summary(
        _ ledger: RunLedger, unfinished: Int, seconds: Double, jobs: Int, exitCode: UInt8
    ) -> String {
        var object = JSONObject()
        object.set("event", "summary")
        object.set("finished", ledger.finished)
        object.set("failed", ledger.failed)
        object.set("unfinished", unfinished)
        object.set("bytes", ledger.finishedBytes)
        object.set("received", ledger.receivedBytes)
        object.set("seconds", seconds, decimals: 3)
        object.set("jobs", jobs)
        object.set("exitCode", exitCode)
        return object.line
    }

    private static func object(_ event: String, _ id: UInt64?, _ source: String, _ name: String?) -> JSONObject {
        var object = JSONObject()
        object.set("event", event)
        object.set("id", id.map { Int64(clamping: $0) })
        object.set("url", source)
        object.set("name", name)
        return object
    }

    private static func set(_ error: PawlError, in object: inout JSONObject) {
        object.set("code", error.code.rawValue)
        let failure = error.failure
        object.set("message", failure.commandLineSentence)
        object.set("what", error.what)
        object.set("place", failure.commandLinePlace)
        object.set("why", error.why)
        object.set("remedy", failure.commandLineRemedy)
    }
}

extension Report {
    /// The value of the `event` field.
    fileprivate var word: String {
        switch kind {
        case .started: "started"
        case .notice: "notice"
        case .retry: "retry"
        case .waitingForNetwork: "waitingForNetwork"
        case .waitingForDisk: "waitingForDisk"
        case .verifying: "verifying"
        case .paused: "paused"
        case .finished: "finished"
        case .failed: "failed"
        case .unchanged: "unchanged"
        case .listed: "listed"
        case .removed: "removed"
        }
    }
}
