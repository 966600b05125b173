/// A terminal as tmux and VTE are: its lines wrap anew when the width changes, a lower screen first drops what is below
/// the cursor, and a higher one shows what left it at its top.
struct ModelTerminal {
    private struct Row {
        var text: [Character] = []
        /// The next row continues the line.
        var isWrapped = false
    }

    /// The history and the screen, from the top.
    private var rows: [Row]
    private(set) var width: Int
    private(set) var height: Int
    /// The cursor's row, counted from the first row of the history.
    private var row = 0
    private var column = 0
    private var wraps = true
    /// The control sequence that has begun.
    private var sequence: String?

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        rows = [Row](repeating: Row(), count: height)
    }

    private var top: Int { rows.count - height }

    /// The lines of the history and the screen that are not empty.
    var lines: [String] {
        var (lines, line) = ([String](), "")
        for row in rows {
            line += String(row.text)
            if row.isWrapped { continue }
            lines.append(line)
            line = ""
        }
        return (lines + [line]).filter { $0.contains { $0 != " " } }
    }

    mutating func write(_ text: some StringProtocol) { for scalar in text.unicodeScalars { write(scalar) } }

    private mutating func write(_ scalar: Unicode.Scalar) {
        if let begun = sequence {
            sequence = begun + String(scalar)
            guard scalar.properties.isAlphabetic else { return }
            obey(String(begun.dropFirst()), scalar)
            sequence = nil
            return
        }
        switch scalar {
        case "\u{1B}": sequence = ""
        case "\r": column = 0
        case "\n": feed()
        default: put(Character(scalar))
        }
    }

    private mutating func obey(_ parameters: String, _ final: Unicode.Scalar) {
        let count = Int(parameters) ?? 1
        switch final {
        case "A": row = max(top, row - count)
        case "B": row = min(rows.count - 1, row + count)
        case "C": column = min(width - 1, column + count)
        case "K": erase(row, from: parameters == "2" ? 0 : column)
        case "J":
            erase(row, from: column)
            for below in row + 1..<max(row + 1, rows.count) { erase(below, from: 0) }
        case "h" where parameters == "?7": wraps = true
        case "l" where parameters == "?7": wraps = false
        default: break
        }
    }

    private mutating func erase(_ index: Int, from column: Int) {
        rows[index].text = Array(rows[index].text.prefix(column))
        rows[index].isWrapped = false
        if column == 0, index > 0 { rows[index - 1].isWrapped = false }
    }

    private mutating func feed() {
        if row == rows.count - 1 { rows.append(Row()) }
        row += 1
    }

    private mutating func put(_ character: Character) {
        if column >= width {
            if wraps {
                rows[row].isWrapped = true
                feed()
                column = 0
            } else {
                column = width - 1
            }
        }
        while rows[row].text.count <= column { rows[row].text.append(" ") }
        rows[row].text[column] = character
        column += 1
    }

    mutating func resize(width: Int, height: Int) {
        if height < self.height {
            rows.removeLast(min(self.height - height, rows.count - 1 - row))
        } else {
            let missing = height - rows.count
            if missing > 0 { rows += [Row](repeating: Row(), count: missing) }
        }
        self.height = height
        if width != self.width { wrapAnew(width) }
        self.width = width
        if rows.count < height { rows += [Row](repeating: Row(), count: height - rows.count) }
        if row < top { (row, column) = (top, 0) }
    }

    private mutating func wrapAnew(_ width: Int) {
        var (wrapped, line): ([Row], [Character]) = ([], [])
        var place: (row: Int, column: Int)?
        var mark: Int?
        for (index, old) in rows.enumerated() {
            if index == row { mark = line.count + column }
            line += old.text
            if old.isWrapped, index < rows.count - 1 { continue }
            let count = max(1, (line.count + width - 1) / width)
            if let mark {
                let part = min(mark / width, count - 1)
                place = (wrapped.count + part, min(mark - part * width, width))
            }
            mark = nil
            for part in 0..<count {
                let text = Array(line.dropFirst(part * width).prefix(width))
                wrapped.append(Row(text: text, isWrapped: part < count - 1))
            }
            line = []
        }
        rows = wrapped
        if let place { (row, column) = place }
    }
}
