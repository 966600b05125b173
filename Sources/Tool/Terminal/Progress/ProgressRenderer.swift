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

    /// The width to which the terminal may shrink: lines that would wrap to more rows than there are, are shorter.
    private let narrowest: Int?

    /// With `narrowest`, the lines never wrap to more than `height` rows of so many columns.
    package init(glyphs: Glyphs, width: Int, height: Int, narrowest: Int? = nil) {
        self.glyphs = glyphs
        self.width = max(width, 1)
        self.height = max(height, 1)
        self.narrowest = narrowest.map { max($0, 1) }
    }

    /// The columns in which so many lines can be laid out.
    private func columns(for lines: Int) -> Int {
        guard let narrowest, narrowest < width else { return width }
        let wrapped = (width - 2 + narrowest) / narrowest
        return lines * wrapped <= height ? width : narrowest
    }

    /// The lines of the display, at most one fewer than the terminal's rows.
    ///
    /// `tick` counts redraws, and animates the bars of files of unknown size.
    package func lines(_ rows: [ProgressRow], totals: ProgressTotals?, tick: Int) -> [StyledLine] {
        let own = totals == nil ? 0 : 1
        let capacity = max(1, height - 1 - own)
        let columns = columns(for: min(rows.count, capacity) + own)
        let shown = rows.count > capacity ? Array(rows.prefix(max(0, capacity - 1))) : rows
        let layout = ColumnLayout(
            width: columns, names: shown.map(\.name) + (totals.map { [$0.label] } ?? []), prefix: prefix)
        let names = distinctNames(shown.map(\.name), columns: layout.name)
        var lines = zip(shown, names).map { line($0, named: $1, layout, columns, tick) }
        if shown.count < rows.count {
            var more = StyledLine()
            let text = "and \(rows.count - shown.count) more"
            more.append(TerminalText.shortened(text, to: max(1, columns - 1), ellipsis: glyphs.ellipsis), .faint)
            lines.append(more)
        }
        if let row = totals?.row {
            let name = TerminalText.shortened(row.name, to: layout.name, ellipsis: glyphs.ellipsis)
            lines.append(line(row, named: name, layout, columns, tick))
        }
        return lines
    }

    /// The names in at most so many columns; of those that would look the same, the common beginning is left out.
    private func distinctNames(_ names: [String], columns: Int) -> [String] {
        func shortened(_ name: String) -> String {
            TerminalText.shortened(name, to: columns, ellipsis: glyphs.ellipsis)
        }
        var texts = names.map(shortened)
        for alike in Dictionary(grouping: names.indices, by: { texts[$0].dropFirst(prefix) }).values
        where alike.count > 1 {
            let bodies = alike.map { names[$0].dropFirst(prefix) }
            guard Set(bodies).count > 1 else { continue }
            let common = bodies.dropFirst().reduce(bodies[0].count) { most, body in
                min(most, zip(bodies[0], body).prefix { $0 == $1 }.count)
            }
            // A little of what they share shows where the difference is.
            let left = common - ProgressRenderer.sharedCharacters
            guard left > glyphs.ellipsis.count else { continue }
            for (index, body) in zip(alike, bodies) {
                texts[index] = shortened(names[index].prefix(prefix) + glyphs.ellipsis + body.dropFirst(left))
            }
        }
        return texts
    }

    private static let sharedCharacters = 3

    private func line(
        _ row: ProgressRow, named name: String, _ layout: ColumnLayout, _ columns: Int, _ tick: Int
    ) -> StyledLine {
        var line = StyledLine()
        line.append(TerminalText.padded(name, to: layout.name))
        if !row.notes.isEmpty {
            line.append(note(of: row, layout, columns))
            line.trim()
            return line
        }
        if let bar = layout.bar {
            line.append(" ")
            append(row, to: &line, columns: bar, tick: tick)
        }
        for column in layout.columns {
            line.append(" " + TerminalText.rightAligned(text(of: row, in: column), to: column.width))
        }
        line.trim()
        return line
    }

    /// What takes the place of the columns: the percentage, and the longest note that fits.
    private func note(of row: ProgressRow, _ layout: ColumnLayout, _ columns: Int) -> String {
        let room = max(0, columns - 1 - layout.name - 1)
        let percent = row.percent.map { NumberFormat.fixed($0, decimals: 1) + "%" }
        let candidates = row.notes.flatMap { note in percent.map { ["\($0), \(note)", note] } ?? [note] }
        let fitting = candidates.first { TerminalText.width($0) <= room }
        let text = fitting ?? TerminalText.shortened(row.notes.last ?? "", to: room, ellipsis: glyphs.ellipsis)
        return text.isEmpty ? "" : " " + text
    }

    private func text(of row: ProgressRow, in column: ColumnLayout.Column) -> String {
        switch column {
        case .percent: row.percent.map { NumberFormat.fixed($0, decimals: 1) + "%" } ?? ""
        case .size: row.total.map { NumberFormat.size(min(row.written, $0), of: $0) } ?? NumberFormat.size(row.written)
        case .speed: row.status ?? NumberFormat.speed(row.speed)
        case .timeLeft: row.status == nil ? row.timeLeft.map(NumberFormat.duration) ?? "" : ""
        case .connections: row.connections > 0 ? "x\(row.connections)" : ""
        }
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
        guard let total else { return nil }
        return total == 0 ? 100 : Double(min(written, total)) * 100 / Double(total)
    }
}

extension ProgressTotals {
    fileprivate var label: String {
        let parts = [
            "\(finished)/\(files) files", failed > 0 ? "\(failed) failed" : nil, running.map { "\($0) at once" },
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    /// The total as a row like the others.
    fileprivate var row: ProgressRow {
        ProgressRow(name: label, written: written, total: total, speed: speed, timeLeft: timeLeft, connections: 0)
    }
}
