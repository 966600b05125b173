package import Pawl
import PawlBase

/// The display's values of one download at one instant.
package struct ProgressRow: Sendable, Hashable {
    package var name: String
    package var written: Int64
    /// `nil` while unknown.
    package var total: Int64?
    /// Of what has no size, how much of a hundred is there.
    package var share: Double?
    package var speed: Int64
    package var timeLeft: Double?
    /// Whether not all that is left is known.
    package var isTimeEstimated = false
    package var connections: Int
    /// Whether it is not running: a bar of unknown length is not animated.
    package var isAtRest = false
    /// Shown instead of the speed when no bytes are expected, at most 10 columns.
    package var status: String?
    /// Shown instead of all columns but the name: the same text in several lengths, the longest first.
    package var notes: [String] = []
    /// How notes and status are shown.
    package var style = StyledLine.Style.plain

    package init(
        name: String, written: Int64, total: Int64?, speed: Int64 = 0, timeLeft: Double? = nil, connections: Int = 1,
        status: String? = nil
    ) {
        self.name = name
        self.written = written
        self.total = total
        self.speed = speed
        self.timeLeft = timeLeft
        self.connections = connections
        self.status = status
    }

    package init(_ snapshot: DownloadSnapshot) {
        self.init(
            name: TerminalText.harmless(snapshot.name ?? ProgressRow.lastComponent(of: snapshot.source)),
            written: snapshot.written, total: snapshot.total, speed: snapshot.speed,
            timeLeft: snapshot.timeLeft?.seconds,
            connections: snapshot.connections)
        share = snapshot.total == nil ? snapshot.percent : nil
        take(StateText(snapshot))
    }

    /// Shows a state in place of the columns that say nothing in it.
    package mutating func take(_ state: StateText) {
        (notes, style) = (state.notes, state.style)
        status = notes.isEmpty && state.word != StateText.downloading ? state.word : nil
    }

    /// The name to show before the server has sent one: the last component of the URL's path, decoded.
    package static func lastComponent(of source: String) -> String {
        let path = source.prefix { $0 != "?" && $0 != "#" }
        let last = path.pathParts().last { !$0.hasSuffix(":") }
        return last.map { PercentCoding.readable(String($0)) } ?? source
    }
}

/// The values of the total line.
package struct ProgressTotals: Sendable, Hashable {
    package var files: Int
    package var finished: Int
    package var failed: Int
    package var written: Int64
    /// `nil` unless the size of every file is known.
    package var total: Int64?
    package var speed: Int64
    package var timeLeft: Double?
    /// Whether the time left takes files of unknown size for as large as the others.
    package var isTimeEstimated = false
    /// How many run, where the user has not given the number.
    package var running: Int?

    package init(files: Int, finished: Int, failed: Int, written: Int64, total: Int64?, speed: Int64, timeLeft: Double?)
    {
        self.files = files
        self.finished = finished
        self.failed = failed
        self.written = written
        self.total = total
        self.speed = speed
        self.timeLeft = timeLeft
    }
}
