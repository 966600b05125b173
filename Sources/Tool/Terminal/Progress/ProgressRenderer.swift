/// Lays out progress in lines, as a pure function of the rows, the terminal's size and a counter.
package struct ProgressRenderer: Sendable {
    /// Characters of the progress bar.
    package struct Glyphs: Sendable, Hashable {
        package var done: Character
        package var edge: Character
        package var rest: Character
        package var ellipsis: String

        package static let unicode = Glyphs(done: "━", edge: "╸", rest: "─", ellipsis: "…")
        package static let plain = Glyphs(done: "#", edge: "#", rest: "-", ellipsis: "..")
    }

    package var glyphs: Glyphs
    /// Columns of the terminal.
    package var width: Int
    /// Rows of the terminal.
    package var height: Int
    /// Columns at the beginning of each name that are not part of it, such as an ID.
    package var prefix = 0

    package init(glyphs: Glyphs, width: Int, height: Int) {
        self.glyphs = glyphs
        self.width = max(width, 1)
        self.height = max(height, 1)
    }

    /// The lines of the display, at most one fewer than the terminal's rows.
    ///
    /// `tick` counts redraws, and animates the bars of files of unknown size.
    package func lines(_ rows: [ProgressRow], totals: ProgressTotals?, tick: Int) -> [StyledLine] {
        let capacity = max(1, height - 1 - (totals == nil ? 0 : 1))
        let shown = rows.count > capacity ? Array(rows.prefix(max(0, capacity - 1))) : rows
        let layout = layout(shown.map(\.name) + (totals.map { [$0.labels[0]] } ?? []))
        var lines = self.lines(shown, layout, tick: tick)
        if shown.count < rows.count {
            var more = StyledLine()
            let text = "and \(rows.count - shown.count) more"
            more.append(TerminalText.shortened(text, to: max(1, width - 1), ellipsis: glyphs.ellipsis), .faint)
            lines.append(more)
        }
        if let totals {
            let labels = totals.labels
            let label = labels.first { TerminalText.width($0) <= layout.name } ?? labels.last ?? ""
            let name = TerminalText.shortened(label, to: layout.name, ellipsis: glyphs.ellipsis)
            lines.append(line(totals.row, named: name, failed: totals.failedLabel, layout, tick))
        }
        return lines
    }

    /// The columns for rows of these names.
    package func layout(_ names: [String]) -> ColumnLayout { ColumnLayout(width: width, names: names, prefix: prefix) }

    /// A line for each row, in the same columns.
    package func lines(_ rows: [ProgressRow], _ layout: ColumnLayout, tick: Int) -> [StyledLine] {
        let names = TerminalText.distinct(
            rows.map(\.name), to: layout.name, ellipsis: glyphs.ellipsis, prefix: prefix)
        return zip(rows, names).map { line($0, named: $1, layout, tick) }
    }

    /// The titles of the columns.
    package func head(_ layout: ColumnLayout) -> StyledLine {
        var line = StyledLine()
        line.append(TerminalText.padded(String("NAME".prefix(layout.name)), to: layout.name), .faint)
        if let bar = layout.bar { line.append(String(repeating: " ", count: 1 + bar)) }
        for column in layout.columns {
            line.append(" " + TerminalText.rightAligned(column.title, to: column.width), .faint)
        }
        line.trim()
        return line
    }

    /// `failed`: the part of the name that says how many have failed.
    private func line(
        _ row: ProgressRow, named name: String, failed: String? = nil, _ layout: ColumnLayout, _ tick: Int
    ) -> StyledLine {
        var line = StyledLine()
        line.append(TerminalText.padded(name, to: layout.name), marking: failed)
        if !row.notes.isEmpty {
            line.append(note(of: row, layout), row.style)
            line.trim()
            return line
        }
        if let bar = layout.bar {
            line.append(" ")
            append(row, to: &line, columns: bar, tick: tick)
        }
        for column in layout.columns {
            let isStatus = column == .speed && row.status != nil
            let text = TerminalText.rightAligned(text(of: row, in: column), to: column.width)
            line.append(" " + text, isStatus ? row.style : .plain)
        }
        line.trim()
        return line
    }

    private static let shortestReason = 16

    /// What takes the place of the columns: the percentage, and the longest note that fits.
    private func note(of row: ProgressRow, _ layout: ColumnLayout) -> String {
        let room = max(0, width - 1 - layout.name - 1)
        let percent = row.percent.map { NumberFormat.fixed($0, decimals: 1) + "%" }
        let candidates = row.notes.flatMap { note in percent.map { ["\($0), \(note)", note] } ?? [note] }
        var fitting = candidates.first { TerminalText.width($0) <= room }
        // The beginning of a reason says more than that there is one.
        if fitting == row.notes.last, row.style == .failed, room >= Self.shortestReason, let whole = row.notes.first {
            fitting = TerminalText.cut(whole, to: room, ellipsis: glyphs.ellipsis)
        }
        let text = fitting ?? TerminalText.shortened(row.notes.last ?? "", to: room, ellipsis: glyphs.ellipsis)
        return text.isEmpty ? "" : " " + text
    }

    private func text(of row: ProgressRow, in column: ColumnLayout.Column) -> String {
        switch column {
        case .percent: row.percent.map { NumberFormat.fixed($0, decimals: 1) + "%" } ?? ""
        case .size: row.total.map { NumberFormat.size(min(row.written, $0), of: $0) } ?? NumberFormat.size(row.written)
        case .speed: row.status ?? NumberFormat.speed(row.speed)
        case .timeLeft: row.status == nil ? row.timeLeft.map { timeLeft($0, of: row) } ?? "" : ""
        case .connections: row.connections > 0 ? "x\(row.connections)" : ""
        }
    }

    /// `1:07`, or `~1:07` if it is estimated; of many hours then only these.
    private func timeLeft(_ seconds: Double, of row: ProgressRow) -> String {
        let text = NumberFormat.duration(seconds)
        guard row.isTimeEstimated else { return text }
        if text.count < ColumnLayout.Column.timeLeft.width { return "~\(text)" }
        return "~\(Int(seconds / 3600))h"
    }

    private func append(_ row: ProgressRow, to line: inout StyledLine, columns: Int, tick: Int) {
        guard let percent = row.percent else {
            return appendActivity(to: &line, columns: columns, tick: row.isAtRest ? nil : tick)
        }
        let halves = Int(percent * Double(columns * 2) / 100)
        let (full, half) = (halves / 2, halves % 2)
        line.append(String(repeating: glyphs.done, count: full) + String(repeating: glyphs.edge, count: half), .done)
        line.append(String(repeating: glyphs.rest, count: columns - full - half), .faint)
    }

    /// A short segment that moves from end to end and back; none without a tick.
    private func appendActivity(to line: inout StyledLine, columns: Int, tick: Int?) {
        guard let tick else { return line.append(String(repeating: glyphs.rest, count: columns), .faint) }
        let piece = min(3, columns)
        let way = columns - piece
        let step = way == 0 ? 0 : tick % (way * 2)
        let before = step > way ? way * 2 - step : step
        line.append(String(repeating: glyphs.rest, count: before), .faint)
        line.append(String(repeating: glyphs.done, count: piece), .done)
        line.append(String(repeating: glyphs.rest, count: way - before), .faint)
    }
}

extension ProgressRow {
    /// `written × 100 / total`, never above 100; `nil` while the total is unknown.
    package var percent: Double? {
        guard let total else { return share }
        return total == 0 ? 100 : Double(min(written, total)) * 100 / Double(total)
    }
}

extension ProgressTotals {
    /// The longest first: what has failed is more important than how many run.
    fileprivate var labels: [String] {
        let parts = ["\(finished)/\(files) files", failedLabel, running.map { "\($0) at once" }].compactMap { $0 }
        return parts.indices.reversed().map { parts[...$0].joined(separator: ", ") }
    }

    fileprivate var failedLabel: String? { failed > 0 ? "\(failed) failed" : nil }

    /// The total as a row like the others.
    fileprivate var row: ProgressRow {
        var row = ProgressRow(
            name: labels[0], written: written, total: total, speed: speed, timeLeft: timeLeft, connections: 0)
        row.isTimeEstimated = isTimeEstimated
        return row
    }
}
