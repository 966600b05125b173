/// Turns permanent and redrawn lines into terminal control sequences (ECMA-48).
package struct FramePainter: Sendable {
    /// The lines on the screen now, with the cursor at the beginning of the first.
    ///
    /// A terminal that becomes lower drops what is below the cursor, which is drawn again, before it pushes rows off its
    /// top, where they can never be erased.
    private var drawn: [String] = []
    /// Empty rows above them that belong to the display.
    private var gap = 0
    private var lastWidth = 0
    private var lastScreen = 0
    /// Lines above the screen since it became smaller than the display.
    private var above = RowsAbove()
    /// Empty rows below the display since then.
    private var below = 0
    private let terminal: Terminal

    /// What the painter has to know about a terminal.
    package struct Terminal: Sendable, Hashable {
        package var takesColor: Bool
        /// Whether lines wrap anew when the width changes.
        package var reflows: Bool

        package init(takesColor: Bool = true, reflows: Bool = true) {
            self.takesColor = takesColor
            self.reflows = reflows
        }
    }

    package init(_ terminal: Terminal = Terminal()) { self.terminal = terminal }

    package init(_ state: TerminalState) {
        self.init(Terminal(takesColor: state.takesColor, reflows: state.reflows))
    }

    /// Replaces the display: `permanent` lines scroll up, `frame` is drawn below them.
    ///
    /// `width` is the current number of columns: after the terminal shrank, old lines wrap over several rows. With
    /// `height`, the frame is kept at the bottom of the screen, and permanent lines fill it from the top: terminals push
    /// as many rows off the top as wrapping adds, and what has left the screen cannot be erased until the terminal grows
    /// again. `screen` is the current number of rows.
    package mutating func paint(
        permanent: [String],
        frame: [StyledLine],
        width: Int,
        height: Int? = nil,
        screen: Int? = nil
    ) -> String {
        let isFirst = drawn.isEmpty && gap == 0
        if let screen = screen ?? height {
            if lastScreen > screen { drop(rows: lastScreen - screen) }
            lastScreen = screen
        }
        var codes = toEnd(width: width)
        var room = gap + rows(width: width)
        if let screen = screen ?? height, terminal.reflows, !isFirst {
            if room > screen { lose(rows: room - screen, width: width) }
            room = min(room, screen)
            below = min(below, screen - room)
            codes += above.deletion(above: &room, width: width, screen: screen - below)
        }
        if let height, drawn.isEmpty, gap == 0, !frame.isEmpty {
            // What was on the screen moves off its top.
            codes += String(repeating: "\n", count: max(0, height - 1))
            room = max(1, height)
        }
        codes += room > 1 ? "\r\u{1B}[\(room - 1)A" : isFirst ? "" : "\r"
        let former = gap
        // Permanent lines may wrap: nothing of the old frame may show through behind them. Row by row, since some
        // terminals keep the whole screen in their history when it is erased at once.
        // A row that was wrapped stays joined with the next one until it is erased as a whole: after another resize
        // the two would be one.
        let isResized = width != lastWidth || former > 0 && height == nil
        lastWidth = width
        if !isFirst, !permanent.isEmpty || frame.isEmpty || isResized {
            codes += [String](repeating: "\u{1B}[2K", count: room).joined(separator: "\n")
            codes += room > 1 ? "\u{1B}[\(room - 1)A" : ""
        }
        for line in permanent {
            above.keep(line)
            codes += line + "\r\n"
            room -= TerminalText.rows(of: line, width: width)
        }
        gap = frame.isEmpty || height == nil ? 0 : max(0, min(room, height ?? 0) - frame.count)
        // A frame that became shorter leaves its upper rows.
        let left = permanent.isEmpty ? max(0, gap - former) : 0
        codes += String(repeating: "\r\n", count: gap - left)
        codes += String(repeating: "\u{1B}[2K\r\n", count: left)
        codes += frame.map { $0.escaped(inColor: terminal.takesColor) + "\u{1B}[K" }.joined(separator: "\r\n")
        // Erases the rest of a longer previous frame.
        if !frame.isEmpty { codes += "\u{1B}[J" }
        codes += frame.count > 1 ? "\r\u{1B}[\(frame.count - 1)A" : ""
        drawn = frame.map(\.text)
        below = max(0, below + room - gap - frame.count)
        return codes
    }

    /// Leaves the drawn frame in place and moves to a new line for other output.
    package mutating func leave() -> String {
        defer { (drawn, gap, above) = ([], 0, RowsAbove()) }
        return drawn.isEmpty ? "" : toEnd(width: lastWidth) + "\r\n"
    }

    /// Moves the cursor from the first row of the frame to its last.
    private func toEnd(width: Int) -> String {
        let rows = rows(width: width)
        return rows > 1 ? "\u{1B}[\(rows - 1)B" : ""
    }

    /// The screen became lower by that many rows.
    private mutating func drop(rows count: Int) {
        let empty = min(below, count)
        below -= empty
        drawn.removeLast(min(count - empty, max(0, drawn.count - 1)))
    }

    /// The first rows of the display have left the screen.
    private mutating func lose(rows count: Int, width: Int) {
        below = 0
        let blank = min(gap, count)
        gap -= blank
        above.lose([String](repeating: "", count: blank))
        above.lose(TerminalText.heads(of: drawn, rows: count - blank, width: width))
    }

    /// The rows that the frame takes now.
    private func rows(width: Int) -> Int {
        terminal.reflows
            ? drawn.reduce(0) { $0 + TerminalText.rows(of: $1, width: width) } : drawn.count
    }
}
