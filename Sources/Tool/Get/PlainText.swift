import Pawl
import PawlCollections
import PawlSystem
import PawlTerminal

/// Reports as lines of plain text.
package enum PlainText {
    /// The line for a report; a failure is its one sentence.
    ///
    /// `width`: the columns of a terminal, in which a finished download leaves out what does not fit.
    package static func line(_ report: Report, width: Int = .max) -> String {
        let name = report.name ?? ProgressRow.lastComponent(of: report.source)
        let text =
            switch report.kind {
            case .started(let total, let resumedAt): "\(name): \(started(total, resumedAt))"
            case .notice(let notice): "\(name): \(notice)"
            case .retry(let error, let delay):
                "\(name): \(error.failure.commandLineCause); retrying \(wait(delay))\(limit(error, delay))"
            case .waitingForNetwork: "\(name): no network connection; resumes when it is back"
            case .waitingForDisk: "\(name): waiting for the disk; continues by itself"
            case .verifying: "\(name): verifying"
            case .paused: "\(name): paused"
            case .finished(let file): finished(file, width)
            case .failed(let error): "pawl: \(error.failure.commandLineSentence)"
            case .unchanged(let path, _): "\(path): unchanged"
            case .listed(let tally): "\(report.source): \(listed(tally))"
            case .removed(let path): "\(path): removed, as \(report.source) no longer has it"
            }
        return TerminalText.harmless(text)
    }

    private static func listed(_ tally: ListingTally) -> String {
        var text = "\(tally.files) \(tally.files == 1 ? "file" : "files")"
        // Not every listing has sizes.
        if tally.bytes > 0 { text += ", \(NumberFormat.size(tally.bytes))" }
        if tally.unchanged > 0 {
            text += "; \(tally.unchanged) \(tally.unchanged == 1 ? "is" : "are") there already, unchanged"
            if tally.byTime > 0 { text += " (\(tally.byTime) by length and time)" }
        }
        if tally.refused > 0 { text += "; \(tally.refused) refused" }
        return text + (tally.isPartial ? "; the listing is not complete" : "")
    }

    private static func wait(_ seconds: Double) -> String { seconds < 1 ? "now" : "in \(StateText.wait(seconds))" }

    /// Why the wait is shorter than the one that the server requested.
    private static func limit(_ error: PawlError, _ delay: Double) -> String {
        guard let requested = error.retryAfter, requested.seconds > delay + 1 else { return "" }
        return ", the longest wait that \(CommandTerms.running.text(of: .maximumRetryAfter)) allows"
    }

    /// The last line of a run with several files.
    package static func summary(_ ledger: RunLedger, unfinished: Int, seconds: Double) -> String {
        var parts = ["\(ledger.finished) finished"]
        if ledger.failed > 0 { parts.append("\(ledger.failed) failed") }
        if unfinished > 0 { parts.append("\(unfinished) unfinished") }
        parts.append("\(NumberFormat.size(ledger.finishedBytes)) in \(time(seconds))")
        return parts.joined(separator: ", ")
    }

    private static func started(_ total: Int64?, _ resumedAt: Int64) -> String {
        guard let total else {
            return resumedAt > 0 ? "resuming at \(NumberFormat.size(resumedAt))" : "started, size unknown"
        }
        if resumedAt >= total, total > 0 { return "all \(NumberFormat.size(total)) are on disk already" }
        return resumedAt > 0
            ? "resuming at \(NumberFormat.size(resumedAt)) of \(NumberFormat.size(total))"
            : "started, \(NumberFormat.size(total))"
    }

    private static func finished(_ file: DownloadedFile, _ width: Int) -> String {
        let verified =
            file.verification.map { verified in
                let pieces = verified.pieces.map { " of \($0) \($0 == 1 ? "piece" : "pieces")" } ?? ""
                return ", verified (\(verified.algorithm)\(pieces), \(verified.level.rawValue))"
            } ?? ""
        if file.wasThere { return "\(file.path): already complete\(verified)" }
        // A speed over so short a time means nothing.
        let seconds = file.duration.seconds
        let speed = seconds >= 0.1 ? " (\(NumberFormat.speed(Int64(Double(file.received) / seconds))))" : ""
        let begin = "\(file.path): finished, \(NumberFormat.size(file.length))"
        let texts = [
            " in \(time(seconds))\(speed)\(verified)", " in \(time(seconds))\(verified)", verified,
        ]
        return begin + (texts.first { TerminalText.width(begin + $0) < width } ?? verified)
    }

    /// With tenths below one minute.
    private static func time(_ seconds: Double) -> String {
        seconds < 60 ? NumberFormat.fixed(max(0, seconds), decimals: 1) + "s" : NumberFormat.duration(seconds)
    }
}
