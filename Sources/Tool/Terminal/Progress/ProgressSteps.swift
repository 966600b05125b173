package import Pawl

/// Decides when progress is worth a line where nothing can be redrawn: at each tenth of the size, each minute, and when a
/// wait begins that a host requested.
package struct ProgressSteps: Sendable {
    private struct Step: Sendable {
        var tenth: Int
        /// Milliseconds of a monotonic clock.
        var at: Int64
    }

    private var last: [UInt64: Step] = [:]
    /// Those that wait as long as their host requested, which was reported.
    private var waiting: Set<UInt64> = []
    private static let longest: Int64 = 60_000
    /// Seconds of a wait that is worth a line of its own.
    private static let leastWait = 5.0

    package init() {}

    /// The line for a running download, or `nil` when nothing is due.
    ///
    /// `now` is in milliseconds of a monotonic clock.
    package mutating func line(of snapshot: DownloadSnapshot, at now: Int64) -> String? {
        let id = snapshot.id.rawValue
        let tenth = snapshot.percent.map { Int($0) / 10 } ?? 0
        if let line = wait(of: snapshot, atLeast: Self.leastWait) {
            last[id] = Step(tenth: max(tenth, last[id]?.tenth ?? 0), at: now)
            return line
        }
        guard let before = last[id] else {
            // The line that it started was just printed.
            last[id] = Step(tenth: tenth, at: now)
            return nil
        }
        let isFurther = tenth > before.tenth && tenth < 10
        guard isFurther || now - before.at >= ProgressSteps.longest else { return nil }
        last[id] = Step(tenth: max(tenth, before.tenth), at: now)
        return ProgressSteps.line(snapshot)
    }

    /// The line for a download whose host requested a wait, once for each wait of that many seconds or more.
    package mutating func wait(of snapshot: DownloadSnapshot, atLeast least: Double) -> String? {
        guard snapshot.waitsForHost != nil, let left = snapshot.retryIn else {
            waiting.remove(snapshot.id.rawValue)
            return nil
        }
        guard left.seconds >= least, waiting.insert(snapshot.id.rawValue).inserted else { return nil }
        return ProgressSteps.line(snapshot)
    }

    private static func line(_ snapshot: DownloadSnapshot) -> String {
        let name = snapshot.name ?? ProgressRow.lastComponent(of: snapshot.source)
        return TerminalText.harmless("\(name): \(ProgressSteps.text(of: snapshot))")
    }

    private static func text(of snapshot: DownloadSnapshot) -> String {
        let state = StateText(snapshot)
        var parts: [String] = []
        if let total = snapshot.total, let percent = snapshot.percent {
            parts.append(NumberFormat.fixed(percent, decimals: 0) + "%")
            parts.append(NumberFormat.size(min(snapshot.written, total), of: total))
        } else {
            parts.append(NumberFormat.size(snapshot.written))
        }
        guard state.word == StateText.downloading else {
            return (parts + [state.notes.first ?? state.word]).joined(separator: ", ")
        }
        parts.append(NumberFormat.speed(snapshot.smoothedSpeed))
        if let left = snapshot.timeLeft { parts.append("\(NumberFormat.duration(left.seconds)) left") }
        return parts.joined(separator: ", ")
    }
}
